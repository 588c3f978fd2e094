#include "lumen/codegen/contract_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_pack.h"
#include "lumen/codegen/contract_store.h"
#include "lumen/codegen/contract_tile.h"
#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/element.h"

namespace lumen {

namespace {

constexpr int64_t kStrides[] = {1, 2, 3, 4};
constexpr int64_t kOwnBytes = 1 << 20;
constexpr int64_t kMostSummed = 8192;  // places of the image are on the stack for each

// Variables of the image: a dim of the domain, a place in a stride, and one on which nothing may depend.
int place_number(size_t dim) { return 8 + static_cast<int>(dim); }
int phase_number(size_t dim) { return 24 + static_cast<int>(dim); }
constexpr int kProbe = 40;
constexpr size_t kMostDims = 16;

Expr place_in(size_t dim, int64_t extent) { return Expr::index(place_number(dim), extent); }
Expr phase_in(size_t dim, int64_t extent) { return Expr::index(phase_number(dim), extent); }

class WindowFinder {
 public:
  explicit WindowFinder(const ContractRoles& roles) : roles_(roles) {}

  std::optional<Windows> find() const {
    if (roles_.columns.size() != 1 || roles_.at.size() > kMostDims || !is_float(roles_.dtype)) return std::nullopt;
    if (!(roles_.extent(Role::batch) == Expr(1))) return std::nullopt;
    const std::optional<int64_t> summed = roles_.extent(Role::summed).constant();
    if (!summed || *summed < 1 || *summed > kMostSummed || roles_.extent(Role::column).constant().value_or(0) < 1) {
      return std::nullopt;
    }
    Windows found;
    found.summed_dims = dims_of(Role::summed);
    std::vector<size_t> left = found.summed_dims;
    for (const size_t dim : dims_of(Role::column)) {
      WindowDim& made = found.dims.emplace_back();
      made.columns = extent(dim);
      made.column_dim = dim;
      for (auto window = left.begin(); window != left.end(); ++window) {
        const auto stride = std::ranges::find_if(kStrides, [&](int64_t s) { return slides(dim, *window, s); });
        if (stride == std::end(kStrides)) continue;
        made.window = extent(*window), made.stride = *stride, made.summed_dim = *window;
        left.erase(window);
        break;
      }
    }
    const auto has_window = [](const WindowDim& dim) { return dim.summed_dim.has_value(); };
    if (std::ranges::none_of(found.dims, has_window)) return std::nullopt;
    // Places in the image are 32 bits.
    double elements = static_cast<double>(*summed);
    for (const WindowDim& dim : found.dims) elements *= static_cast<double>(dim.reach() * dim.stride);
    return elements < INT32_MAX ? std::optional(found) : std::nullopt;
  }

 private:
  int64_t extent(size_t dim) const { return roles_.domain[static_cast<int64_t>(dim)].constant().value_or(0); }
  std::vector<size_t> dims_of(Role role) const {
    std::vector<size_t> dims;
    const Expr axis = Expr::index(static_cast<int>(role), roles_.extent(role));
    for (size_t d = 0; d < roles_.at.size(); ++d) {
      if (depends_on(roles_.at[d], axis)) dims.push_back(d);
    }
    return dims;
  }
  // Whether the element at column y and place w is one of y * stride + w alone.
  bool slides(size_t column, size_t window, int64_t stride) const {
    std::vector<Expr> at;
    for (size_t d = 0; d < roles_.at.size(); ++d) {
      at.push_back(is_of_row(d) ? Expr(0) : place_in(d, extent(d)));
    }
    const Expr steps = Expr::index(kProbe, (extent(window) + stride - 1) / stride);
    if (steps.is_constant()) return false;
    at[column] = place_in(column, extent(column) + (extent(window) + stride - 1) / stride - 1) - steps;
    at[window] = steps * stride + phase_in(window, stride);
    ElementWriter writer(*roles_.graph, 0);
    const std::string value = writer.value(roles_.columns[0], at);
    const std::string probe = fmt::format("i{}", kProbe);
    return writer.problem().empty() && (writer.text() + value).find(probe) == std::string::npos;
  }
  bool is_of_row(size_t d) const {
    return depends_on(roles_.at[d], Expr::index(static_cast<int>(Role::row), roles_.extent(Role::row)));
  }

