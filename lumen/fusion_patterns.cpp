#include "lumen/fusion_patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "lumen/backend/program.h"
#include "lumen/base/check.h"
#include "lumen/base/file.h"
#include "lumen/base/log.h"
#include "lumen/frontend/ops.h"
#include "lumen/search/rewrite.h"

namespace lumen {

namespace {

struct Builder {
  Graph& graph;
  Shape shape;
  DType dtype;

  Tensor rows(std::string_view name) const { return graph.input(name, shape, dtype); }
  Tensor weight(std::string_view name) const {
    return graph.input(name, {shape[shape.rank() - 1]}, dtype, InputKind::weight);
  }
  // The residual that goes on.
  Tensor sum() const {
    const Tensor sum = rows("x") + rows("residual");
    return sum.output("sum");
  }
};

struct Pattern {
  std::string_view name;
  Tensor (*build)(const Builder& b);
};

constexpr std::array kPatterns = {
    Pattern{"swiglu", [](const Builder& b) { return silu(b.rows("gate")) * b.rows("up"); }},
    Pattern{"silu", [](const Builder& b) { return silu(b.rows("x")); }},
    Pattern{"gelu", [](const Builder& b) { return gelu(b.rows("x")); }},
    Pattern{"gelu_tanh", [](const Builder& b) { return gelu_tanh(b.rows("x")); }},
    Pattern{"softmax", [](const Builder& b) { return softmax(b.rows("x")); }},
    Pattern{"rms_norm", [](const Builder& b) { return rms_norm(b.rows("x"), b.weight("weight")); }},
    Pattern{"add+rms_norm", [](const Builder& b) { return rms_norm(b.sum(), b.weight("weight")); }},
    Pattern{"layer_norm",
            [](const Builder& b) { return layer_norm(b.rows("x"), 1, b.weight("weight"), b.weight("bias")); }},
    Pattern{"add+layer_norm",
            [](const Builder& b) { return layer_norm(b.sum(), 1, b.weight("weight"), b.weight("bias")); }},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kPatterns.size()> names;
  for (size_t k = 0; k < names.size(); ++k) names[k] = kPatterns[k].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> fusion_pattern_names() { return kNames; }

void build_fusion_pattern(std::string_view name, Graph& graph, const Shape& shape, DType dtype) {
  const auto* found = std::ranges::find(kPatterns, name, &Pattern::name);
  CHECK(found != kPatterns.end(), "not the name of a pattern");
  found->build({graph, shape, dtype}).output("out");
}

Expected<search::FusionProfile> read_fusion_profile(const std::string& file, const Device& device, bool of_another) {
  const MappedFile mapped = LUMEN_TRY(MappedFile::open(file));
  const std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
  search::FusionProfile profile = LUMEN_TRY(search::parse_fusion_profile(text, file, fusion_pattern_names()));
  const Expected<void> is_own = check_hardware(profile, device.fingerprint(), device.setting());
  if (is_own.ok()) return profile;
  if (!of_another) return is_own.diag();
  const std::string whose = profile.hardware.empty()
                                ? "of unknown hardware: no \"meta\" names it"
                                : fmt::format("of other hardware ({} {})", profile.hardware, profile.setting);
  LUMEN_LOG(0, fmt::format("{}: the times are {}", file, whose));
  return profile;
}

std::string why_unused(const search::FusionProfile& profile, std::span<const std::shared_ptr<const Graph>> graphs) {
  // Sums are taken in f32 whatever the rest is in: what a program computes in is what it reads and writes.
  std::map<DType, size_t> counts;
  const auto count = [&](DType dtype) { counts[dtype] += is_float(dtype) ? 1 : 0; };
  for (const auto& graph : graphs) {
    for (const NodeId id : graph->inputs()) count((*graph)[id].type.dtype);
    for (const Output& output : graph->outputs()) count((*graph)[output.value].type.dtype);
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  if (most != counts.end() && most->second > 0 && most->first != profile.dtype) {
    return fmt::format("the profile is of {}, the program computes in {}", name(profile.dtype), name(most->first));
  }
  std::vector<std::string_view> names;
  for (const auto& [pattern, shapes] : profile.patterns) {
    if (!shapes.empty() && shapes.begin()->first.size() != search::kFusionRank) {
      return fmt::format("{} is a shape of {} dims, and shapes are looked up as {}: batch, sequence, width",
                         search::shape_text(shapes.begin()->first), shapes.begin()->first.size(), search::kFusionRank);
    }
    if (!shapes.empty()) names.push_back(pattern);
  }
  if (names.empty()) return "the profile has no times";
  return fmt::format("no group of ops is just one of {}", fmt::join(names, ", "));
}

Expected<std::vector<search::FusionPattern>> make_patterns(const search::FusionProfile& profile,
                                                           const Machine& machine) {
  constexpr int64_t kMostRows = 8192, kColumns = 256;  // any will do: shapes are not compared
  std::vector<search::FusionPattern> patterns;
  for (const auto& [name, shapes] : profile.patterns) {
    const auto graph = std::make_shared<Graph>();
    build_fusion_pattern(name, *graph, {graph->dim("rows", 1, kMostRows), kColumns}, profile.dtype);
    RewriteOptions options;
    options.dims = typical_dims(*graph);
    options.machine = machine;
    search::FusionPattern pattern{name, {graph}};
    for (const Candidate& candidate : LUMEN_TRY(rewrite(*graph, options)).candidates) {
      pattern.forms.push_back(candidate.graph);
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace lumen
