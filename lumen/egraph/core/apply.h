// Applier runs heads on blocks of matches, one action at a time over the whole block, so that the table accesses of
// different matches overlap.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "lumen/egraph/core/head.h"
#include "lumen/egraph/core/search.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

// Counts of what was done.
struct ApplyCounts {
  uint64_t rows = 0;
  uint64_t unions = 0;
};

// Matches as they were found: some in each place.
using MatchLists = std::span<const std::span<const Value>>;

class Applier {
 public:
  static constexpr size_t kBlock = Search::kSinkMatches;  // matches in a block
  // `rule`: for reports, traces and messages; kNone outside rules, where functions may be read. `most`: of matches in
  // one call of apply().
  Applier(EGraph::State& state, const Head& head, RuleId rule, size_t most);

  // Whether it was made for a call like this one.
  bool is_for(RuleId rule, size_t most) const {
    return rule == rule_ && stride_ == std::clamp<size_t>(most, 1, kBlock);
  }

  // Applies `count` matches: of each the values of head.inputs and, when a rule is traced, the rows of its atoms.
  // False when an action failed: state.failure says how.
  bool apply(MatchLists matches, size_t count);
  // The value of a register in the last block; for single matches.
  Value value(uint32_t reg) const { return regs_[reg * stride_]; }

  ApplyCounts counts;

 private:
  Value* lane(uint32_t reg) { return regs_.data() + reg * stride_; }
  // Calls each(values, i) for the matches [begin, end) of the block.
  template <class Each>
  void for_matches(MatchLists matches, size_t begin, size_t end, const Each& each) const;
  void gather(MatchLists matches, size_t begin, size_t end);
  bool run(const Head::Step& step, size_t count);
  bool run_alone(MatchLists matches, size_t count);
  bool run_together(MatchLists matches, size_t count);
  void make(const Head::Step& step, size_t count);
  void reserve(const Head::Step& first, size_t count);
  void make_keys(const Head::Step& step, size_t begin, size_t end, Value* keys, uint32_t* hashes, Value* classes);
  void count_made(const Head::Step& step, size_t made);
  Value make_traced(const Head::Step& step, std::span<const Value> args, size_t lane);
  bool read(const Head::Step& step, size_t count);
  bool call(const Head::Step& step, size_t count);
  void unite(const Head::Step& step, size_t count);
  void stage(const Head::Step& step, size_t count);
  void begin_trace(MatchLists matches, size_t count);
  Reason reason(size_t lane) const;
  // The id to name in a trace for a value of a register: that of the very term it was matched or made as.
  Value traced(uint32_t reg, size_t lane) const;

  EGraph::State& state_;
  const Head& head_;
  RuleId rule_;
  size_t stride_;            // matches in a block
  size_t first_ = 0;         // match of the block
  std::vector<Value> regs_;  // by register, then by match of the block
  // Of the terms to make; twice, so that one step may make its keys while those of another are in use.
  std::vector<Value> keys_;
  std::vector<Value> classes_;
  std::vector<uint32_t> hashes_;
  size_t widest_ = 1;  // arguments of an action
  size_t width_;       // values per match
  uint32_t first_firing_ = 0;
  std::vector<uint32_t> atom_of_;  // when traced, by register: the atom whose result it is, or kNone
  std::unique_ptr<PrimitiveContext> context_;
};

}  // namespace lumen::egraph
