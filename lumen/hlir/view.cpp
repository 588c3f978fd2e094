#include "lumen/hlir/view.h"

#include <fmt/format.h>

#include "lumen/hlir/coordinates.h"
#include "lumen/hlir/infer.h"

namespace lumen::hlir {

namespace {

// Only for what is certain: an unguarded view with constant bounds that reads at least one element.
Expected<void> check_inside(const lumen::View& view, const TensorType& source) {
  const std::optional<int64_t> numel = source.shape.numel().constant();
  if (view.has_guard() || !numel || view.shape().numel().constant().value_or(0) <= 0) return {};
  const std::optional<Span> span = physical_span(view);
  if (!span || !span->lowest.is_constant() || !span->end.is_constant()) return {};
  const int64_t lowest = *span->lowest.constant();
  const int64_t last = *span->end.constant() - 1;
  if (lowest >= 0 && last < *numel) return {};
  return outside_error(view, lowest < 0 ? lowest : last, *numel);
}

}  // namespace

Diag outside_error(const lumen::View& view, int64_t index, int64_t numel) {
  return op_error(View::kName, fmt::format("{} reads element {} of a source of {}", view.str(), index, numel));
}

Expected<TensorType> View::infer(const View& op, std::span<const TensorType> operands) {
  const Shape shape = op.view.shape();
  LUMEN_TRY(check_shape(kName, shape));
  LUMEN_TRY(check_coordinates(kName, "index", op.view.index(), shape));
  LUMEN_TRY(check_coordinates(kName, "guard", op.view.guard(), shape));
  if (op.view.has_guard() && op.view.fill().dtype != operands[0].dtype) {
    return op_error(
        kName, fmt::format("fill {} is not of the operand's dtype, {}", op.view.fill().str(), name(operands[0].dtype)));
  }
  LUMEN_TRY(check_inside(op.view, operands[0]));
  return TensorType{operands[0].dtype, shape};
}

Expected<void> View::eval(const View& op, const EvalContext& context, std::span<const HostTensor* const> in,
                          HostTensor& out) {
  const HostTensor& x = *in[0];
  const ExprProgram index = LUMEN_TRY(ExprProgram::compile(op.view.index(), context.dims));
  const ExprProgram guard = LUMEN_TRY(ExprProgram::compile(op.view.guard(), context.dims));
  std::vector<int64_t> coords(out.dims.size());
  for (Lane& lane : out.lanes) {
    if (LUMEN_TRY(guard(coords)) != 0) {
      const int64_t at = LUMEN_TRY(index(coords));
      if (at < 0 || at >= x.numel()) return outside_error(op.view, at, x.numel());
      lane = x.lanes[static_cast<size_t>(at)];
    } else {
      lane = op.view.fill().value;
    }
    next_coordinates(coords, out.dims);
  }
  return {};
}

}  // namespace lumen::hlir
