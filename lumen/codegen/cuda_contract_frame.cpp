#include "lumen/codegen/cuda_contract_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_sums.h"
#include "lumen/codegen/cuda_contract_grouped.h"
#include "lumen/codegen/element.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kTogether = 8;  // tiles of rows that are next to each other in time: they share columns in the cache

bool is_small(Expr extent) { return bounds(extent).hi <= INT32_MAX; }

class FramePrinter {
 public:
  FramePrinter(const Graph& body, const ContractRoles& roles, std::string name, const CudaContractSchedule& schedule,
               const CudaTileText& tile)
      : body_(body),
        roles_(roles),
        name_(std::move(name)),
        s_(schedule),
        tile_(tile),
        store_(body, roles, tile.faults) {
    parts_ = std::max<int64_t>(1, s_.parts);
    sides_ = std::ssize(roles.contracts);
    type_ = sum_type(roles.dtype);
    pitch_ = tile.pitch == 0 ? s_.columns : tile.pitch;
    grouped_ = s_.method == CudaContractMethod::grouped;
  }

  Expected<KernelText> print() {
    KernelText kernel;
    const bool settles = parts_ > 1 || grain_of(body_) > 1;
    if (grouped_ && settles) return error("outputs whose elements share bytes, of groups");
    const std::string store = LUMEN_TRY(store_tile(settles));
    const std::string tiles = settles ? name_ + "_sums" : name_;
    kernel.text = head(tiles) + "  LUMEN_DYNAMIC_SHARED(shared);\n";
    kernel.text += fmt::format("  typedef {} Index;\n  {}* const sums = ({}*)shared;\n", index_type(), type_, type_);
    if (grouped_) kernel.text += groups_text(body_, roles_);
    const Expr all = grouped_ ? grouped_tiles(roles_, s_) * column_tiles()
                              : roles_.extent(Role::batch) * parts_ * row_tiles() * column_tiles();
    const Expr blocks = tile_.blocks == 0 ? all : min(all, tile_.blocks);
    const std::string rows =
        tile_.blocks == 0
            ? "  LUMEN_ROWS(row) {\n"
            : fmt::format("  LUMEN_ROWS(first_row) for (int64_t row = first_row; row < {}; row += {}) {{\n",
                          plain_number(all), plain_number(blocks));
    kernel.text += rows + place_text() + "    {\n" + tile_.text + "    }\n" + store + "  }\n  LUMEN_RETURN;\n}\n";
    KernelStep step{tiles, blocks};
    step.threads = static_cast<int>(s_.threads);
    step.shared = std::max(tile_.shared, sides_ * s_.rows * pitch_ * sum_bytes(roles_.dtype));
    kernel.steps.push_back(step);
    if (settles) LUMEN_TRY(store_.settle(name_, parts_, kernel));
    kernel.faults = store_.faults();
    if (grouped_) LUMEN_TRY(add_groups(body_, roles_, name_ + "_groups", s_, kernel));
    return kernel;
  }

 private:
  std::string head(const std::string& name) const {
    std::string text = kernel_head(body_, name, static_cast<int>(s_.threads), tile_.at_once);
    const std::string begin = "  LUMEN_BEGIN;\n";
    return text.insert(text.find(begin), tile_.ahead);
  }
  Expr row_tiles() const { return ceil_div(roles_.extent(Role::row), s_.rows); }
  Expr column_tiles() const { return ceil_div(roles_.extent(Role::column), s_.columns); }

  std::string index_type() const {
    bool small = is_small(roles_.result.numel());
    for (const Expr& extent : roles_.extents) small = small && is_small(extent);
    const ElementWriter writer(body_, 0);
    for (const NodeId id : body_.inputs()) small = small && is_small(writer.rename(body_[id].type.shape.numel()));
    return small ? "int32_t" : "int64_t";
  }

