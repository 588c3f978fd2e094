#include "lumen/runtime/program_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/element.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

constexpr int64_t kMostThreads = 1024;  // of a block

Json list(std::span<const uint32_t> numbers) { return Json(std::vector<uint32_t>(numbers.begin(), numbers.end())); }

Json matrix_json(const LibraryMatrix& matrix) {
  return {{"buffer", matrix.buffer},       {"dtype", name(matrix.dtype)},
          {"offset", matrix.offset.str()}, {"batch", matrix.batch_step.str()},
          {"pitch", matrix.pitch.str()},   {"along_summed", matrix.along_summed ? 1 : 0}};
}

Json product_json(const LibraryProduct& product) {
  return {{"rows", matrix_json(product.rows)},
          {"columns", matrix_json(product.columns)},
          {"result", matrix_json(product.result)},
          {"sizes", {product.batch.str(), product.row_count.str(), product.column_count.str(), product.summed.str()}},
          {"constant", product.constant},
          {"scales", list(product.scales)},
          {"algorithm", product.algorithm},
          {"workspace", product.workspace}};
}

Json kernel_json(const ProgramKernel& kernel) {
  Json steps = Json::array();
  for (const KernelStep& step : kernel.text.steps) {
    steps.push_back({{"name", step.name},
                     {"rows", step.rows.str()},
                     {"grain", step.grain},
                     {"threads", step.threads},
                     {"block_rows", step.block_rows},
                     {"walks", step.walks ? 1 : 0},
                     {"shared", step.shared},
                     {"copies", step.copies ? 1 : 0},
                     {"products", Json::array()}});
    if (step.product) steps.back()["products"].push_back(product_json(*step.product));
  }
  return {{"body", print(*kernel.body)},
          {"schedule", kernel.schedule},
          {"steps", steps},
          {"faults", kernel.text.faults},
          {"scratch", kernel.text.scratch.str()},
          {"in_place", kernel.text.in_place ? Json::array({*kernel.text.in_place}) : Json::array()}};
}

Expected<Expr> read_expr(const std::string& text, std::span<const Expr> dims) {
  std::string_view rest = text;
  const ExprScope scope{[&](std::string_view name) -> std::optional<Expr> {
                          for (const Expr& dim : dims) {
                            if (dim.dim_name() == name) return dim;
                          }
                          return std::nullopt;
                        },
                        {}};
  const Expr e = LUMEN_TRY(parse_expr(rest, scope));
  if (!rest.empty()) return error(fmt::format("\"{}\" is no expression", text));
  return e;
}

Expected<DType> read_dtype(const JsonMembers& members) {
  const std::string text = LUMEN_TRY(members.text("dtype"));
  const std::optional<DType> dtype = parse_dtype(text);
  if (!dtype) return error(fmt::format("no dtype \"{}\"", text));
  return *dtype;
}

// `buffers`: how many there are, with scratch.
Expected<LibraryMatrix> read_matrix(const Json& json, size_t buffers, std::span<const Expr> dims) {
  const JsonMembers members(json, "matrix");
  LibraryMatrix matrix;
  const int64_t buffer = LUMEN_TRY(members.number("buffer"));
  if (buffer < 0 || static_cast<size_t>(buffer) >= buffers) return members.wrong("buffer", "one of the kernel's");
  matrix.buffer = static_cast<uint32_t>(buffer);
  matrix.dtype = LUMEN_TRY(read_dtype(members));
  matrix.offset = LUMEN_TRY(read_expr(LUMEN_TRY(members.text("offset")), dims));
  matrix.batch_step = LUMEN_TRY(read_expr(LUMEN_TRY(members.text("batch")), dims));
  matrix.pitch = LUMEN_TRY(read_expr(LUMEN_TRY(members.text("pitch")), dims));
  matrix.along_summed = LUMEN_TRY(members.number("along_summed")) != 0;
  return matrix;
}