  const ContractRoles& roles_;
};

class WindowPrinter {
 public:
  WindowPrinter(const Graph& body, const ContractRoles& roles, std::string name, const ContractSchedule& schedule,
                const Target& target, Windows windows)
      : body_(body),
        roles_(roles),
        name_(std::move(name)),
        s_(schedule),
        target_(target),
        windows_(std::move(windows)),
        types_(vector_types(roles.dtype)),
        summed_(*roles.extent(Role::summed).constant()) {
    for (const size_t dim : windows_.summed_dims) {
      if (find(dim) == nullptr) outer_.push_back({place_number(dim), extent(dim)});
    }
    for (const WindowDim& dim : windows_.dims) {
      if (dim.stride > 1) outer_.push_back({phase_number(*dim.summed_dim), dim.stride});
    }
    for (const WindowDim& dim : windows_.dims) {
      lines_ *= dim.reach();
      outer_.push_back({place_number(dim.column_dim), dim.reach()});
    }
    line_ = outer_.back().extent;
    outer_.pop_back();
    for (const Axis& axis : outer_) rows_ *= axis.extent;
    columns_ = 1;
    for (int64_t pitch = lines_; const WindowDim& dim : windows_.dims) {
      pitch /= dim.reach();
      columns_ += (dim.columns - 1) * pitch;
    }
    if (s_.direct == 1) plain_ = held_factor(roles, roles.rows, Role::row, false).plain;
  }

  Expected<KernelText> print() {
    if (is_own() && rows_ / lines() * own_lines() * line_ * types_.sum_bytes > kOwnBytes) {
      return error(
          fmt::format("a block's image is larger than {} bytes, as the schedule \"{}\" wants it", kOwnBytes, s_.str()));
    }
    KernelText kernel;
    kernel.text = LUMEN_TRY(line_function(kernel.faults));
    if (!is_own()) kernel.text += image_step();
    if (!plain_) kernel.text += LUMEN_TRY(packing(kernel.faults));
    TileSteps steps{1, s_.mr, 0};
    steps.places = true;
    if (plain_) steps.row = *plain_->lane.constant(), steps.row_summed = *plain_->summed.constant();
    kernel.text += print_vector_tile(name_ + "_tile", types_, s_, target_.vector_bytes, steps);
    kernel.text += LUMEN_TRY(print_store(body_, roles_, {name_ + "_store", types_.sum, s_.nr}, kernel.faults));
    kernel.text += block_step();
    if (!is_own()) {
      kernel.steps.push_back({name_ + "_image", rows_});
      kernel.scratch = (rows_ * line_ + s_.nr) * types_.sum_bytes;  // what the last tile reads behind the last column
    }
    kernel.steps.push_back({name_, grain_of(body_) == 1 ? blocks() : Expr(1)});
    return kernel;
  }

 private:
  struct Axis {
    int number;
    int64_t extent;
  };
  int64_t extent(size_t dim) const { return *roles_.domain[static_cast<int64_t>(dim)].constant(); }
  // The window that a summed dim is.
  const WindowDim* find(size_t dim) const {
    const auto found = std::ranges::find(windows_.dims, std::optional(dim), &WindowDim::summed_dim);
    return found == windows_.dims.end() ? nullptr : &*found;
  }
  bool is_own() const { return s_.own == 1; }
  int64_t lines() const { return lines_ / line_; }  // of the part that columns lie in
  // Of a block's own image, as far as its last columns see.
  int64_t own_lines() const {
    int64_t furthest = 0;
    for (int64_t pitch = lines_; const WindowDim& dim : windows_.dims) {
      pitch /= dim.reach();
      furthest += (dim.reach() - dim.columns) * pitch;
    }
    return (s_.nc - 1 + furthest) / line_ + 2;
  }
  int64_t column_blocks() const { return (columns_ + s_.nc - 1) / s_.nc; }
  Expr row_blocks() const { return ceil_div(roles_.extent(Role::row), s_.mc); }
  Expr blocks() const { return row_blocks() * column_blocks(); }

