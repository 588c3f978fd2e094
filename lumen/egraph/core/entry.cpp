#include "lumen/egraph/core/entry.h"

#include <bit>

namespace lumen::egraph {

namespace {

// Ranges for each part: a thread that is done with its own helps another.
constexpr size_t kRanges = 4;

// std::popcount is a call into a library where the instruction is not assumed.
uint32_t count_bits(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<uint32_t>(bits * 0x0101010101010101u >> 56);
}

}  // namespace

// As many parts as threads; twice a power of two where threads are none, so that they end at about the same time.
Division::Division(const Workers& workers, size_t keys)
    : count(keys),
      parts(std::min<size_t>(Table::kParts, std::has_single_bit(workers.threads())
                                                ? workers.threads()
                                                : 2 * std::bit_ceil(workers.threads()))),
      ranges(parts * kRanges) {}

Entry::Entry(EGraph::State& state, TableId id, const Division& divided, const Value* all_keys,
             const uint32_t* all_hashes)
    : division(divided),
      table(state.tables[id]),
      workers(*state.workers),
      keys(all_keys),
      hashes(all_hashes),
      base_(state.tables[id].rows()) {
  if (state.scratch_parts.size() < division.parts) state.scratch_parts.resize(division.parts);
  parts_ = std::span(state.scratch_parts).first(division.parts);
  table.reserve(division.count, &workers);
}

// The keys of a part, and where those of each range start; returns how many there are.
size_t Entry::list_keys(size_t p) {
  EntryPart& part = parts_[p];
  part.keys.resize(division.count);
  part.starts.resize(division.ranges);
  uint32_t* mine = part.keys.data();
  size_t count = 0;
  for (size_t range = 0; range < division.ranges; ++range) {
    part.starts[range] = static_cast<uint32_t>(count);
    const size_t end = division.begin(range + 1);
    for (size_t i = division.begin(range); i < end; ++i) {
      mine[count] = static_cast<uint32_t>(i);
      count += static_cast<size_t>(Table::part(hashes[i], parts_.size()) == p);  // no branch: it is a coin toss
    }
  }
  return count;
}

void Entry::number() {
  const size_t words = (division.count + 63) / 64;
  bits_.assign(words, 0);
  ranks_.resize(words);
  for (size_t w = 0; w < words; ++w) {
    for (const EntryPart& part : parts_) bits_[w] |= part.numbered[w];
    ranks_[w] = static_cast<Row>(numbered_);
    numbered_ += count_bits(bits_[w]);
  }
}

Row Entry::number_of(size_t i) const {
  if (i == division.count) return static_cast<Row>(numbered_);
  const uint64_t before = bits_[i / 64] & ((uint64_t{1} << (i % 64)) - 1);
  return ranks_[i / 64] + count_bits(before);
}

Value* Entry::extend() {
  size_t used = 0;
  for (const EntryPart& part : parts_) used += part.used;
  return table.extend(numbered_, used);
}

}  // namespace lumen::egraph
