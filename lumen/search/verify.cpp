#include "lumen/search/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lumen/backend/buffer.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/random_tensor.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/find_fault.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"

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

// Matrices as models have them: a product with one keeps numbers about as large as they were, so that softmax and the
// like are not all or nothing.
double scale_of(const Shape& shape, const DimValues& dims) {
  return shape.rank() < 2 ? 1 : 1 / std::sqrt(std::max(1.0, size_of(shape[shape.rank() - 1], dims)));
}

Expected<Tensors> make_tensors(const Graph& graph, const DimValues& dims) {
  Tensors tensors;
  for (const NodeId id : graph.inputs()) {
    Buffer& buffer = tensors.buffers.emplace_back(LUMEN_TRY(graph[id].type.bytes(dims)));
    const auto seed = static_cast<int64_t>(tensors.buffers.size());
    fill_random(graph[id].type.dtype, {buffer.data(), static_cast<size_t>(buffer.bytes())}, seed,
                scale_of(graph[id].type.shape, dims));
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

// How large the numbers are that results are made of: about the mean. Where a few are much larger (what was written to
// a cache beside what was there), small ones among them may be differences of these.
double magnitude_of(const HostTensor& tensor) {
  constexpr double kMuchLarger = 16;
  double squares = 0, largest = 0;
  for (const Lane& lane : tensor.lanes) {
    if (!std::isfinite(lane.f)) continue;
    squares += lane.f * lane.f;
    largest = std::max(largest, std::abs(lane.f));
  }
  const double mean = std::sqrt(squares / std::max<double>(1, static_cast<double>(tensor.numel())));
  return std::max(mean, largest / kMuchLarger);
}

// Of an output that says where the largest elements of another are: which other, and along which axis.
struct Points {
  size_t output;
  int64_t axis;
};

std::optional<Points> points_of(const Graph& graph, NodeId id) {
  while (graph[id].is<hlir::Cast>() || (graph[id].is<hlir::View>() && is_identity(graph[id].as<hlir::View>().view))) {
    id = graph[id].operands[0];
  }
  if (!graph[id].is<hlir::ArgMax>()) return {};
  const NodeId values = graph[id].operands[0];
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    if (graph.outputs()[k].value == values) return Points{k, graph[id].as<hlir::ArgMax>().axis};
  }
  return {};
}

// An index is right where it points at an element about as large as the right one does: of two that differ by a
// rounding, either may be found.
HostTensor pointed_at(const HostTensor& index, const HostTensor& values, int64_t axis) {
  HostTensor found = HostTensor::poisoned(values.dtype, index.dims);
  int64_t inner = 1;
  for (size_t k = static_cast<size_t>(axis) + 1; k < values.dims.size(); ++k) inner *= values.dims[k];
  const int64_t length = values.dims[static_cast<size_t>(axis)];
  for (int64_t k = 0; k < index.numel(); ++k) {
    const int64_t at = index.lanes[static_cast<size_t>(k)].i;
    Lane& lane = found.lanes[static_cast<size_t>(k)];
    lane.f = std::numeric_limits<double>::infinity();  // points at nothing
    if (at >= 0 && at < length) lane = values.lanes[static_cast<size_t>((k / inner * length + at) * inner + k % inner)];
  }
  return found;
}

Expected<void> compare_tensors(const HostTensor& wanted, const HostTensor& got, double scale, double tolerance,
                               bool may_flip, std::string_view name) {
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
  std::vector<int64_t> sizes;
  for (const Expr& dim : graph.dims()) sizes.push_back(LUMEN_TRY(evaluate(dim, dims)));
  const Tensors tensors = LUMEN_TRY(make_tensors(graph, dims));
  LUMEN_TRY(wanted.prepare(sizes));
  LUMEN_TRY(got.prepare(sizes));
  std::vector<int64_t> in, out;
  for (const NodeId id : graph.inputs()) in.push_back(LUMEN_TRY(graph[id].type.bytes(dims)));
  for (const Output& output : graph.outputs()) out.push_back(LUMEN_TRY(graph[output.value].type.bytes(dims)));
  const Expected<void> reference = run_from_host(wanted, tensors.inputs, in, tensors.wanted, out);
  const Expected<void> result = run_from_host(got, tensors.inputs, in, tensors.got, out);
  const bool dangerous = !result.ok() && result.diag().message.starts_with(kTrialFault);
  if (!reference.ok() && !result.ok() && !dangerous) return {};  // a fault on these inputs, by both
  if (!reference.ok() || !result.ok()) {
    return error(fmt::format("one of two fails: {}", result.ok() ? reference.diag().str() : result.diag().str()));
  }
  const double tolerance = tolerance_of(graph, dims);
  const auto type_of = [&](size_t k) { return graph[graph.outputs()[k].value].type; };
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    HostTensor right = read(type_of(k), dims, tensors.wanted[k]), found = read(type_of(k), dims, tensors.got[k]);
    double scale = is_float(right.dtype) ? magnitude_of(right) : 0;
    if (const auto points = points_of(graph, graph.outputs()[k].value);
        points && is_float(type_of(points->output).dtype)) {
      const HostTensor values = read(type_of(points->output), dims, tensors.wanted[points->output]);
      right = pointed_at(right, values, points->axis);
      found = pointed_at(found, values, points->axis);
      scale = magnitude_of(values);
    }
    LUMEN_TRY(compare_tensors(right, found, scale, tolerance, is_discontinuous(graph), graph.outputs()[k].name.str()));
  }
  return {};
}

Expected<std::unique_ptr<Executable>> plain_executable(const std::shared_ptr<const Graph>& graph,
                                                       const Device& device) {
  const DimValues dims = small_dims(*graph);
  if (interpreting_seconds(*graph, dims) <= kLongestInterpretation) return reference_executable(expand(*graph));
  RewriteOptions exact;
  exact.saturate.rounding = false;
  exact.candidates = 1;
  const std::shared_ptr<const Graph> plain = LUMEN_TRY(rewrite(*graph, exact)).candidates[0].graph;
  Target least;
  least.cuda = device.target().cuda;
  Tuner tuner(device, TuneOptions{dims, false, nullptr}, least);
  std::vector<Program> programs;
  programs.push_back(LUMEN_TRY(lower(plain, FusionPolicy::never, tuner)).program);
  std::vector<Binary> binaries = LUMEN_TRY(device.build(std::move(programs)));
  return device.load(std::move(binaries[0]));
}

Expected<void> verify(const std::shared_ptr<const Graph>& graph, const Binary& binary, const Device& device) {
  const std::unique_ptr<Executable> got = LUMEN_TRY(device.load(binary));
  const std::unique_ptr<Executable> wanted = LUMEN_TRY(plain_executable(graph, device));
  Expected<void> same = compare_executables(*graph, small_dims(*graph), *wanted, *got);
  if (same.ok()) return {};
  const std::string fault = LUMEN_TRY(find_fault(graph, binary, device));
  Diag diag = error("[verify] the program that was found does not compute the graph: " + same.diag().str());
  diag.notes.push_back(fault);
  return diag;
}

}  // namespace lumen::search
