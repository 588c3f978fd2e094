#include "lumen/codegen/cuda_scatter.h"

#include <fmt/format.h>

#include "lumen/codegen/element.h"
#include "lumen/codegen/scalar.h"
#include "lumen/codegen/scatter.h"
#include "lumen/codegen/wide_store.h"
#include "lumen/hlir/indexing.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kMostSlices = UINT32_MAX - 1;
constexpr int64_t kManySlices = 2048;  // up to there, each looks at all indices after its own
constexpr int64_t kFewSlices = 32;     // of which every thread looks at all: no block waits for its threads

class CudaScatterPrinter {
 public:
  CudaScatterPrinter(const Graph& body, NodeId scatter)
      : body_(body), scatter_(scatter), in_place_(input_of_x(body, scatter)) {
    const ElementWriter names(body, 0);
    axis_ = body[scatter].as<hlir::Scatter>().axis;
    shape_ = names.rename(body[scatter].type.shape);
    indices_ = names.rename(body[body[scatter].operands[1]].type.shape);
    outer_ = Shape(std::vector<Expr>(shape_.begin(), shape_.begin() + axis_));
    inner_ = Shape(std::vector<Expr>(shape_.begin() + axis_ + 1, shape_.end()));
  }

  Expr slices() const { return indices_.numel(); }

  Expected<KernelText> print(const std::string& name) {
    KernelText kernel;
    kernel.in_place = in_place_;
    LUMEN_TRY(copy_step(name + "_copy", kernel));
    if (has_owners()) LUMEN_TRY(owner_steps(name, kernel));
    LUMEN_TRY(slice_step(name, kernel));
    return kernel;
  }

 private:
  // x, where it is not in its place already.
  Expected<void> copy_step(const std::string& name, KernelText& kernel) const {
    ElementWriter writer(body_, 4);
    const Expr flat = Expr::index(0, shape_.numel());
    const int64_t width = group_width(body_, shape_.numel());
    const std::string along = flat.is_constant() ? "i_one" : "i0";
    WideStore stores(writer, body_, flat, along, width);
    stores.open(fmt::format("LUMEN_ROW_GROUPS({}, {})", along, width), bounds(shape_.numel()).lo < 1, {0});
    stores.store(0, flat, writer.value(body_[scatter_].operands[0], unflatten(flat, shape_)));
    stores.close();
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.text += kernel_head(body_, name) + writer.text() + "  LUMEN_RETURN;\n}\n";
    kernel.faults = writer.faults();
    KernelStep step{name, shape_.numel()};
    step.block_rows = kBlockThreads * width;
    step.copies = in_place_.has_value();
    kernel.steps.push_back(step);
    return {};
  }

  // Of many slices: in scratch, the last one that each place of the axis gets, counted from 1.
  bool has_owners() const { return bounds(slices()).hi > kManySlices; }
  std::string owners() const {
    return fmt::format("  uint32_t* LUMEN_RESTRICT const owners = (uint32_t*)LUMEN_OUT({});\n", body_.outputs().size());
  }
  Expected<void> owner_steps(const std::string& name, KernelText& kernel) const {
    const Node& node = body_[scatter_];
    ElementWriter writer(body_, 4);
    const std::string found = writer.value(node.operands[1], unflatten(Expr::index(0, indices_.numel()), indices_));
    if (!writer.problem().empty()) return error(writer.problem());
    const std::string length = print_c(shape_[axis_]).text;
    kernel.text += kernel_head(body_, name + "_none") + owners() +
                   "  LUMEN_ELEMENT_ROWS(i0) owners[i0] = 0;\n  LUMEN_RETURN;\n}\n";
    kernel.text += kernel_head(body_, name + "_last") + owners() + "  LUMEN_ELEMENT_ROWS(i0) {\n" + writer.text() +
                   fmt::format("    if ((uint64_t){0} < (uint64_t)({1})) atomicMax(owners + {0}, (uint32_t)i0 + 1u);\n",
                               found, length) +
                   "  }\n  LUMEN_RETURN;\n}\n";
    for (const auto& [step_name, rows] : {std::pair{name + "_none", shape_[axis_]}, {name + "_last", slices()}}) {
      KernelStep step{step_name, rows};
      step.block_rows = kBlockThreads;
      kernel.steps.push_back(step);
    }
    kernel.scratch = shape_[axis_] * 4;
    return {};
  }

  // `later`: a slice after this one has the same index.
  void look_at_others(ElementWriter& writer, Expr which, Expr other, Expr place) const {
    if (has_owners()) {
      writer.line(fmt::format("const uint32_t later = owners[{}] != (uint32_t)({}) + 1u;", print_c(place).text,
                              print_c(which).text));
      return;
    }
    writer.line("uint32_t later = 0;");
    if (other.is_constant()) return;
    const std::string i = print_c(other).text, mine = print_c(which).text, count = print_c(slices()).text;
    const bool few = bounds(slices()).hi <= kFewSlices;
    writer.open_loop(few ? fmt::format("LUMEN_UNROLLED for (int64_t {0} = 0; {0} < {1}; ++{0})", i, count)
                         : fmt::format("LUMEN_RANGE({}, {} + 1, {})", i, mine, count),
                     other, true);
    const std::string found = writer.value(body_[scatter_].operands[1], unflatten(other, indices_));
    writer.line(fmt::format("later |= ({} > {}) & ((int64_t){} == {});", i, mine, found, print_c(place).text));
    writer.close();
    if (!few) writer.line("later = lumen_block_max_u32(later);");
  }

