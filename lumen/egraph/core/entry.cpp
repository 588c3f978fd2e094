#include "lumen/egraph/core/entry.h"

#include "lumen/base/check.h"

namespace lumen::egraph {

namespace {

// std::popcount is a call into a library where the instruction is not assumed.
inline uint32_t count_bits(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<uint32_t>(bits * 0x0101010101010101u >> 56);
}

}  // namespace

Entry::Entry(EGraph::State& state, TableId entered, const Division& divided, const Value* all_keys,
             const uint32_t* all_hashes, uint32_t side)
    : division(divided),
      id(entered),
      table(state.tables[entered]),
      keys(all_keys),
      hashes(all_hashes),
      workers_(*state.workers),
      space_(state.scratch_entries[side]),
      first_(Table::kCandidates + side * 2 * static_cast<Row>(kMostKeys)) {
  CHECK(division.count <= kMostKeys);
  const size_t words = (division.count + 63) / 64;
  space_.found.resize(division.count);
  space_.numbered.resize(words);
  space_.before.resize(words);
  if (space_.ranges.size() < division.ranges) space_.ranges.resize(division.ranges);
}

void Entry::number() {
  size_t used = 0;
  for (size_t range = 0; range < division.ranges; ++range) {
    const EntryRange& done = space_.ranges[range];
    used += done.used;
    for (const auto& [later, earlier] : done.displaced) {
      const uint32_t i = key_of(later);
      space_.found[i].row = earlier;
      space_.numbered[i / 64] &= ~(uint64_t{1} << (i % 64));
    }
  }
  for (size_t w = 0; w < space_.numbered.size(); ++w) {
    space_.before[w] = static_cast<Row>(numbered_);
    numbered_ += count_bits(space_.numbered[w]);
  }
  base_ = table.rows();
  rows_ = table.extend(numbered_, used, &workers_);
}

Row Entry::number_of(size_t i) const {
  if (i == division.count) return static_cast<Row>(numbered_);
  return space_.before[i / 64] + count_bits(space_.numbered[i / 64] & ((uint64_t{1} << (i % 64)) - 1));
}

}  // namespace lumen::egraph