  // Where the tile of this row is.
  std::string place_text() const {
    if (grouped_) {
      return fmt::format(
          "    const Index column_tiles = {}, tile = (Index)row / column_tiles, c0 = (Index)row % column_tiles * {};\n"
          "    const Index m0 = tiles[2 * tile], m1 = tiles[2 * tile + 1], k0 = 0, k1 = {};\n"
          "    if (m0 == m1) continue;\n"
          "    const Index i0 = order[m0];\n",
          plain_number(column_tiles()), s_.columns, plain_number(roles_.extent(Role::summed)));
    }
    std::string text = fmt::format(
        "    const Index row_tiles = {}, column_tiles = {};\n"
        "    const Index within = (Index)row % (row_tiles * column_tiles);\n"
        "    const Index before = (Index)row / (row_tiles * column_tiles);\n"
        "    const Index i0 = before / {};\n",
        plain_number(row_tiles()), plain_number(column_tiles()), parts_);
    if (row_tiles() == Expr(1)) {
      text += fmt::format("    const Index m0 = 0, c0 = within * {};\n", s_.columns);
    } else {
      text += fmt::format(
          "    const Index group = within / ({g} * column_tiles) * {g}, inside = within % ({g} * column_tiles);\n"
          "    const Index span = row_tiles - group < {g} ? row_tiles - group : {g};\n"
          "    const Index m0 = (group + inside % span) * {r}, c0 = inside / span * {c};\n",
          fmt::arg("g", kTogether), fmt::arg("r", s_.rows), fmt::arg("c", s_.columns));
    }
    const Expr depth = roles_.extent(Role::summed);
    if (parts_ == 1) {
      return text + fmt::format("    const Index k0 = 0, k1 = {};\n", plain_number(depth));
    }
    const int64_t unit = std::max<int64_t>(1, s_.summed);
    const Expr length = ceil_div(ceil_div(depth, parts_), unit) * unit;
    return text + fmt::format(
                      "    const Index part = before % {0}, length = {1};\n"
                      "    const Index k0 = (Index)lumen_min_i64(part * length, {2}), k1 = (Index)lumen_min_i64(k0 + "
                      "length, {2});\n",
                      parts_, plain_number(length), plain_number(depth));
  }

  Expected<std::string> store_tile(bool settles) {
    std::string inside;
    for (int64_t side = 0; side < sides_; ++side) {
      const std::string at = pitch_ == s_.columns ? "e" : fmt::format("e / {0} * {1} + e % {0}", s_.columns, pitch_);
      const std::string sum = fmt::format("sums[{} + {}]", side * s_.rows * pitch_, at);
      inside += settles ? fmt::format("        partial[{}] = {};\n", partial_index(side), sum)
                        : store_.sum_line(static_cast<size_t>(side), sum, 8);
    }
    if (!settles) {
      const std::string outputs = LUMEN_TRY(store_.outputs(roles_.at_result(), 8, tile_.sums ? &*tile_.sums : nullptr));
      if (tile_.sums) inside += tile_.sums->names_in(outputs, "(i1 - m0)", 8);
      inside += outputs;
    }
    std::string text = "    __syncthreads();\n";
    if (settles) {
      text +=
          fmt::format("    {0}* LUMEN_RESTRICT const partial = ({0}*)LUMEN_OUT({1});\n", type_, body_.outputs().size());
    }
    return text + fmt::format(
                      "    for (uint32_t e = threadIdx.x; e < {size}; e += {threads}) {{\n"
                      "      const Index {i1} = m0 + (Index)(e / {columns}), i2 = c0 + (Index)(e % {columns});\n"
                      "      if ({i1} < {M} && i2 < {N}) {{\n{item}{inside}      }}\n    }}\n    __syncthreads();\n",
                      fmt::arg("i1", grouped_ ? "place" : "i1"),
                      fmt::arg("item", grouped_ ? "        const Index i0 = order[place], i1 = 0;\n" : ""),
                      fmt::arg("size", s_.rows * s_.columns), fmt::arg("threads", s_.threads),
                      fmt::arg("columns", s_.columns), fmt::arg("inside", inside),
                      fmt::arg("M", grouped_ ? "m1" : plain_number(roles_.extent(Role::row))),
                      fmt::arg("N", plain_number(roles_.extent(Role::column))));
  }

  std::string partial_index(int64_t side) const {
    const std::string before = parts_ == 1 ? std::to_string(side) : fmt::format("(part * {} + {})", sides_, side);
    return fmt::format("(int64_t){} * {} + {}", before, plain_number(roles_.result.numel()),
                       plain_number(roles_.result.flat_index(roles_.at_result())));
  }

  const Graph& body_;
  const ContractRoles& roles_;
  std::string name_;
  CudaContractSchedule s_;
  const CudaTileText& tile_;
  SumsStore store_;
  int64_t parts_ = 1, sides_ = 1, pitch_ = 0;
  bool grouped_ = false;
  std::string type_;
};

}  // namespace

