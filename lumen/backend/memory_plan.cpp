#include "lumen/backend/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lumen/base/check.h"

namespace lumen {

namespace {

struct PlannedSlot {
  int64_t bytes = 0;
  int64_t busy_until = -1;
};

// Of the slots that are free at `first`: the smallest that is large enough, else the largest.
size_t choose_slot(std::span<const PlannedSlot> slots, const Lifetime& value) {
  size_t best = slots.size();
  for (size_t k = 0; k < slots.size(); ++k) {
    if (slots[k].busy_until >= value.first) continue;
    if (best == slots.size()) {
      best = k;
      continue;
    }
    const bool fits = slots[k].bytes >= value.bytes;
    const bool best_fits = slots[best].bytes >= value.bytes;
    if (fits ? !best_fits || slots[k].bytes < slots[best].bytes : !best_fits && slots[k].bytes > slots[best].bytes) {
      best = k;
    }
  }
  return best;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // By when they begin; of those that begin at once the largest first, as it has most to gain.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return values[a].first != values[b].first ? values[a].first < values[b].first : values[a].bytes > values[b].bytes;
  });
  MemoryPlan plan;
  plan.slots.resize(values.size());
  std::vector<PlannedSlot> slots;
  for (const size_t k : order) {
    const size_t slot = choose_slot(slots, values[k]);
    if (slot == slots.size()) slots.emplace_back();
    slots[slot].bytes = std::max(slots[slot].bytes, values[k].bytes);
    slots[slot].busy_until = std::max(values[k].first, values[k].last);
    plan.slots[k] = static_cast<uint32_t>(slot);
  }
  plan.count = static_cast<uint32_t>(slots.size());
  return plan;
}

std::vector<int64_t> MemoryPlan::offsets(std::span<const int64_t> bytes, int64_t align) const {
  CHECK(bytes.size() == slots.size());
  std::vector<int64_t> offsets(count + 1, 0);
  for (size_t k = 0; k < bytes.size(); ++k) {
    int64_t& size = offsets[slots[k] + 1];
    size = std::max(size, (bytes[k] / align + 1) * align);
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

Expected<void> check_plan(const MemoryPlan& plan, std::span<const Lifetime> values) {
  if (plan.slots.size() != values.size()) {
    return error(fmt::format("a plan for {} values, of which there are {}", plan.slots.size(), values.size()));
  }
  for (size_t a = 0; a < values.size(); ++a) {
    if (plan.slots[a] >= plan.count)
      return error(fmt::format("value {} is in slot {} of {}", a, plan.slots[a], plan.count));
    for (size_t b = 0; b < a; ++b) {
      const bool apart = values[a].last < values[b].first || values[b].last < values[a].first;
      if (apart || plan.slots[a] != plan.slots[b]) continue;
      return error(fmt::format("values {} (calls {} to {}) and {} (calls {} to {}) are both in slot {}", b,
                               values[b].first, values[b].last, a, values[a].first, values[a].last, plan.slots[a]));
    }
  }
  return {};
}

}  // namespace lumen