// What a product is multiplied by. The library reads scales at their addresses, and no other multiplies by any.
Expected<void> read_scales(const JsonMembers& members, const Graph& body, LibraryProduct& product) {
  product.constant = static_cast<float>(LUMEN_TRY(members.real("constant")));
  if (!std::isnormal(product.constant)) return members.wrong("constant", "a normal number of f32");
  product.scales = LUMEN_TRY(members.numbers("scales", body.inputs().size()));
  for (const uint32_t scale : product.scales) {
    const TensorType& type = body[body.inputs()[scale]].type;
    if (type.dtype != f32 || !(type.shape.numel() == Expr(1))) return members.wrong("scales", "single numbers of f32");
  }
  if (product.scales.size() > kMostScales) return members.wrong("scales", "two numbers at most");
  const bool is_scaled = product.constant != 1 || !product.scales.empty();
  if (is_scaled && !(is_byte_float(product.rows.dtype) && is_byte_float(product.columns.dtype))) {
    return members.wrong("scales", "of floats of 8 bits, as \"constant\"");
  }
  return {};
}

Expected<LibraryProduct> read_product(const Json& json, const Graph& body, std::span<const Expr> dims) {
  const JsonMembers members(json, "product");
  LibraryProduct product;
  const size_t inputs = body.inputs().size() + 1;
  product.rows = LUMEN_TRY(read_matrix(*LUMEN_TRY(members.object("rows")), inputs, dims));
  product.columns = LUMEN_TRY(read_matrix(*LUMEN_TRY(members.object("columns")), inputs, dims));
  product.result = LUMEN_TRY(read_matrix(*LUMEN_TRY(members.object("result")), body.outputs().size() + 1, dims));
  const Json& sizes = *LUMEN_TRY(members.array("sizes"));
  Expr* const places[] = {&product.batch, &product.row_count, &product.column_count, &product.summed};
  if (sizes.size() != std::size(places)) return members.wrong("sizes", "four texts");
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (!sizes[k].is_string()) return members.wrong("sizes", "four texts");
    *places[k] = LUMEN_TRY(read_expr(sizes[k].get<std::string>(), dims));
  }
  LUMEN_TRY(read_scales(members, body, product));
  product.algorithm = LUMEN_TRY(members.number("algorithm"));
  product.workspace = LUMEN_TRY(members.number("workspace"));
  if (product.algorithm < 0 || product.workspace < 0) return members.wrong("algorithm", "0 or more, as \"workspace\"");
  return product;
}

Expected<KernelStep> read_step(const Json& json, const Graph& body, std::span<const Expr> dims) {
  const JsonMembers members(json, "step");
  KernelStep step;
  step.name = LUMEN_TRY(members.text("name"));
  step.rows = LUMEN_TRY(read_expr(LUMEN_TRY(members.text("rows")), dims));
  step.grain = LUMEN_TRY(members.number("grain"));
  step.block_rows = LUMEN_TRY(members.number("block_rows"));
  step.shared = LUMEN_TRY(members.number("shared"));
  step.walks = LUMEN_TRY(members.number("walks")) != 0;
  step.copies = LUMEN_TRY(members.number("copies")) != 0;
  const int64_t threads = LUMEN_TRY(members.number("threads"));
  if (step.grain < 1) return members.wrong("grain", "1 or more");
  if (step.block_rows < 1) return members.wrong("block_rows", "1 or more");
  if (step.shared < 0) return members.wrong("shared", "0 or more");
  if (threads < 1 || threads > kMostThreads) return members.wrong("threads", "1 to 1024");
  step.threads = static_cast<int>(threads);
  for (const Json& each : *LUMEN_TRY(members.array("products"))) {
    step.product = LUMEN_TRY(read_product(each, body, dims));
  }
  return step;
}

Expected<TensorType> read_type(const Json& json, std::span<const Expr> dims) {
  const JsonMembers members(json, "value");
  const DType dtype = LUMEN_TRY(read_dtype(members));
  std::vector<Expr> shape;
  for (const Json& each : *LUMEN_TRY(members.array("shape"))) {
    if (!each.is_string()) return members.wrong("shape", "a list of texts");
    shape.push_back(LUMEN_TRY(read_expr(each.get<std::string>(), dims)));
  }
  return TensorType{dtype, Shape(shape)};
}

