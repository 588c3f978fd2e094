// Applier runs heads on blocks of matches, one action at a time over the whole block, so that the table accesses of
// different matches overlap.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "lumen/egraph/core/head.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

// Counts of what was done.
struct ApplyCounts {
  uint64_t rows = 0;
  uint64_t unions = 0;
};

class Applier {
 public:
  static constexpr size_t kBlock = 16384;  // matches in a block
  // `rule`: for reports, traces and messages; kNone outside rules, where functions may be read. `most`: of matches in
  // one call of apply().
  Applier(EGraph::State& state, const Head& head, RuleId rule, size_t most);

  // Whether it was made for a call like this one.
  bool is_for(RuleId rule, size_t most) const {
    return rule == rule_ && stride_ == std::clamp<size_t>(most, 1, kBlock);
  }

  // Applies `count` matches: of each the values of head.inputs and, when a rule is traced, the rows of its atoms.
  // False when an action failed: state.failure says how.
  bool apply(std::span<const Value> matches, size_t count);
  // The value of a register in the last block; for single matches.
  Value value(uint32_t reg) const { return regs_[reg * stride_]; }

  ApplyCounts counts;

 private:
  Value* lane(uint32_t reg) { return regs_.data() + reg * stride_; }
  bool run(const Head::Step& step, size_t count);
  void make(const Head::Step& step, size_t count);
  // Calls work(begin, end) for parts of the block, by all threads when it is large.
  template <class Work>
  void in_batches(size_t count, const Work& work);
  void make_keys(const Head::Step& step, size_t begin, size_t end);
  Value trace_made(const Head::Step& step, std::span<const Value> args, Value id, size_t lane, bool fresh);
  bool read(const Head::Step& step, size_t count);
  bool call(const Head::Step& step, size_t count);
  void unite(const Head::Step& step, size_t count);
  void stage(const Head::Step& step, size_t count);
  void begin_trace(std::span<const Value> matches, size_t count);
  Reason reason(size_t lane) const;
  // The id to name in a trace for a value of a register: that of the very term it was matched or made as.
  Value traced(uint32_t reg, size_t lane) const;

  EGraph::State& state_;
  const Head& head_;
  RuleId rule_;
  size_t stride_;            // matches in a block
  std::vector<Value> regs_;  // by register, then by match of the block
  std::vector<Value> keys_;
  std::vector<uint64_t> hashes_;
  size_t width_;  // values per match
  uint32_t first_firing_ = 0;
  std::vector<uint32_t> atom_of_;  // when traced, by register: the atom whose result it is, or kNone
  std::unique_ptr<PrimitiveContext> context_;
};

}  // namespace lumen::egraph
