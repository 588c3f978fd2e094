#include "lumen/codegen/contract_library.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_sums.h"
#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/schedule_text.h"
#include "lumen/hlir/cast.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr MethodWords<LibraryMethod, 1> kMethods = {std::pair{LibraryMethod::library, std::string_view("library")}};
constexpr SizeNames<LibrarySchedule, 1> kSizes = {
    std::pair{std::string_view("algorithm"), &LibrarySchedule::algorithm}};

constexpr int64_t kAlgorithms = 2;          // that are tried
constexpr int64_t kWorkspace = 32 << 20;    // bytes; what the library's makers advise for an H100
constexpr int64_t kScratchAlign = 256;      // of what follows the sums in scratch
constexpr int64_t kNarrowestMultiple = 16;  // elements of 8 bits: lines are whole numbers of these

bool is_8_bit(DType dtype) { return dtype == f8e4m3 || dtype == f8e5m2; }

// Whether the library of the target multiplies them, and which results it can round to.
bool is_multiplied(DType rows, DType columns, DType sum, const Target& target) {
  if ((rows == f64) != (sum == f64) || !is_float(sum)) return false;
  if (rows == columns && (rows == f32 || rows == f64)) return true;
  if (!target.cuda) return false;
  if (is_8_bit(rows) && is_8_bit(columns)) return target.sm >= 89 && (rows == f8e4m3 || columns == f8e4m3);
  return rows == columns && (rows == bf16 || rows == f16);
}
bool is_result(DType result, DType factors) {
  if (result == factors && !is_8_bit(result)) return true;
  return result == f32 ? factors != f64 : is_8_bit(factors) && (result == bf16 || result == f16);
}

class LibraryPrinter {
 public:
  LibraryPrinter(const Graph& body, const ContractRoles& roles, const LibrarySchedule& schedule, const Target& target)
      : body_(body), roles_(roles), s_(schedule), target_(target) {}

  Expected<KernelText> print(const std::string& name) const {
    KernelText kernel;
    std::vector<LibraryProduct> products;
    for (size_t side = 0; side < roles_.columns.size(); ++side) products.push_back(LUMEN_TRY(product_of(side)));
    const DType factors = products[0].rows.dtype;
    const std::optional<DType> direct = rounded_sums();
    if (direct && is_result(*direct, factors)) {
      products[0].result.dtype = *direct;
    } else {
      SumsStore store(body_, roles_);
      LUMEN_TRY(store.settle(name, 1, kernel));
      kernel.faults = store.faults();
      for (size_t side = 0; side < products.size(); ++side) {
        LibraryMatrix& result = products[side].result;
        result.buffer = static_cast<uint32_t>(body_.outputs().size());
        result.offset = result.offset + roles_.result.numel() * static_cast<int64_t>(side);
        result.dtype = roles_.dtype == f64 ? f64 : f32;
      }
      kernel.scratch = ceil_div(kernel.scratch, kScratchAlign) * kScratchAlign;
    }
    std::vector<KernelStep> steps;
    for (size_t side = 0; side < products.size(); ++side) {
      products[side].workspace = target_.cuda ? kWorkspace : 0;
      KernelStep step{fmt::format("{}_product{}", name, side), Expr(1)};
      step.product = products[side];
      steps.push_back(std::move(step));
    }
    if (target_.cuda) kernel.scratch = kernel.scratch + kWorkspace;
    kernel.steps.insert(kernel.steps.begin(), steps.begin(), steps.end());
    return kernel;
  }

 private:
  Diag refused(std::string_view why) const {
    return error(fmt::format("{}, as the schedule \"{}\" wants", why, s_.str()));
  }

  // The dtype of the one output, when that is nothing but the sums.
  std::optional<DType> rounded_sums() const {
    if (body_.outputs().size() != 1 || roles_.contracts.size() != 1) return std::nullopt;
    const NodeId output = roles_.graph->outputs()[0].value;
    const Node& node = (*roles_.graph)[output];
    const bool sums = output == roles_.contracts[0];
    if (!sums && !(node.is<hlir::Cast>() && node.operands[0] == roles_.contracts[0])) return std::nullopt;
    return node.type.dtype;
  }

  Expected<LibraryProduct> product_of(size_t side) const {
    LibraryProduct product;
    product.rows = LUMEN_TRY(factor_of(roles_.rows, Role::row));
    product.columns = LUMEN_TRY(factor_of(roles_.columns[side], Role::column));
    product.result = LUMEN_TRY(result_of());
    product.batch = roles_.extent(Role::batch);
    product.row_count = roles_.extent(Role::row);
    product.column_count = roles_.extent(Role::column);
    product.summed = roles_.extent(Role::summed);
    product.algorithm = s_.algorithm;
    if (!is_multiplied(product.rows.dtype, product.columns.dtype, roles_.dtype, target_)) {
      return refused(
          fmt::format("no library multiplies {} by {} here", name(product.rows.dtype), name(product.columns.dtype)));
    }
    if (bounds(product.summed).lo < 1) return refused("a sum of nothing");
    if (is_8_bit(product.rows.dtype)) LUMEN_TRY(check_8_bits(product));
    return product;
  }

