// Attention kernels: two contractions with a streaming fold between them.
//
//   s = any map over Contract(q, k)      scores, by row and key
//   m = MaxReduce(s) over the keys
//   e = Exp2(a*(s - m) + …)              weights, in any spelling that is linear in s and m, a > 0
//   l = SumReduce(e)
//   o = Contract(e, v) over the keys
//
// Outputs are computed element by element from o, l and m. One pass over blocks of keys computes them: where a larger
// maximum m' is found, what is summed so far is multiplied by Exp2(a*(m - m')). Scores are never in memory as a whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"
#include "lumen/kernel/target.h"

namespace lumen {

enum class AttentionMethod : uint8_t {
  vector,  // register tiles of vectors, keys and values packed
  amx,     // tiles of the matrix unit: queries, keys, values and outputs of bf16
  direct,  // few rows: keys and values are read where they lie, work is cut along the keys
};

// How attention runs: what does not change its meaning. Sizes are in elements.
struct AttentionSchedule {
  AttentionMethod method = AttentionMethod::vector;
  int64_t mr = 0, nr = 0;  // one register tile: rows, and keys or features
  int64_t rows = 0;        // of one piece of work
  int64_t keys = 0;        // of one block; of one piece of work, when direct

  bool operator==(const AttentionSchedule&) const = default;
  // "attention vector mr=14 nr=32 rows=56 keys=128"
  std::string str() const;
  static Expected<AttentionSchedule> parse(std::string_view text);
};

// Whether a schedule of this text is one of attention.
bool is_attention_schedule(std::string_view text);

// An error when the body is no such kernel, or the schedule does not fit it or the target.
Expected<KernelText> print_attention(const Graph& body, const std::string& name, const AttentionSchedule& schedule,
                                     const Target& target);

// Schedules that print_attention accepts, the most promising first; an error says why the body is no such kernel.
Expected<std::vector<AttentionSchedule>> attention_schedules(const Graph& body, const Target& target);

}  // namespace lumen