namespace {

// A thread keeps to its place along the axis that neighbours are on, where there are threads enough.
std::string print_repeating(const ContractRoles& roles, const CudaFill& fill, const std::string& text,
                            const std::string& value) {
  const int64_t size = fill.lanes * fill.depth, along = fill.along_summed ? fill.depth : fill.lanes;
  const std::string place =
      fill.threads % along == 0
          ? fmt::format("near = threadIdx.x % {0}, far = threadIdx.x / {0} + u * {1}", along, fill.threads / along)
          : fmt::format("near = (threadIdx.x + u * {1}) % {0}, far = (threadIdx.x + u * {1}) / {0}", along,
                        fill.threads);
  return fmt::format(
      "      LUMEN_UNROLL_BY({U}) for (uint32_t u = 0; u < {turns}; ++u) {{\n"
      "        const uint32_t {place};\n{rest}"
      "        const Index l = (Index){l}, k = (Index){k}, lane_at = {first} + l;\n"
      "        const Index {i} = lane_at < {extent} ? lane_at : {extent} - 1;\n"
      "        {T} value = 0;\n{open}        const Index i3 = kk + k;\n{text}        value = {convert}({v});\n{close}"
      "        {cell} = value;\n      }}\n",
      fmt::arg("U", 8), fmt::arg("turns", (size + fill.threads - 1) / fill.threads), fmt::arg("place", place),
      fmt::arg("rest", size % fill.threads == 0 ? ""
                                                : fmt::format("        if (far >= {}) break;\n",
                                                              fill.along_summed ? fill.lanes : fill.depth)),
      fmt::arg("l", fill.along_summed ? "far" : "near"), fmt::arg("k", fill.along_summed ? "near" : "far"),
      fmt::arg("first", fill.first), fmt::arg("i", fill.lane == Role::row ? "i1" : "i2"),
      fmt::arg("extent", plain_number(roles.extent(fill.lane))), fmt::arg("T", fill.type),
      fmt::arg("open", roles.extent(Role::summed) == Expr(fill.depth) ? "        {\n" : "        if (kk + k < k1) {\n"),
      fmt::arg("close", "        }\n"), fmt::arg("text", text), fmt::arg("convert", fill.convert), fmt::arg("v", value),
      fmt::arg("cell", fill.cell));
}

}  // namespace

Expected<std::string> print_fill(const ContractRoles& roles, const CudaFill& fill, std::vector<std::string>& faults) {
  ElementWriter writer(*fill.graph, 10, faults);
  const std::string value = writer.value(fill.factor, roles.at);
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  if (fill.repeats) return print_repeating(roles, fill, writer.text(), value);
  return fmt::format(
      "      for (uint32_t e = threadIdx.x; e < {size}; e += {threads}) {{\n"
      "        const Index l = (Index)(e {lane}), k = (Index)(e {along}), {i} = {first} + l, i3 = kk + k;\n"
      "        {T} value = 0;\n"
      "        if ({i} < {extent} && i3 < k1) {{\n{grouped}{text}          value = {convert}({v});\n        }}\n"
      "        {cell} = value;\n      }}\n",
      fmt::arg("grouped", fill.grouped ? "          const Index i0 = order[lane_at], i1 = 0;\n" : ""),
      fmt::arg("size", fill.lanes * fill.depth), fmt::arg("threads", fill.threads),
      fmt::arg("lane",
               fmt::format("{} {}", fill.along_summed ? "/" : "%", fill.along_summed ? fill.depth : fill.lanes)),
      fmt::arg("along",
               fmt::format("{} {}", fill.along_summed ? "%" : "/", fill.along_summed ? fill.depth : fill.lanes)),
      fmt::arg("i", fill.grouped             ? "lane_at"
                    : fill.lane == Role::row ? "i1"
                                             : "i2"),
      fmt::arg("first", fill.first), fmt::arg("T", fill.type),
      fmt::arg("extent", fill.grouped ? "m1" : plain_number(roles.extent(fill.lane))), fmt::arg("text", writer.text()),
      fmt::arg("convert", fill.convert), fmt::arg("v", value), fmt::arg("cell", fill.cell));
}

Expected<KernelText> frame_contract(const Graph& body, const ContractRoles& roles, const std::string& name,
                                    const CudaContractSchedule& schedule, const CudaTileText& tile) {
  return FramePrinter(body, roles, name, schedule, tile).print();
}

}  // namespace lumen