Expected<ProgramKernel> read_kernel(const Json& json) {
  const JsonMembers members(json, "kernel");
  ProgramKernel kernel;
  kernel.body = LUMEN_TRY(parse(LUMEN_TRY(members.text("body")), llir_ops(), "kernel"));
  kernel.schedule = LUMEN_TRY(members.text("schedule"));
  std::vector<Expr> dims;  // as kernels call them
  const ElementWriter writer(*kernel.body, 0);
  for (const Expr& dim : kernel.body->dims()) dims.push_back(writer.rename(dim));
  for (const Json& each : *LUMEN_TRY(members.array("steps"))) {
    kernel.text.steps.push_back(LUMEN_TRY(read_step(each, *kernel.body, dims)));
  }
  for (const Json& each : *LUMEN_TRY(members.array("faults"))) {
    if (!each.is_string()) return members.wrong("faults", "a list of texts");
    kernel.text.faults.push_back(each.get<std::string>());
  }
  kernel.text.scratch = LUMEN_TRY(read_expr(LUMEN_TRY(members.text("scratch")), dims));
  const std::vector<uint32_t> in_place = LUMEN_TRY(members.numbers("in_place", kernel.body->inputs().size()));
  if (in_place.size() > 1) return members.wrong("in_place", "one number at most");
  if (!in_place.empty()) kernel.text.in_place = in_place[0];
  for (const KernelStep& step : kernel.text.steps) {
    if (step.copies && !kernel.text.in_place) return members.wrong("in_place", "the input that a step copies");
  }
  return kernel;
}

// Every call finds its operands, with the types that its kernel wants; every value is made once.
Expected<void> check_calls(const Program& program) {
  std::vector<bool> made(program.values.size(), false);
  for (size_t k = 0; k < program.graph->inputs().size(); ++k) {
    made[k] = true;
    if (program.values[k] == (*program.graph)[program.graph->inputs()[k]].type) continue;
    return error(fmt::format("value {} is not of the type of input {}", k, k));
  }
  for (const ProgramCall& call : program.calls) {
    const Graph& body = *program.kernels[call.kernel].body;
    if (call.operands.size() != body.inputs().size() || call.results.size() != body.outputs().size()) {
      return error("a call with another number of operands or results than its kernel");
    }
    for (size_t k = 0; k < call.operands.size(); ++k) {
      const bool fits = made[call.operands[k]] && program.values[call.operands[k]] == body[body.inputs()[k]].type;
      if (!fits) return error(fmt::format("value {} is read before it is made, or as another type", call.operands[k]));
    }
    for (size_t k = 0; k < call.results.size(); ++k) {
      const uint32_t value = call.results[k];
      const bool fits = !made[value] && program.values[value] == body[body.outputs()[k].value].type;
      if (!fits) return error(fmt::format("value {} is made twice, or as another type", value));
      made[value] = true;
    }
  }
  for (const uint32_t value : program.outputs) {
    if (!made[value]) return error(fmt::format("value {} is an output and is never made", value));
  }
  return {};
}

}  // namespace

const Json* JsonMembers::find(const char* name) const {
  const auto found = json_.is_object() ? json_.find(name) : json_.end();
  return found == json_.end() ? nullptr : &*found;
}

Diag JsonMembers::wrong(const char* name, const std::string& wanted) const {
  return error(fmt::format("\"{}\" of the {} is not {}", name, what_, wanted));
}

Expected<const Json*> JsonMembers::array(const char* name) const {
  const Json* found = find(name);
  if (found == nullptr || !found->is_array()) return wrong(name, "a list");
  return found;
}

Expected<const Json*> JsonMembers::object(const char* name) const {
  const Json* found = find(name);
  if (found == nullptr || !found->is_object()) return wrong(name, "an object");
  return found;
}

