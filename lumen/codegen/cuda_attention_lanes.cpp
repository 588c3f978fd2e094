#include "lumen/codegen/cuda_attention_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/codegen/element.h"

namespace lumen {

CudaLanes::CudaLanes(const ContractRoles& roles, Role along, std::string line)
    : roles_(roles), along_(along), line_(std::move(line)), extent_(*roles.extent(along).constant()) {
  ElementWriter probe(*roles.graph, 0);
  const std::optional<StoredFactor> stored = stored_factor(roles, *roles.graph, roles.columns[0], &probe, by());
  const int64_t count = stored && is_unpacked(stored->dtype) ? elements_at_once(roles, *stored, along) : 0;
  if (count > 0 && extent_ <= 32 * count) {
    stored_ = stored;
    elements_ = count;
    lanes_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, extent_ / count))));
  } else {
    elements_ = std::max<int64_t>(1, (extent_ + 31) / 32);
  }
}

std::string CudaLanes::place(const std::string& at, const std::string& j) const {
  return is_wide() ? fmt::format("({} * {} + {})", at, elements_, j) : fmt::format("({} + {} * 32)", at, j);
}

std::vector<Role> CudaLanes::by() const { return {Role::batch, along_ == Role::summed ? Role::column : Role::summed}; }

std::string CudaLanes::read(const std::string& to, std::vector<std::string>& faults) const {
  ElementWriter gathers(*roles_.graph, 10, faults);
  const StoredFactor stored = *stored_factor(roles_, *roles_.graph, roles_.columns[0], &gathers, by());
  faults = gathers.faults();
  return fmt::format(
      "          const Index {i} = at * {E};\n{gathers}          if ({i} < {extent}) {to} = lumen_read_once(a{input} + "
      "{index});\n",
      fmt::arg("i", along_ == Role::summed ? "i3" : "i2"), fmt::arg("E", elements_),
      fmt::arg("gathers", gathers.text()), fmt::arg("extent", extent_), fmt::arg("to", to),
      fmt::arg("input", stored.input), fmt::arg("index", plain_number(stored.index)));
}

Expected<std::string> CudaLanes::elements_text(const std::string& read, int indent,
                                               std::vector<std::string>& faults) const {
  const std::string space(static_cast<size_t>(indent), ' ');
  if (is_wide()) {
    return fmt::format("{0}float y[{1}] = {{}};\n{0}if (at * {1} < {2}) lumen_unpack_{3}({4}, y);\n", space, elements_,
                       extent_, name(stored_->dtype), read);
  }
  ElementWriter writer(*roles_.graph, indent + 4, faults);
  const std::string value = writer.value(roles_.columns[0], roles_.at);
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  return fmt::format(
      "{0}float y[{1}] = {{}};\n"
      "{0}LUMEN_UNROLL for (int j = 0; j < {1}; ++j) {{\n{0}  const Index {2} = at + j * 32;\n"
      "{0}  if ({2} < {3}) {{\n{4}{0}    y[j] = {5};\n{0}  }}\n{0}}}\n",
      space, elements_, along_ == Role::summed ? "i3" : "i2", extent_, writer.text(), value);
}

}  // namespace lumen
