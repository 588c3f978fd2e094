#include "lumen/codegen/contract_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lumen/codegen/constant_of.h"
#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/schedule_text.h"
#include "lumen/codegen/wide_store.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr MethodWords<LibraryMethod, 1> kLibraryMethods = {
    std::pair{LibraryMethod::library, std::string_view("library")}};
constexpr SizeNames<LibrarySchedule, 1> kLibrarySizes = {
    std::pair{std::string_view("algorithm"), &LibrarySchedule::algorithm}};

constexpr int64_t kAlgorithms = 2;        // that are tried
constexpr int64_t kWorkspace = 32 << 20;  // bytes; what the library's makers advise for an H100
constexpr int64_t kScratchAlign = 256;    // of what is in scratch
constexpr int64_t kFewRowsBefore = 16;    // are not worth a step before
constexpr int64_t kMostPacked = 1 << 30;  // bytes of a factor
constexpr int64_t kColumnsAtOnce = 1024;  // columns of a row that a block has at a time, when outputs are made of sums
constexpr int64_t kByteMultiple = 16;     // floats of 8 bits: lines are whole numbers of these
constexpr int kFirstBytes = 89;           // the compute capability that multiplies them

bool is_whole_bytes(Expr e) { return e % Expr(kByteMultiple) == Expr(0); }

// Whether the library of the target multiplies them, and which results it can round to.
bool is_multiplied(DType rows, DType columns, DType sum, const Target& target) {
  if ((rows == f64) != (sum == f64) || !is_float(sum)) return false;
  if (rows == columns && (rows == f32 || rows == f64)) return true;
  if (!target.cuda) return false;
  if (is_byte_float(rows) && is_byte_float(columns)) {
    return target.sm >= kFirstBytes && (rows == f8e4m3 || columns == f8e4m3);
  }
  return rows == columns && (rows == bf16 || rows == f16);
}
bool is_result(DType result, DType factors) {
  if (result == factors && !is_byte_float(result)) return true;
  return result == f32 ? factors != f64 : is_byte_float(factors) && (result == bf16 || result == f16);
}

// An output that is nothing but sums, multiplied by numbers and rounded; nothing where it is more.
class ScaledSums {
 public:
  static std::optional<ScaledSums> find(const Graph& graph, NodeId output, NodeId sums) {
    ScaledSums found(graph, sums);
    found.dtype_ = graph[output].type.dtype;
    if (output != sums && graph[output].is<hlir::Cast>()) output = graph[output].operands[0];
    return found.take(output, true) && found.has_sums_ ? std::optional(found) : std::nullopt;
  }

  DType dtype() const { return dtype_; }  // of the output
  bool is_scaled() const { return constant_ || !scales_.empty(); }
  float constant() const { return constant_.value_or(1); }
  const std::vector<uint32_t>& scales() const { return scales_; }

 private:
  ScaledSums(const Graph& graph, NodeId sums) : graph_(&graph), sums_(sums) {}

  // Few numbers are taken, so that powers by squaring end soon, too. Sums behind views lie elsewhere.
  bool take(NodeId id, bool may_be_sums) {
    if (id == sums_) return may_be_sums && !std::exchange(has_sums_, true);
    const NodeId source = behind_views(*graph_, id);
    const Node& node = (*graph_)[source];
    if (node.is<hlir::Mul>()) {
      const bool may = may_be_sums && source == id;
      return take(node.operands[0], may) && take(node.operands[1], may);
    }
    if (const std::optional<double> number = constant_of(*graph_, source)) {
      const auto constant = static_cast<float>(*number);
      return node.type.dtype == f32 && std::isnormal(constant) && !std::exchange(constant_, constant);
    }
    const auto input = std::ranges::find(graph_->inputs(), source);
    if (input == graph_->inputs().end() || node.type.dtype != f32 || !(node.type.shape.numel() == Expr(1)))
      return false;
    scales_.push_back(static_cast<uint32_t>(input - graph_->inputs().begin()));
    return scales_.size() <= kMostScales;
  }

  const Graph* graph_;
  NodeId sums_;
  DType dtype_{};
  bool has_sums_ = false;
  std::optional<float> constant_;
  std::vector<uint32_t> scales_;
};

class LibraryPrinter {
 public:
  LibraryPrinter(const Graph& body, const ContractRoles& roles, const LibrarySchedule& schedule, const Target& target)
      : body_(body), roles_(roles), s_(schedule), target_(target) {}

