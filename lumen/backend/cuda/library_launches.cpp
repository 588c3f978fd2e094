#include "lumen/backend/cuda/library_launches.h"

#include <fmt/format.h>

#include <algorithm>

namespace lumen::cuda {

DimValues numbered_dims(const std::vector<int64_t>& dims) {
  DimValues numbered;
  for (size_t n = 0; n < dims.size(); ++n) numbered.set(fmt::format("n{}", n), dims[n]);
  return numbered;
}

// Rows are lines, and their number is all that the two differ in: then what the larger one has more is behind the rest,
// where the program's own memory has room for it.
Expected<bool> LibraryLaunches::has_room(const ProgramCall& call, const LibraryProduct& product, const DimValues& dims,
                                         const DimValues& roomy) const {
  if (!product.rows.along_summed || !(product.batch == Expr(1))) return false;
  const auto is_own = [&](std::span<const uint32_t> values, uint32_t buffer) {
    return buffer >= values.size() || program_.homes[values[buffer]].kind == Home::Kind::arena;
  };
  if (!is_own(call.operands, product.rows.buffer) || !is_own(call.results, product.result.buffer)) return false;
  // In scratch, sums of other products may be behind the result.
  const auto is_product = [](const KernelStep& step) { return step.product.has_value(); };
  if (product.result.buffer >= call.results.size() &&
      std::ranges::count_if(program_.kernels[call.kernel].text.steps, is_product) > 1) {
    return false;
  }
  for (const Expr& each : {product.rows.offset, product.rows.pitch, product.columns.offset, product.columns.pitch,
                           product.result.offset, product.result.pitch, product.column_count, product.summed}) {
    if (LUMEN_TRY(evaluate(each, dims)) != LUMEN_TRY(evaluate(each, roomy))) return false;
  }
  return LUMEN_TRY(evaluate(product.row_count, dims)) <= LUMEN_TRY(evaluate(product.row_count, roomy));
}

Expected<void> LibraryLaunches::bind(const ProgramCall& call, size_t step, const std::vector<int64_t>& exact,
                                     const std::vector<int64_t>& roomy, Launch& launch) {
  const uint32_t number = call.kernel;
  const ProgramKernel& kernel = program_.kernels[number];
  const LibraryProduct& product = *kernel.text.steps[step].product;
  const bool room = LUMEN_TRY(has_room(call, product, numbered_dims(exact), numbered_dims(roomy)));
  const std::vector<int64_t>& dims = room ? roomy : exact;
  const DimValues numbered = numbered_dims(dims);
  const Expr elements = product.batch * product.row_count * product.column_count;
  launch.blocks = LUMEN_TRY(evaluate(elements, numbered)) > 0 ? 1 : 0;
  if (launch.blocks == 0) return {};
  std::shared_ptr<const MatrixProduct>& known = products_[{number, step, dims}];
  if (known == nullptr) known = LUMEN_TRY(device_.matrices()->prepare(product, numbered));
  launch.product = known;
  const size_t outputs = kFirstInput + std::max<size_t>(1, kernel.body->inputs().size());
  launch.scratch = outputs + kernel.body->outputs().size();
  const auto factor = [&](const LibraryMatrix& matrix) {
    return matrix.buffer < kernel.body->inputs().size() ? kFirstInput + matrix.buffer : launch.scratch;
  };
  launch.rows = factor(product.rows);
  launch.columns = factor(product.columns);
  launch.result = outputs + product.result.buffer;
  for (const uint32_t scale : product.scales) launch.scales.push_back(kFirstInput + scale);
  launch.workspace = LUMEN_TRY(evaluate(kernel.text.scratch, numbered)) - product.workspace;
  return {};
}

Expected<void> LibraryLaunches::run(const Launch& launch) const {
  const std::vector<uint64_t>& words = launch.arguments;
  std::vector<Address> scales;
  for (const size_t word : launch.scales) scales.push_back(words[word]);
  return launch.product->run(words[launch.rows], words[launch.columns], words[launch.result], scales,
                             words[launch.scratch] + static_cast<uint64_t>(launch.workspace), device_.stream());
}

}  // namespace lumen::cuda