  // What a slice is divided by, before its elements: every warp sums for itself.
  Expected<void> sum_rows(ElementWriter& writer, Expr which, Expr within) const {
    const NodeId given = body_[scatter_].operands[2];
    ElementWriter probe(body_, 4);
    probe.sum_by_warps({within});
    probe.value(given, at(unflatten(which, indices_), within));
    if (!probe.problem().empty()) return error(probe.problem());
    writer.sum_by_warps({within});
    for (const ElementWriter::WarpSum& sum : probe.warp_sums()) writer.value(sum.node, sum.at);
    return {};
  }

  // i0, …: the dims before the axis, the number of the index; then the element of a slice, the first of those that a
  // thread has at once, and another index.
  Expected<void> slice_step(const std::string& name, KernelText& kernel) const {
    std::vector<Expr> items(outer_.begin(), outer_.end());
    items.push_back(indices_.numel());
    const auto number = static_cast<int>(items.size()) - 1;
    const Expr which = Expr::index(number, indices_.numel());
    const Expr within = Expr::index(number + 1, inner_.numel());
    const Expr group = Expr::index(number + 2, inner_.numel());
    const Expr other = Expr::index(number + 3, indices_.numel());
    const int64_t width = group_width(body_, inner_.numel());
    const int threads = threads_for(inner_.numel(), width);
    const Node& node = body_[scatter_];

    ElementWriter writer(body_, 4, kernel.faults);
    const std::string found = writer.value(node.operands[1], unflatten(which, indices_));
    const Expr place = writer.checked(
        "(int64_t)" + found, shape_[axis_],
        fmt::format("[Scatter] an index is outside axis {} of {}", axis_, body_[node.operands[0]].type.str()));
    look_at_others(writer, which, other, place);
    LUMEN_TRY(sum_rows(writer, which, within));
    // What is stored is computed before it is known whether, so that all that is read is on its way together.
    const std::string group_name = group.is_constant() ? "g_one" : print_c(group).text;
    const std::string inside = within.is_constant() ? "i_one" : print_c(within).text;
    writer.open(fmt::format(
        "for (int64_t {0} = (int64_t)threadIdx.x * {1}; {0} < {2}; {0} += (int64_t)lumen_some_threads() * {1})",
        group_name, width, print_c(inner_.numel()).text));
    writer.line(fmt::format("{} given[{}];", storage_type(node.type.dtype), width));
    writer.open_loop(
        fmt::format("LUMEN_UNROLLED for (int64_t {0} = {1}; {0} < {1} + {2}; ++{0})", inside, group_name, width),
        within, false);
    const std::string value = writer.value(node.operands[2], at(unflatten(which, indices_), within));
    writer.line(fmt::format("given[{} - {}] = {}({});", inside, group_name, store_function(node.type.dtype), value));
    writer.close();
    writer.line(fmt::format("if (later == 0) lumen_write<{}>(r0 + {}, given);", width,
                            writer.index(shape_.flat_index(at({&place, 1}, group)))));
    writer.close();
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.text += kernel_head(body_, name, threads) + (has_owners() ? owners() : "") + "  LUMEN_ROWS(row) {\n" +
                   row_coordinates(Shape(items), 4) + writer.text() + "  }\n  LUMEN_RETURN;\n}\n";
    kernel.faults = writer.faults();
    kernel.steps.push_back({name, Shape(items).numel(), 1, threads});
    return {};
  }

  // Coordinates before the axis, these, and of an element of a slice.
  std::vector<Expr> at(std::span<const Expr> middle, Expr within) const {
    std::vector<Expr> all = outer_.coordinates();
    all.insert(all.end(), middle.begin(), middle.end());
    const std::vector<Expr> inside = unflatten(within, inner_);
    all.insert(all.end(), inside.begin(), inside.end());
    return all;
  }
  std::vector<Expr> at(const std::vector<Expr>& middle, Expr within) const { return at(std::span(middle), within); }

  const Graph& body_;
  NodeId scatter_;
  std::optional<uint32_t> in_place_;
  int64_t axis_ = 0;
  Shape shape_, indices_, outer_, inner_;
};

}  // namespace

Expected<KernelText> print_cuda_scatter(const Graph& body, const std::string& name) {
  const NodeId scatter = LUMEN_TRY(find_scatter(body));
  if (body[scatter].as<hlir::Scatter>().mode != hlir::ScatterMode::set || grain_of(body) > 1) {
    return error("blocks of a GPU set whole bytes, each on its own");
  }
  CudaScatterPrinter printer(body, scatter);
  if (bounds(printer.slices()).hi > kMostSlices) return error("more slices than 32 bits count");
  return printer.print(name);
}

}  // namespace lumen