  Expected<void> check_8_bits(const LibraryProduct& product) const {
    const bool along = product.rows.along_summed && product.columns.along_summed;
    for (const Expr& e : {product.column_count, product.summed, product.rows.pitch, product.columns.pitch}) {
      if (!along || !(e % Expr(kNarrowestMultiple) == Expr(0))) return refused("8 bits, not in lines of 16");
    }
    return {};
  }

  Expected<LibraryMatrix> factor_of(NodeId factor, Role lane) const {
    const std::optional<StoredFactor> stored = stored_factor(roles_, *roles_.graph, factor);
    if (!stored) return refused("a factor that is computed");
    LibraryMatrix matrix;
    matrix.buffer = static_cast<uint32_t>(stored->input);
    matrix.dtype = stored->dtype;
    const std::optional<Expr> lanes = step_of(roles_, stored->index, lane);
    const std::optional<Expr> summed = step_of(roles_, stored->index, Role::summed);
    if (!lanes || !summed) return refused("a factor that is no matrix");
    const Expr lane_count = roles_.extent(lane), depth = roles_.extent(Role::summed);
    matrix.along_summed = *summed == Expr(1) || depth == Expr(1);
    if (!matrix.along_summed && !(*lanes == Expr(1)) && !(lane_count == Expr(1))) {
      return refused("a factor without neighbours");
    }
    const Expr length = matrix.along_summed ? depth : lane_count;
    const bool one_line = (matrix.along_summed ? lane_count : depth) == Expr(1);
    matrix.pitch = one_line ? length : matrix.along_summed ? *lanes : *summed;
    if (bounds(matrix.pitch - length).lo < 0) return refused("a factor whose lines overlap");
    LUMEN_TRY(place(stored->index, matrix));
    return matrix;
  }

  Expected<LibraryMatrix> result_of() const {
    const Expr index = roles_.result.flat_index(roles_.at_result());
    LibraryMatrix matrix;
    const std::optional<Expr> rows = step_of(roles_, index, Role::row);
    const std::optional<Expr> columns = step_of(roles_, index, Role::column);
    const Expr length = roles_.extent(Role::column);
    if (!rows || !columns || !(*columns == Expr(1) || length == Expr(1))) return refused("a result that is no matrix");
    matrix.pitch = roles_.extent(Role::row) == Expr(1) ? length : *rows;
    if (bounds(matrix.pitch - length).lo < 0) return refused("a result whose rows overlap");
    LUMEN_TRY(place(index, matrix));
    return matrix;
  }

  // Where the first element is, and the next batch.
  Expected<void> place(Expr index, LibraryMatrix& matrix) const {
    const std::optional<Expr> batch = step_of(roles_, index, Role::batch);
    if (!batch) return refused("batches without a step");
    matrix.batch_step = *batch;
    std::vector<std::pair<Expr, Expr>> origin;
    for (size_t role = 0; role < kRoles; ++role) {
      origin.emplace_back(Expr::index(static_cast<int>(role), roles_.extents[role]), Expr(0));
    }
    matrix.offset = substitute(index, origin);
    return {};
  }

  const Graph& body_;
  const ContractRoles& roles_;
  LibrarySchedule s_;
  const Target& target_;
};

}  // namespace

std::string LibrarySchedule::str() const { return schedule_text(*this, kMethods, kSizes); }

Expected<LibrarySchedule> LibrarySchedule::parse(std::string_view text) {
  return parse_schedule<LibrarySchedule>(text, kMethods, kSizes, "a library's product");
}

bool is_library_schedule(std::string_view text) { return text.substr(0, text.find(' ')) == kMethods[0].second; }

Expected<KernelText> print_library(const Graph& body, const std::string& name, const LibrarySchedule& schedule,
                                   const Target& target) {
  if (!target.library) return error("there is no library of matrix products here");
  const ContractRoles roles = LUMEN_TRY(contract_roles(body));
  return LibraryPrinter(body, roles, schedule, target).print(name);
}

std::vector<LibrarySchedule> library_schedules(const Graph& body, const Target& target) {
  LibrarySchedule first;
  if (!print_library(body, "k", first, target).ok()) return {};
  std::vector<LibrarySchedule> schedules{first};
  for (int64_t k = 1; k < (target.cuda ? kAlgorithms : 1); ++k) schedules.push_back({first.method, k});
  return schedules;
}

}  // namespace lumen
