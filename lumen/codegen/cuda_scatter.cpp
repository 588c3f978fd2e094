#include "lumen/codegen/cuda_scatter.h"

#include <fmt/format.h>

#include "lumen/codegen/element.h"
#include "lumen/codegen/scatter.h"
#include "lumen/hlir/indexing.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kMostSlices = 16384;  // each looks at all indices after its own

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
    LUMEN_TRY(slice_step(name, kernel));
    return kernel;
  }

 private:
  // x, where it is not in its place already.
  Expected<void> copy_step(const std::string& name, KernelText& kernel) const {
    ElementWriter writer(body_, 4);
    const Expr flat = Expr::index(0, shape_.numel());
    const int64_t width = group_width(body_, shape_.numel());
    writer.open_loop(fmt::format("LUMEN_ELEMENT_ROWS_BY({}, {})", flat.is_constant() ? "i_one" : "i0", width), flat,
                     bounds(shape_.numel()).lo < 1);
    const std::vector<Expr> at = unflatten(flat, shape_);
    writer.line(store_statement(body_, 0, writer.index(flat), writer.value(body_[scatter_].operands[0], at)));
    writer.close();
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.text += kernel_head(body_, name) + writer.text() + "  LUMEN_RETURN;\n}\n";
    kernel.faults = writer.faults();
    KernelStep step{name, shape_.numel()};
    step.block_rows = kBlockThreads * width;
    step.copies = in_place_.has_value();
    kernel.steps.push_back(step);
    return {};
  }

  // i0, …: the dims before the axis, the number of the index; then the element of a slice, and another index.
  Expected<void> slice_step(const std::string& name, KernelText& kernel) const {
    std::vector<Expr> items(outer_.begin(), outer_.end());
    items.push_back(indices_.numel());
    const auto number = static_cast<int>(items.size()) - 1;
    const Expr which = Expr::index(number, indices_.numel());
    const Expr within = Expr::index(number + 1, inner_.numel());
    const Expr other = Expr::index(number + 2, indices_.numel());
    const int64_t width = group_width(body_, inner_.numel());
    const int threads = threads_for(inner_.numel(), width);
    const Node& node = body_[scatter_];

    ElementWriter writer(body_, 4, kernel.faults);
    const std::string found = writer.value(node.operands[1], unflatten(which, indices_));
    const Expr place = writer.checked(
        "(int64_t)" + found, shape_[axis_],
        fmt::format("[Scatter] an index is outside axis {} of {}", axis_, body_[node.operands[0]].type.str()));
    writer.line("uint32_t later = 0;");
    if (!other.is_constant()) {
      writer.open_loop(fmt::format("LUMEN_RANGE(i{}, i{} + 1, {})", number + 2, number, print_c(slices()).text), other,
                       true);
      writer.line(fmt::format("later |= (int64_t){} == {};", writer.value(node.operands[1], unflatten(other, indices_)),
                              print_c(place).text));
      writer.close();
    }
    writer.line("later = lumen_block_max_u32(later);");
    writer.open("if (later == 0)");
    writer.open_loop(
        fmt::format("LUMEN_RANGE_BY({}, {}, 0, {})", within.is_constant() ? "i_one" : fmt::format("i{}", number + 1),
                    width, print_c(inner_.numel()).text),
        within, bounds(inner_.numel()).lo < 1);
    const std::string given = writer.value(node.operands[2], at(unflatten(which, indices_), within));
    writer.line(store_statement(body_, 0, writer.index(shape_.flat_index(at({&place, 1}, within))), given));
    writer.close();
    writer.close();
    if (!writer.problem().empty()) return error(writer.problem());
    kernel.text += kernel_head(body_, name, threads) + "  LUMEN_ROWS(row) {\n" + row_coordinates(Shape(items), 4) +
                   writer.text() + "  }\n  LUMEN_RETURN;\n}\n";
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
  if (bounds(printer.slices()).hi > kMostSlices) return error("too many slices to compare each with each");
  return printer.print(name);
}

}  // namespace lumen
