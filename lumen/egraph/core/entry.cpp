#include "lumen/egraph/core/entry.h"

#include <bit>

namespace lumen::egraph {

namespace {

// Parts for each thread, and ranges for each part: a thread that is done with its own helps another.
constexpr size_t kParts = 2, kRanges = 1;

// std::popcount is a call into a library where the instruction is not assumed.
inline uint32_t count_bits(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<uint32_t>(bits * 0x0101010101010101u >> 56);
}

// How many of the numbered come before key i.
struct Ranks {
  const uint64_t* bits;
  const Row* before;  // by word of them
};

template <class Count>
[[gnu::always_inline]] inline Row rank(const Ranks& ranks, uint32_t i, const Count& count) {
  return ranks.before[i / 64] + static_cast<Row>(count(ranks.bits[i / 64] & ((uint64_t{1} << (i % 64)) - 1)));
}

struct Settling {
  Table& table;
  const GrowArray<EntryPart::Fresh>& fresh;
  Ranks ranks;
  Row base;
  std::span<const Row> moved;
  Row clean;
};

template <class Count>
[[gnu::always_inline]] inline void settle_with(const Settling& s, const Count& count) {
  constexpr size_t kAhead = 32;
  const size_t total = s.fresh.size();
  for (size_t k = 0; k < total; ++k) {
    if (k + kAhead < total) s.table.prefetch_slot(s.fresh[k + kAhead].slot);
    const auto [slot, key] = s.fresh[k];
    const bool stays = !s.moved.empty() && s.moved[key] >= s.clean;
    s.table.settle(slot, stays ? s.moved[key] : s.base + rank(s.ranks, key, count));
  }
}

#if defined(__x86_64__)
[[gnu::target("popcnt")]] void settle_counting(const Settling& settling) {
  settle_with(
      settling, [](uint64_t bits) __attribute__((target("popcnt"))) { return __builtin_popcountll(bits); });
}
#endif

}  // namespace

Division::Division(EGraph::State& state, size_t keys)
    : count(keys),
      parts(std::min<size_t>(Table::kParts, kParts * std::bit_ceil(state.workers->threads()))),
      ranges(parts * kRanges) {
  if (state.scratch_parts.size() < parts) state.scratch_parts.resize(parts);
  lists = std::span(state.scratch_parts).first(parts);
  for (EntryPart& part : lists) {
    part.keys.resize(count);
    part.counts.resize(ranges);
    part.starts.resize(ranges);
  }
}

void Division::list(size_t range, const uint32_t* hashes) const {
  std::array<EntryPart::Listed*, Table::kParts> next{};
  for (size_t p = 0; p < parts; ++p) next[p] = lists[p].keys.data() + begin(range);
  const size_t end = begin(range + 1);
  for (size_t i = begin(range); i < end; ++i) {
    *next[Table::part(hashes[i], parts)]++ = {static_cast<uint32_t>(i), hashes[i]};
  }
  for (size_t p = 0; p < parts; ++p) {
    lists[p].counts[range] = static_cast<uint32_t>(next[p] - (lists[p].keys.data() + begin(range)));
  }
}

Entry::Entry(EGraph::State& state, TableId id, const Division& divided, const Value* all_keys,
             const uint32_t* all_hashes)
    : division(divided),
      table(state.tables[id]),
      workers(*state.workers),
      keys(all_keys),
      hashes(all_hashes),
      base_(state.tables[id].rows()) {
  table.reserve(division.count, &workers);
}

void Entry::number() {
  const size_t words = (division.count + 63) / 64;
  bits_.assign(words, 0);
  ranks_.resize(words);
  for (size_t w = 0; w < words; ++w) {
    for (const EntryPart& part : division.lists) bits_[w] |= part.numbered[w];
    ranks_[w] = static_cast<Row>(numbered_);
    numbered_ += count_bits(bits_[w]);
  }
}

Row Entry::number_of(size_t i) const {
  if (i == division.count) return static_cast<Row>(numbered_);
  return rank({bits_.data(), ranks_.data()}, static_cast<uint32_t>(i), count_bits);
}

void Entry::settle(size_t part, std::span<const Row> moved, Row clean) {
  const Settling settling{table, division.lists[part].fresh, {bits_.data(), ranks_.data()}, base_, moved, clean};
#if defined(__x86_64__)
  static const bool counts = __builtin_cpu_supports("popcnt") != 0;
  if (counts) return settle_counting(settling);
#endif
  settle_with(settling, count_bits);
}

Value* Entry::extend() {
  size_t used = 0;
  for (const EntryPart& part : division.lists) used += part.used;
  return table.extend(numbered_, used, &workers);
}

}  // namespace lumen::egraph