  // Computes line `row` of the image.
  Expected<std::string> line_function(std::vector<std::string>& faults) const {
    std::vector<Expr> at(roles_.at.size(), Expr(0));
    std::string decode = "    int64_t rest = row;\n", seen;
    for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
      decode +=
          fmt::format("    const int64_t i{} = rest % {}; rest /= {};\n", axis->number, axis->extent, axis->extent);
    }
    for (const size_t dim : windows_.summed_dims) {
      const WindowDim* window = find(dim);
      at[dim] = window != nullptr ? phase_in(dim, window->stride) : place_in(dim, extent(dim));
    }
    std::string end = std::to_string(line_);
    for (const WindowDim& dim : windows_.dims) {
      at[dim.column_dim] = place_in(dim.column_dim, dim.reach());
      if (!dim.summed_dim || dim.window % dim.stride == 0) continue;
      // Behind that no window sees this place of the stride.
      const std::string last =
          fmt::format("{} + ({} - i{}) / {}", dim.columns, dim.window - 1, phase_number(*dim.summed_dim), dim.stride);
      if (&dim == &windows_.dims.back()) {
        end = last;
      } else {
        seen += fmt::format("{}i{} < {}", seen.empty() ? "" : " && ", place_number(dim.column_dim), last);
      }
    }
    const int number = place_number(windows_.dims.back().column_dim);
    ElementWriter writer(*roles_.graph, 6);
    const std::string value = writer.value(roles_.columns[0], at);
    if (!writer.problem().empty()) return error(writer.problem());
    std::string text = fmt::format(
        "static LUMEN_SHORT int64_t {name}_line(const void* const* in, void* const* out, const int64_t* dims, "
        "int64_t row, {T}* LUMEN_RESTRICT put) {{\n{names}  int64_t fault = 0;\n{decode}"
        "  const int64_t have = {seen};\n"
        "  LUMEN_ELEMENTS(i{n}, have) {{\n{text}    put[i{n}] = {value};\n  }}\n"
        "  for (int64_t k = have; k < {line}; ++k) put[k] = 0;\n"
        "  return {fault};\n}}\n",
        fmt::arg("name", name_), fmt::arg("names", kernel_names(body_)), fmt::arg("T", types_.packed),
        fmt::arg("decode", decode), fmt::arg("line", line_),
        fmt::arg("seen", seen.empty() ? end : fmt::format("{} ? {} : 0", seen, end)), fmt::arg("n", number),
        fmt::arg("text", writer.text()), fmt::arg("value", value), fmt::arg("fault", fault_number(faults.size())));
    faults.insert(faults.end(), writer.faults().begin(), writer.faults().end());
    return text;
  }

  // All lines, for all threads.
  std::string image_step() const {
    return fmt::format(
        "LUMEN_C_KERNEL({name}_image) {{\n  int64_t fault = 0;\n  {T}* const image = ({T}*)out[{scratch}];\n"
        "  LUMEN_ROWS(row) {{\n"
        "    const int64_t found = {name}_line(in, out, dims, row, image + row * {line});\n"
        "    fault = found > fault ? found : fault;\n"
        "    if (row + 1 == {rows}) __builtin_memset(image + (row + 1) * {line}, 0, {nr} * sizeof({T}));\n"
        "  }}\n  return fault;\n}}\n",
        fmt::arg("name", name_), fmt::arg("T", types_.packed), fmt::arg("scratch", body_.outputs().size()),
        fmt::arg("line", line_), fmt::arg("rows", rows_), fmt::arg("nr", s_.nr));
  }

  // The lines that the columns of a block see.
  std::string own_image() const {
    if (!is_own()) return "";
    return fmt::format(
        "    const int64_t line0 = c0 / {line};\n"
        "    for (int64_t part = 0; part < {parts}; ++part) for (int64_t line = 0; line < {own}; ++line) {{\n"
        "      {T}* const put = own + (part * {own} + line) * {line};\n"
        "      if (line0 + line >= {lines}) {{\n        __builtin_memset(put, 0, {line} * sizeof({T}));\n"
        "        continue;\n      }}\n"
        "      found = {name}_line(in, out, dims, part * {lines} + line0 + line, put);\n"
        "      fault = found > fault ? found : fault;\n    }}\n"
        "    const {T}* const image = own - line0 * {line};\n",
        fmt::arg("line", line_), fmt::arg("parts", rows_ / lines()), fmt::arg("own", own_lines()),
        fmt::arg("lines", lines()), fmt::arg("T", types_.packed), fmt::arg("name", name_));
  }

  Expected<std::string> packing(std::vector<std::string>& faults) const {
    const HeldFactor from = held_factor(roles_, roles_.rows, Role::row, false);
    Packing p;
    p.function = name_ + "_rows";
    p.graph = from.graph.get();
    p.factor = from.node;
    p.convert = from.convert;
    p.plain = from.plain;
    p.along_summed = from.along_summed;
    p.lane = Role::row;
    p.lanes = s_.mr;
    p.type = types_.packed;
    p.vector_bytes = target_.vector_bytes;
    return print_packing(roles_, p, faults);
  }