Expected<std::string> JsonMembers::text(const char* name) const {
  const Json* found = find(name);
  if (found == nullptr || !found->is_string()) return wrong(name, "a text");
  return found->get<std::string>();
}

Expected<int64_t> JsonMembers::number(const char* name) const {
  const Json* found = find(name);
  if (found == nullptr || !found->is_number_integer()) return wrong(name, "a number");
  return found->get<int64_t>();
}

Expected<double> JsonMembers::real(const char* name) const {
  const Json* found = find(name);
  if (found == nullptr || !found->is_number()) return wrong(name, "a number");
  return found->get<double>();
}

Expected<std::vector<uint32_t>> JsonMembers::numbers(const char* name, size_t end) const {
  std::vector<uint32_t> numbers;
  for (const Json& each : *LUMEN_TRY(array(name))) {
    if (!each.is_number_unsigned() || each.get<uint64_t>() >= end) return wrong(name, fmt::format("below {}", end));
    numbers.push_back(each.get<uint32_t>());
  }
  return numbers;
}

Json program_json(const Program& program) {
  Json kernels = Json::array(), calls = Json::array(), values = Json::array();
  for (const ProgramKernel& kernel : program.kernels) kernels.push_back(kernel_json(kernel));
  for (const ProgramCall& call : program.calls) {
    calls.push_back({{"kernel", call.kernel},
                     {"operands", list(call.operands)},
                     {"results", list(call.results)},
                     {"joins", call.joins ? 1 : 0}});
  }
  for (const TensorType& type : program.values) {
    Json shape = Json::array();
    for (const Expr& dim : type.shape) shape.push_back(dim.str());
    values.push_back({{"dtype", name(type.dtype)}, {"shape", shape}});
  }
  return {{"graph", print(*program.graph)},
          {"values", values},
          {"kernels", kernels},
          {"calls", calls},
          {"outputs", list(program.outputs)}};
}

Expected<Program> read_program_json(const Json& json, const Graph& whole) {
  const JsonMembers members(json, "program");
  Program program;
  program.graph = LUMEN_TRY(parse(LUMEN_TRY(members.text("graph")), llir_ops(), "program"));
  const Graph& graph = *program.graph;
  if (graph.inputs().size() != whole.inputs().size() || graph.outputs().size() != whole.outputs().size() ||
      graph.dims().size() > whole.dims().size()) {
    return members.wrong("graph", "one with the inputs, outputs and dims of the file's");
  }
  for (const Json& each : *LUMEN_TRY(members.array("values"))) {
    program.values.push_back(LUMEN_TRY(read_type(each, graph.dims())));
  }
  if (program.values.size() < graph.inputs().size()) return members.wrong("values", "as long as the inputs");
  for (const Json& each : *LUMEN_TRY(members.array("kernels"))) {
    program.kernels.push_back(LUMEN_TRY(read_kernel(each)));
  }
  for (const Json& each : *LUMEN_TRY(members.array("calls"))) {
    const JsonMembers call(each, "call");
    const int64_t kernel = LUMEN_TRY(call.number("kernel"));
    if (kernel < 0 || kernel >= static_cast<int64_t>(program.kernels.size())) return call.wrong("kernel", "a kernel");
    ProgramCall& read = program.calls.emplace_back();
    read.kernel = static_cast<uint32_t>(kernel);
    read.operands = LUMEN_TRY(call.numbers("operands", program.values.size()));
    read.results = LUMEN_TRY(call.numbers("results", program.values.size()));
    read.joins = LUMEN_TRY(call.number("joins")) != 0;
  }
  program.outputs = LUMEN_TRY(members.numbers("outputs", program.values.size()));
  if (program.outputs.size() != graph.outputs().size()) return members.wrong("outputs", "as long as the graph's");
  LUMEN_TRY(check_calls(program));
  LUMEN_TRY(plan_program(program));
  return program;
}

}  // namespace lumen