  Expected<KernelText> print(const std::string& name) {
    if (grain_of(body_) > 1) return refused("outputs whose elements share bytes");
    std::vector<LibraryProduct> products;
    takes_bytes_ = all_are_bytes();
    const LibraryMatrix rows = LUMEN_TRY(factor_of(roles_.rows, Role::row, name + "_rows"));
    for (size_t side = 0; side < roles_.columns.size(); ++side) {
      const std::string packed = fmt::format("{}_columns{}", name, side);
      products.push_back(LUMEN_TRY(product_of(rows, LUMEN_TRY(factor_of(roles_.columns[side], Role::column, packed)))));
    }
    const std::optional<ScaledSums> scaled = scaled_sums();
    const Expected<LibraryMatrix> direct = result_of();
    const bool is_direct = scaled && is_result(scaled->dtype(), rows.dtype) && direct.ok();
    sum_dtype_ = stored_sums(rows.dtype);
    const Expr sums = is_direct ? Expr(0) : reserve(result_count() * (std::ssize(products) * sum_size()));
    for (size_t side = 0; side < products.size(); ++side) {
      LibraryProduct& product = products[side];
      product.result = is_direct ? *direct : sums_of(sums, side);
      if (is_direct) {
        product.result.dtype = scaled->dtype();
        product.constant = scaled->constant();
        product.scales = scaled->scales();
      }
      product.workspace = target_.cuda ? kWorkspace : 0;
      KernelStep step{fmt::format("{}_product{}", name, side), Expr(1)};
      step.product = product;
      kernel_.steps.push_back(std::move(step));
    }
    if (!is_direct) LUMEN_TRY(settle(name, sums));
    if (target_.cuda) kernel_.scratch = kernel_.scratch + kWorkspace;
    return std::move(kernel_);
  }

 private:
  Diag refused(std::string_view why) const {
    return error(fmt::format("{}, as the schedule \"{}\" wants", why, s_.str()));
  }

  // Bytes of scratch: where they begin, in multiples of kScratchAlign.
  Expr reserve(Expr bytes) {
    const Expr begin = kernel_.scratch / kScratchAlign;
    kernel_.scratch = kernel_.scratch + ceil_div(bytes, kScratchAlign) * kScratchAlign;
    return begin;
  }
  Expr result_count() const {
    return roles_.extent(Role::batch) * roles_.extent(Role::row) * roles_.extent(Role::column);
  }
  // What sums are stored as: rounded, where that is all that is done with them.
  DType stored_sums(DType factors) const {
    const DType wide = roles_.dtype == f64 ? f64 : f32;
    std::optional<DType> rounded;
    const auto is_sum = [&](NodeId id) { return std::ranges::find(roles_.contracts, id) != roles_.contracts.end(); };
    for (const Output& output : roles_.graph->outputs()) {
      if (is_sum(output.value)) return wide;
    }
    for (const NodeId id : roles_.graph->order()) {
      const Node& node = (*roles_.graph)[id];
      if (!std::ranges::any_of(node.operands, is_sum)) continue;
      if (!node.is<hlir::Cast>() || node.type.dtype != rounded.value_or(node.type.dtype)) return wide;
      rounded = node.type.dtype;
    }
    return rounded && is_result(*rounded, factors) ? *rounded : wide;
  }
  int64_t sum_size() const { return info(sum_dtype_).bits / 8; }

  // Sums in scratch: [Contract][batch][row][column].
  LibraryMatrix sums_of(Expr begin, size_t side) const {
    LibraryMatrix matrix;
    matrix.buffer = static_cast<uint32_t>(body_.outputs().size());
    matrix.dtype = sum_dtype_;
    matrix.offset = begin * (kScratchAlign / sum_size()) + result_count() * static_cast<int64_t>(side);
    matrix.pitch = roles_.extent(Role::column);
    matrix.batch_step = roles_.extent(Role::row) * matrix.pitch;
    return matrix;
  }