  // Where each summed coordinate's columns begin in the image.
  std::string places() const {
    std::string loops, at;
    const auto add = [&](const std::string& index, int64_t step) {
      at += fmt::format("{}({}) * {}", at.empty() ? "" : " + ", index, step);
    };
    for (const size_t dim : windows_.summed_dims) {
      loops += fmt::format("  for (int64_t w{0} = 0; w{0} < {1}; ++w{0})\n", dim, extent(dim));
    }
    int64_t step = line_;
    size_t left = windows_.dims.size();  // axes, until those of the part that columns lie in are passed
    for (auto axis = outer_.rbegin(); axis != outer_.rend(); step *= axis->extent, ++axis) {
      if (--left == 0 && is_own()) step = own_lines() * line_;
      for (const size_t dim : windows_.summed_dims) {
        const WindowDim* window = find(dim);
        if (window == nullptr && axis->number == place_number(dim)) add(fmt::format("w{}", dim), step);
        if (window == nullptr) continue;
        if (axis->number == place_number(window->column_dim)) add(fmt::format("w{} / {}", dim, window->stride), step);
        if (axis->number == phase_number(dim)) add(fmt::format("w{} % {}", dim, window->stride), step);
      }
    }
    if (const WindowDim& last = windows_.dims.back(); last.summed_dim) {
      add(fmt::format("w{} / {}", *last.summed_dim, last.stride), 1);
    }
    return fmt::format("  int32_t places[{} + {}] = {{0}};\n  int64_t next = 0;\n{}  places[next++] = (int32_t)({});\n",
                       summed_, kPlacesAhead, loops, at);
  }

  std::string block_step() const {
    std::string text =
        fmt::format("LUMEN_C_KERNEL({}) {{\n{}  int64_t fault = 0, found;\n", name_, kernel_names(body_));
    text += fmt::format(
        "  {T} rows[{held}] __attribute__((aligned(64)));\n"
        "  {T} sums[{tile}] __attribute__((aligned(64)));\n{image}{places}",
        fmt::arg("T", types_.packed), fmt::arg("held", plain_ ? 1 : s_.mc * summed_), fmt::arg("tile", s_.mr * s_.nr),
        fmt::arg("places", places()),
        fmt::arg("image", is_own() ? fmt::format("  {} own[{}] __attribute__((aligned(64)));\n", types_.packed,
                                                 rows_ / lines() * own_lines() * line_)
                                   : fmt::format("  const {0}* const image = (const {0}*)out[{1}];\n", types_.packed,
                                                 body_.outputs().size())));
    if (grain_of(body_) != 1) text += fmt::format("  begin = 0, end = end > 0 ? {} : 0;\n", number(blocks()));
    text += fmt::format(
        "  int64_t held = -1;\n  LUMEN_ROWS(row) {{\n"
        "    const int64_t i0 = 0, block = row / {cb}, m0 = block * {mc}, c0 = row % {cb} * {nc};\n"
        "    const int64_t m1 = m0 + {mc} < {M} ? m0 + {mc} : {M}, c1 = c0 + {nc} < {N} ? c0 + {nc} : {N};\n{rows}{own}"
        "    for (int64_t c = c0; c < c1; c += {nr}) for (int64_t m = m0; m < m1; m += {mr}) {{\n"
        "      const int64_t i1 = {i1}, i3 = 0;\n"
        "      {name}_tile({K}, {a}, image + c, sums, {nr}, 1, places);\n{store}"
        "    }}\n  }}\n  return fault;\n}}\n",
        fmt::arg("cb", column_blocks()), fmt::arg("mc", s_.mc), fmt::arg("nc", s_.nc), fmt::arg("N", columns_),
        fmt::arg("M", number(roles_.extent(Role::row))), fmt::arg("rows", rows_loop()), fmt::arg("own", own_image()),
        fmt::arg("nr", s_.nr), fmt::arg("mr", s_.mr),
        fmt::arg("i1",
                 plain_ ? fmt::format("m + {0} <= {1} ? m : {1} - {0}", s_.mr, number(roles_.extent(Role::row))) : "m"),
        fmt::arg("name", name_), fmt::arg("K", summed_),
        fmt::arg("a",
                 plain_ ? fmt::format("(const {}*)a{} + {}", types_.packed, plain_->input, print_c(plain_->index).text)
                        : fmt::format("rows + (m - m0) * {}", summed_)),
        fmt::arg("store", store_loop()));
    return text;
  }

  std::string rows_loop() const {
    if (plain_) return "";
    return fmt::format(
        "    for (int64_t m = m0; held != block && m < m1; m += {mr}) {{\n"
        "      found = {f}_rows(in, out, dims, rows + (m - m0) * {K}, i0, m, 0, {K});\n"
        "      fault = found > fault ? found : fault;\n    }}\n    held = block;\n",
        fmt::arg("mr", s_.mr), fmt::arg("f", name_), fmt::arg("K", summed_));
  }

