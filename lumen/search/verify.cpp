#include "lumen/search/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lumen/backend/buffer.h"
#include "lumen/backend/cpu/work_dir.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/hlir/reduce.h"
#include "lumen/ir/random_tensor.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/kernel/title.h"
#include "lumen/search/lower.h"

namespace lumen::search {

namespace {

constexpr int64_t kSmallDim = 7;
constexpr double kLongestInterpretation = 1.0;  // seconds
constexpr double kFlippedShare = 0.01;          // of elements, where a comparison may go either way

double size_of(Expr e, const DimValues& dims) {
  const Expected<int64_t> value = evaluate(e, dims);
  return value.ok() ? static_cast<double>(*value) : 1;
}

// Where a rounding error can change a result by more than itself.
bool is_discontinuous(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const Node& node = graph[id];
    if (node.operands.empty() || !is_float(graph[node.operands[0]].type.dtype)) return false;
    const std::string_view name = node.op->name;
    return !is_float(node.type.dtype) || name == "Floor" || name == "Mod";
  });
}

struct Tensors {
  std::vector<Buffer> buffers;
  std::vector<const void*> inputs;
  std::vector<void*> wanted, got;
};

Expected<Tensors> make_tensors(const Graph& graph, const DimValues& dims) {
  Tensors tensors;
  for (const NodeId id : graph.inputs()) {
    Buffer& buffer = tensors.buffers.emplace_back(LUMEN_TRY(graph[id].type.bytes(dims)));
    const auto seed = static_cast<int64_t>(tensors.buffers.size());
    fill_random(graph[id].type.dtype, {buffer.data(), static_cast<size_t>(buffer.bytes())}, seed);
    tensors.inputs.push_back(buffer.data());
  }
  for (std::vector<void*>* side : {&tensors.wanted, &tensors.got}) {
    for (const Output& output : graph.outputs()) {
      Buffer& buffer = tensors.buffers.emplace_back(LUMEN_TRY(graph[output.value].type.bytes(dims)));
      std::fill_n(buffer.data(), buffer.bytes(), std::byte{0xa5});
      side->push_back(buffer.data());
    }
  }
  return tensors;
}

HostTensor read(const TensorType& type, const DimValues& dims, const void* data) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
  const auto bytes = static_cast<size_t>(storage_bytes(type.dtype, tensor.numel()));
  unpack(type.dtype, {static_cast<const std::byte*>(data), bytes}, tensor.lanes);
  return tensor;
}

bool is_close(const Scalar& a, const Scalar& b, double scale, double tolerance) {
  if (!is_float(a.dtype)) return a == b;
  const double x = a.value.f, y = b.value.f;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == y) return true;
  return std::abs(x - y) <= tolerance * (scale + std::abs(x));
}

Expected<void> compare_tensors(const HostTensor& wanted, const HostTensor& got, double tolerance, bool may_flip,
                               std::string_view name) {
  double squares = 0;
  for (const Lane& lane : wanted.lanes) {
    if (is_float(wanted.dtype) && std::isfinite(lane.f)) squares += lane.f * lane.f;
  }
  const double scale = std::sqrt(squares / std::max<double>(1, static_cast<double>(wanted.numel())));
  int64_t wrong = 0;
  size_t first = 0;
  for (size_t k = 0; k < wanted.lanes.size(); ++k) {
    const Scalar a{wanted.dtype, wanted.lanes[k]}, b{got.dtype, got.lanes[k]};
    if (is_close(a, b, scale, tolerance)) continue;
    if (wrong++ == 0) first = k;
  }
  if (wrong == 0 ||
      (may_flip && static_cast<double>(wrong) <= 1 + kFlippedShare * static_cast<double>(wanted.numel()))) {
    return {};
  }
  return error(fmt::format("output \"{}\": {} of {} elements differ; element {} is {}, not {} (tolerance {:.2g})", name,
                           wrong, wanted.numel(), first, Scalar{got.dtype, got.lanes[first]}.str(),
                           Scalar{wanted.dtype, wanted.lanes[first]}.str(), tolerance));
}

// The graph as it is written, in kernels that nobody tuned.
Expected<std::unique_ptr<Executable>> plainly(const std::shared_ptr<const Graph>& graph,
                                              const cpu::Compiler& compiler) {
  const DimValues dims = small_dims(*graph);
  if (interpreting_seconds(*graph, dims) <= kLongestInterpretation) return reference_executable(expand(*graph));
  Tuner tuner(compiler, cpu::shared_pool(), TuneOptions{dims, false, nullptr, {"-O2"}});
  std::vector<Program> programs;
  programs.push_back(LUMEN_TRY(lower(expand(*graph), FusionPolicy::always, tuner)).program);
  std::vector<cpu::Binary> binaries = LUMEN_TRY(cpu::build(std::move(programs), compiler, {"-O2"}));
  return cpu::make_executable(std::move(binaries[0]));
}