  // The last step: outputs of sums in scratch.
  Expected<void> settle(const std::string& name, Expr begin) {
    const Expr columns = roles_.extent(Role::column), lines = roles_.extent(Role::batch) * roles_.extent(Role::row);
    const Expr chunks = max(ceil_div(columns, kColumnsAtOnce), 1), along = variable(Role::column);
    const int64_t width = group_width(body_, columns);
    ElementWriter writer(*roles_.graph, 4, kernel_.faults);
    WideStore stores(writer, body_, along, "i2", width);
    std::vector<size_t> outputs;
    for (size_t k = 0; k < body_.outputs().size(); ++k) outputs.push_back(k);
    stores.open(fmt::format("LUMEN_GROUPS(i2, {}, first, lumen_min_i64(first + {}, {}))", width, kColumnsAtOnce,
                            number(columns)),
                bounds(columns).lo < 1, outputs);
    for (size_t side = 0; side < roles_.contracts.size(); ++side) {
      const Expr line = variable(Role::batch) * roles_.extent(Role::row) + variable(Role::row);
      const Expr flat = sums_of(begin, side).offset + line * columns + along;
      const std::string sum =
          width > 1 && ElementWriter::lies_in_groups(flat, along, width)
              ? writer.take({storage_type(sum_dtype_), info(sum_dtype_).bits / 8}, "sums", flat, along)
              : fmt::format("sums[{}]", writer.index(flat));
      writer.line(
          fmt::format("const {} sum{} = {}({});", compute_type(roles_.dtype), side, load_function(sum_dtype_), sum));
      writer.know(roles_.contracts[side], roles_.at_result(), fmt::format("sum{}", side));
    }
    for (const size_t k : outputs) {
      const std::string value = writer.to_store(roles_.graph->outputs()[k].value, roles_.at_result());
      stores.store(k, roles_.result.flat_index(roles_.at_result()), value);
    }
    stores.close();
    if (!writer.problem().empty()) return error(writer.problem());
    kernel_.faults = writer.faults();
    kernel_.text += kernel_head(body_, name) +
                    fmt::format(
                        "  const {T}* LUMEN_RESTRICT const sums = (const {T}*)LUMEN_OUT({k});\n"
                        "  LUMEN_ROWS(row) {{\n"
                        "    const int64_t line = row / {chunks}, first = row % {chunks} * {chunk};\n"
                        "    const int64_t i0 = line / {M}, i1 = line % {M};\n{text}  }}\n  LUMEN_RETURN;\n}}\n",
                        fmt::arg("T", storage_type(sum_dtype_)), fmt::arg("k", body_.outputs().size()),
                        fmt::arg("chunks", number(chunks)), fmt::arg("chunk", kColumnsAtOnce),
                        fmt::arg("M", number(extent_or_one(Role::row))), fmt::arg("text", writer.text()));
    kernel_.steps.push_back({name, lines * chunks});
    return {};
  }
  Expr variable(Role role) const { return Expr::index(static_cast<int>(role), roles_.extent(role)); }
  Expr extent_or_one(Role role) const { return max(roles_.extent(role), 1); }

  // What the library gives as the one output: it scales products of floats of 8 bits.
  std::optional<ScaledSums> scaled_sums() const {
    if (body_.outputs().size() != 1 || roles_.contracts.size() != 1) return std::nullopt;
    std::optional<ScaledSums> found =
        ScaledSums::find(*roles_.graph, roles_.graph->outputs()[0].value, roles_.contracts[0]);
    return found && found->is_scaled() && !takes_bytes_ ? std::nullopt : found;
  }

  Expected<LibraryProduct> product_of(const LibraryMatrix& rows, const LibraryMatrix& columns) const {
    LibraryProduct product;
    product.rows = rows;
    product.columns = columns;
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
    if (is_byte_float(product.rows.dtype) &&
        !(is_whole_bytes(product.column_count) && is_whole_bytes(product.summed))) {
      return refused("floats of 8 bits that are no multiples of 16");
    }
    return product;
  }

  // Whether every factor is, or was before it was widened, of floats of 8 bits that the library multiplies.
  bool all_are_bytes() const {
    const std::optional<NarrowFactor> rows = byte_factor(roles_, roles_.rows);
    if (!rows || !is_whole_bytes(roles_.extent(Role::column)) || !is_whole_bytes(roles_.extent(Role::summed)))
      return false;
    return std::ranges::all_of(roles_.columns, [&](NodeId factor) {
      const std::optional<NarrowFactor> columns = byte_factor(roles_, factor);
      return columns && is_multiplied(rows->dtype, columns->dtype, roles_.dtype, target_);
    });
  }
  // Whether the library takes it as it lies: floats of 8 bits have lines along the sum, 16 bytes at a time.
  static bool is_taken(const LibraryMatrix& matrix) {
    return matrix.along_summed && is_whole_bytes(matrix.pitch) && is_whole_bytes(matrix.offset) &&
           is_whole_bytes(matrix.batch_step);
  }

