#include "lumen/search/fusion_guide.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "lumen/base/nearest.h"
#include "lumen/kernel/carve.h"
#include "lumen/kernel/title.h"
#include "lumen/search/fusion_lookup.h"

namespace lumen::search {

namespace {

constexpr std::string_view kGates[] = {"margin", "min_tensor_elements", "min_nodes", "max_graph_size"};

Expected<void> set_gate(FusionGates& gates, std::string_view name, std::string_view value) {
  const auto read = [&](auto& target) {
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), target);
    return status == std::errc() && end == value.data() + value.size() && target >= 0;
  };
  bool ok = false;
  if (name == "margin") {
    ok = read(gates.margin) && gates.margin < 1e6;
  } else if (name == "min_tensor_elements") {
    ok = read(gates.min_tensor_elements);
  } else if (name == "min_nodes") {
    ok = read(gates.min_nodes);
  } else if (name == "max_graph_size") {
    ok = read(gates.max_graph_size);
  } else {
    const std::optional<std::string> guess = nearest(name, kGates);
    return error(fmt::format("no gate is called \"{}\"; {}", name,
                             guess ? fmt::format("did you mean {}?", *guess)
                                   : "there are margin, min_tensor_elements, min_nodes and max_graph_size"));
  }
  if (!ok) return error(fmt::format("{}={}: not a number, 0 or more", name, value));
  return {};
}

// Decides about one group after the other.
class Guidance {
 public:
  Guidance(const Reads& reads, const FusionGuide& guide, const DimValues& dims)
      : reads_(reads), guide_(guide), dims_(dims) {}

  Expected<void> take(Group group) {
    if (group.size() < 2) {
      result_.groups.push_back(std::move(group));
      return {};
    }
    const FusionShape shape = LUMEN_TRY(largest_shape(group));
    std::optional<FusionDecision> decision = by_gates(group, shape);
    if (!decision) decision = by_profile(group, shape);
    if (decision) result_.decisions.push_back(*decision);
    if (decision && !decision->fuse) {
      for (const NodeId id : group) result_.groups.push_back({id});
      return {};
    }
    if (decision) result_.settled.push_back(group);
    result_.groups.push_back(std::move(group));
    return {};
  }

  Guided finish() { return std::move(result_); }

 private:
  Expected<FusionShape> largest_shape(const Group& group) const {
    FusionShape largest;
    int64_t most = -1;
    for (const NodeId id : group) {
      const FusionShape shape = LUMEN_TRY(reads_.graph()[id].type.shape.evaluate(dims_));
      const int64_t count = elements(shape);
      if (count > most) largest = shape;
      most = std::max(most, count);
    }
    return largest;
  }

  static int64_t elements(const FusionShape& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  }

  std::optional<FusionDecision> by_gates(const Group& group, const FusionShape& shape) const {
    const FusionGates& gates = guide_.gates;
    std::string why;
    if (static_cast<int64_t>(group.size()) < gates.min_nodes) {
      why = fmt::format("{} ops, fewer than min_nodes={}", group.size(), gates.min_nodes);
    } else if (elements(shape) < gates.min_tensor_elements) {
      why = fmt::format("{} elements, fewer than min_tensor_elements={}", elements(shape), gates.min_tensor_elements);
    } else {
      return std::nullopt;
    }
    const Carved carved = carve(reads_.graph(), reads_.with_free(group), reads_.results_of(group));
    return FusionDecision{.what = kernel_title(*carved.body), .source = "gate", .note = why, .fuse = false};
  }

  std::optional<FusionDecision> by_profile(const Group& group, const FusionShape& dims) const {
    if (!guide_.profile || reads_.graph()[group.back()].type.dtype != guide_.profile->dtype) return std::nullopt;
    for (const FusionPattern& pattern : guide_.patterns) {
      const auto is_it = [&](const auto& form) { return is_pattern(reads_, group, *form); };
      if (!std::ranges::any_of(pattern.forms, is_it)) continue;
      const FusionShape shape = profiled_shape(dims);
      const std::optional<FusionFound> found = look_up(*guide_.profile, pattern.name, shape);
      if (!found) return std::nullopt;
      FusionDecision decision{pattern.name,
                              shape_text(shape),
                              found->times.fused,
                              found->times.unfused,
                              std::string(name(found->source)),
                              {},
                              should_fuse(found->times, guide_.gates.margin)};
      if (found->source == FusionSource::nearest) decision.note = "of " + shape_text(found->at);
      if (!decision.fuse && decision.fused < decision.unfused) {
        decision.note +=
            fmt::format("{}it must gain margin={}", decision.note.empty() ? "" : ", ", guide_.gates.margin);
      }
      return decision;
    }
    return std::nullopt;
  }

  const Reads& reads_;
  const FusionGuide& guide_;
  const DimValues& dims_;
  Guided result_;
};

}  // namespace

Expected<FusionGates> parse_gates(std::string_view text, FusionGates from) {
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return error(fmt::format("\"{}\": not GATE=N", part));
    LUMEN_TRY(set_gate(from, part.substr(0, equals), part.substr(equals + 1)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return from;
}

FusionShape profiled_shape(std::span<const int64_t> dims) {
  FusionShape shape(dims.begin(), dims.end());
  while (shape.size() < kFusionRank) shape.insert(shape.begin(), 1);
  while (shape.size() > kFusionRank) {
    shape[1] *= shape[0];
    shape.erase(shape.begin());
  }
  return shape;
}

Expected<Guided> guide_groups(const Reads& reads, std::vector<Group> groups, const FusionGuide& guide,
                              const DimValues& dims) {
  Guidance guidance(reads, guide, dims);
  for (Group& group : groups) LUMEN_TRY(guidance.take(std::move(group)));
  return guidance.finish();
}

}  // namespace lumen::search