// The first kernel that is wrong on its own, with what is wrong about it; empty when there is none.
Expected<std::string> find_wrong_kernel(const cpu::Binary& binary, const cpu::Compiler& compiler) {
  for (const ProgramKernel& kernel : binary.program.kernels) {
    if (kernel.text.steps.empty()) continue;
    std::vector<Program> programs;
    programs.push_back(LUMEN_TRY(alone(kernel)));
    std::vector<cpu::Binary> own = LUMEN_TRY(cpu::build(std::move(programs), compiler));
    const std::unique_ptr<Executable> got = LUMEN_TRY(cpu::make_executable(std::move(own[0])));
    const std::unique_ptr<Executable> wanted = LUMEN_TRY(plainly(kernel.body, compiler));
    const Expected<void> same = compare_executables(*kernel.body, small_dims(*kernel.body), *wanted, *got);
    if (same.ok()) continue;
    cpu::WorkDir work = LUMEN_TRY(cpu::WorkDir::make());
    LUMEN_TRY(cpu::write_file(work.file("kernel.llir"), print(*kernel.body)));
    return fmt::format("the kernel {} ({}) is wrong: {}; its body is in {}", kernel_title(*kernel.body),
                       kernel.schedule, same.diag().str(), work.keep_only("kernel.llir"));
  }
  return std::string();
}

}  // namespace

DimValues small_dims(const Graph& graph) {
  DimValues dims;
  for (const Expr& dim : graph.dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    dims.set(dim.dim_name(), std::clamp(kSmallDim, lo, hi));
  }
  return dims;
}

double interpreting_seconds(const Graph& graph, const DimValues& dims) {
  constexpr double kSecondsPerElement = 4e-9;
  double elements = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    elements += size_of(node.type.shape.numel(), dims);
    if (node.is<llir::Contract>()) elements += 3 * size_of(node.as<llir::Contract>().left.shape().numel(), dims);
  }
  return elements * kSecondsPerElement;
}

double tolerance_of(const Graph& graph, const DimValues& dims) {
  double unit = std::ldexp(1.0, -52);
  double longest = 1;
  double ops = 1;
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    ++ops;
    if (is_float(node.type.dtype)) unit = std::max(unit, std::ldexp(1.0, -info(node.type.dtype).mantissa_bits));
    for (const NodeId operand : node.operands) {
      const double ratio =
          size_of(graph[operand].type.shape.numel(), dims) / std::max(1.0, size_of(node.type.shape.numel(), dims));
      if (!node.op->is_elementwise()) longest = std::max(longest, ratio);
    }
    if (node.is<llir::Contract>()) {
      const double domain = size_of(node.as<llir::Contract>().left.shape().numel(), dims);
      longest = std::max(longest, domain / std::max(1.0, size_of(node.type.shape.numel(), dims)));
    }
  }
  return std::min(0.1, 16 * unit * std::sqrt(longest) * std::sqrt(ops));
}

Expected<void> compare_executables(const Graph& graph, const DimValues& dims, Executable& wanted, Executable& got) {
  std::vector<int64_t> values;
  for (const Expr& dim : graph.dims()) values.push_back(LUMEN_TRY(evaluate(dim, dims)));
  const Tensors tensors = LUMEN_TRY(make_tensors(graph, dims));
  LUMEN_TRY(wanted.prepare(values));
  LUMEN_TRY(got.prepare(values));
  const Expected<void> reference = wanted.run(tensors.inputs, tensors.wanted);
  const Expected<void> result = got.run(tensors.inputs, tensors.got);
  if (!reference.ok() && !result.ok()) return {};  // a fault on these inputs, by both
  if (!reference.ok() || !result.ok()) {
    return error(fmt::format("one of two fails: {}", reference.ok() ? result.diag().str() : reference.diag().str()));
  }
  const double tolerance = tolerance_of(graph, dims);
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const TensorType type = graph[graph.outputs()[k].value].type;
    LUMEN_TRY(compare_tensors(read(type, dims, tensors.wanted[k]), read(type, dims, tensors.got[k]), tolerance,
                              is_discontinuous(graph), graph.outputs()[k].name.str()));
  }
  return {};
}

Expected<void> verify(const std::shared_ptr<const Graph>& graph, const cpu::Binary& binary,
                      const cpu::Compiler& compiler) {
  const std::unique_ptr<Executable> got = LUMEN_TRY(cpu::make_executable(binary));
  const std::unique_ptr<Executable> wanted = LUMEN_TRY(plainly(graph, compiler));
  Expected<void> same = compare_executables(*graph, small_dims(*graph), *wanted, *got);
  if (same.ok()) return {};
  const std::string kernel = LUMEN_TRY(find_wrong_kernel(binary, compiler));
  Diag diag = error("[verify] the program that was found does not compute the graph: " + same.diag().str());
  diag.notes.push_back(kernel.empty() ? "every kernel is right on its own: a rule is wrong" : kernel);
  return diag;
}

}  // namespace lumen::search
