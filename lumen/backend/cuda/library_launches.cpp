#include "lumen/backend/cuda/library_launches.h"

#include <fmt/format.h>

#include <algorithm>

namespace lumen::cuda {

DimValues numbered_dims(const std::vector<int64_t>& dims) {
  DimValues numbered;
  for (size_t n = 0; n < dims.size(); ++n) numbered.set(fmt::format("n{}", n), dims[n]);
  return numbered;
}

Expected<void> LibraryLaunches::bind(uint32_t number, size_t step, const std::vector<int64_t>& dims, Launch& launch) {
  const ProgramKernel& kernel = program_.kernels[number];
  const LibraryProduct& product = *kernel.text.steps[step].product;
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
  launch.workspace = LUMEN_TRY(evaluate(kernel.text.scratch, numbered)) - product.workspace;
  return {};
}

Expected<void> LibraryLaunches::run(const Launch& launch) const {
  const std::vector<uint64_t>& words = launch.arguments;
  return launch.product->run(words[launch.rows], words[launch.columns], words[launch.result],
                             words[launch.scratch] + static_cast<uint64_t>(launch.workspace), device_.stream());
}

}  // namespace lumen::cuda