  // The columns of a tile, line by line; places where none begins are passed by.
  std::string store_loop() const {
    std::string decode = "        int64_t rest = v;\n", column, outside;
    int64_t step = 1;
    for (auto dim = windows_.dims.rbegin(); dim != windows_.dims.rend(); ++dim) {
      const size_t d = dim->column_dim;
      decode +=
          fmt::format("        const int64_t y{} = rest % {};\n        rest /= {};\n", d, dim->reach(), dim->reach());
      column += fmt::format("{}y{} * {}", column.empty() ? "" : " + ", d, step);
      if (dim != windows_.dims.rbegin()) {
        outside += fmt::format("{}y{} >= {}", outside.empty() ? "" : " || ", d, dim->columns);
      }
      step *= dim->columns;
    }
    const WindowDim& last = windows_.dims.back();
    return fmt::format(
        "      const int64_t stop = c + {nr} < c1 ? c + {nr} : c1;\n"
        "      for (int64_t v = c, to; v < stop; v = to) {{\n{decode}"
        "        to = v + {line} - y{last} < stop ? v + {line} - y{last} : stop;\n"
        "        const int64_t most = {width} - y{last}, columns = most < to - v ? most : to - v;\n"
        "        if (columns <= 0{outside}) continue;\n"
        "        found = {name}_store(in, out, dims, i0, m, m1 - m < {mr} ? m1 - m : {mr}, {column}, columns, "
        "sums + (m - i1) * {nr} + (v - c));\n"
        "        fault = found > fault ? found : fault;\n      }}\n",
        fmt::arg("nr", s_.nr), fmt::arg("decode", decode), fmt::arg("line", line_), fmt::arg("last", last.column_dim),
        fmt::arg("width", last.columns), fmt::arg("outside", outside.empty() ? "" : " || " + outside),
        fmt::arg("name", name_), fmt::arg("mr", s_.mr), fmt::arg("column", column));
  }

  const Graph& body_;
  const ContractRoles& roles_;
  std::string name_;
  const ContractSchedule& s_;
  const Target& target_;
  Windows windows_;
  TileTypes types_;
  int64_t summed_;
  std::vector<Axis> outer_;           // of the image, but for its lines
  int64_t line_ = 1;                  // elements of a line
  int64_t lines_ = 1;                 // elements of the part that columns lie in
  int64_t rows_ = 1;                  // lines of the image
  int64_t columns_ = 1;               // from the first to the last, with those that are dropped
  std::optional<PlainFactor> plain_;  // rows that are read where they lie
};

Expected<void> check_windows(const ContractRoles& roles, const ContractSchedule& s, const TileTypes& types,
                             int64_t lanes) {
  constexpr int64_t kPackedBytes = 4 << 20;
  const int64_t summed = roles.extent(Role::summed).constant().value_or(0);
  const bool whole = s.mr > 0 && s.nr > 0 && s.nr % lanes == 0 && s.mc > 0 && s.mc % s.mr == 0 && s.nc > 0 &&
                     s.nc % s.nr == 0 && s.kc >= summed && s.kr == 0 && (s.own == 0 || s.own == 1);
  if (!whole || s.mc * summed * types.sum_bytes > kPackedBytes) {
    return error(fmt::format("the schedule \"{}\" does not fit windows of {} places", s.str(), summed));
  }
  if (s.direct == 0) return {};
  const std::optional<PlainFactor> plain = held_factor(roles, roles.rows, Role::row, false).plain;
  const bool reads = s.direct == 1 && plain && plain->lane.is_constant() && plain->summed.is_constant() &&
                     roles.extent(Role::row).constant().value_or(0) >= s.mr;
  if (reads) return {};
  return error(fmt::format("rows cannot be read where they lie, as the schedule \"{}\" wants", s.str()));
}

}  // namespace

std::optional<Windows> find_windows(const ContractRoles& roles) { return WindowFinder(roles).find(); }

Expected<KernelText> print_windows(const Graph& body, const ContractRoles& roles, const std::string& name,
                                   const ContractSchedule& schedule, const Target& target) {
  const std::optional<Windows> windows = find_windows(roles);
  if (!windows) return error(fmt::format("no windows for the schedule \"{}\"", schedule.str()));
  const TileTypes types = vector_types(roles.dtype);
  LUMEN_TRY(check_windows(roles, schedule, types, target.vector_bytes / types.sum_bytes));
  return WindowPrinter(body, roles, name, schedule, target, *windows).print();
}

}  // namespace lumen