  // Where a factor lies; one that is computed, or no matrix, is made one in scratch by a step before.
  Expected<LibraryMatrix> factor_of(NodeId factor, Role lane, const std::string& name) {
    Expected<LibraryMatrix> stored = stored_matrix(factor, lane);
    if (stored.ok() && takes_bytes_ && !is_taken(*stored))
      stored = refused("floats of 8 bits that do not lie in lines of 16");
    const bool packs = target_.cuda && bounds(roles_.extent(Role::row)).hi > kFewRowsBefore;
    return stored.ok() || !packs ? std::move(stored) : packed_matrix(factor, lane, name);
  }

  Expected<LibraryMatrix> packed_matrix(NodeId factor, Role lane, const std::string& name) {
    const Expr lanes = roles_.extent(lane), depth = roles_.extent(Role::summed);
    const Expr count = roles_.extent(Role::batch) * lanes * depth;
    NarrowFactor held{roles_.graph, factor, roles_.dtype, ""};
    auto narrow = takes_bytes_ ? byte_factor(roles_, factor) : narrow_factor(roles_, factor);
    if (narrow && is_float(narrow->dtype)) held = *std::move(narrow);
    const int64_t size = info(held.dtype).bits / 8;
    if (bounds(count).hi > kMostPacked / size) return refused("a factor that is no matrix, and large");
    LibraryMatrix matrix;
    matrix.buffer = static_cast<uint32_t>(body_.inputs().size());
    matrix.dtype = held.dtype;
    matrix.offset = reserve(count * size) * (kScratchAlign / size);
    matrix.batch_step = lanes * depth;
    matrix.pitch = depth;
    matrix.along_summed = true;

    const int64_t width = group_width(body_, depth);
    ElementWriter writer(*held.graph, 4, kernel_.faults);
    const bool may_be_empty = bounds(depth).lo < 1;
    writer.open_loop(fmt::format("LUMEN_GROUPS(i3, {}, 0, {})", width, number(depth)), Expr(0), may_be_empty);
    writer.line(fmt::format("LUMEN_HOLD({}, held, {});", storage_type(held.dtype), width));
    writer.open_group(fmt::format("LUMEN_EACH(i3, {})", width), variable(Role::summed), may_be_empty,
                      {width, "i3_group", "i3 - i3_group"});
    const std::string value = writer.value(held.node, roles_.at);
    writer.line(fmt::format("LUMEN_KEEP(held, i3 - i3_group, packed[row * {} + i3], {}({}));", number(depth),
                            held.convert, value));
    writer.close();
    writer.line(fmt::format("LUMEN_FLUSH(held, {}, packed, i{}, i3_group, row * {} + i{});", width, kFirstOfGroup,
                            number(depth), kFirstOfGroup));
    writer.close();
    if (!writer.problem().empty()) return error(writer.problem());
    kernel_.faults = writer.faults();
    const int threads = threads_for(depth, width);
    kernel_.text += kernel_head(body_, name, threads) +
                    fmt::format(
                        "  {T}* LUMEN_RESTRICT const packed = ({T}*)LUMEN_OUT({k}) + {offset};\n"
                        "  LUMEN_ROWS(row) {{\n    const int64_t i0 = row / {L}, i{lane} = row % {L};\n{text}  }}\n"
                        "  LUMEN_RETURN;\n}}\n",
                        fmt::arg("T", storage_type(held.dtype)), fmt::arg("k", body_.outputs().size()),
                        fmt::arg("offset", number(matrix.offset)), fmt::arg("L", number(extent_or_one(lane))),
                        fmt::arg("lane", static_cast<int>(lane)), fmt::arg("text", writer.text()));
    KernelStep step{name, roles_.extent(Role::batch) * lanes};
    step.threads = threads;
    kernel_.steps.push_back(std::move(step));
    return matrix;
  }

  Expected<LibraryMatrix> stored_matrix(NodeId factor, Role lane) const {
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
  KernelText kernel_;
  DType sum_dtype_ = f32;
  bool takes_bytes_ = false;  // factors are multiplied as floats of 8 bits
};

}  // namespace

std::string LibrarySchedule::str() const { return schedule_text(*this, kLibraryMethods, kLibrarySizes); }

Expected<LibrarySchedule> LibrarySchedule::parse(std::string_view text) {
  return parse_schedule<LibrarySchedule>(text, kLibraryMethods, kLibrarySizes, "a library's product");
}

bool is_library_schedule(std::string_view text) { return text.substr(0, text.find(' ')) == kLibraryMethods[0].second; }

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
