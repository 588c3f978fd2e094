// What methods of attention share whose warps have tiles of 16 rows in registers, as the tensor cores lay them out.
//
// Texts are over those of cuda_attention_parts.h and, of a warp: `lane`, its first row `down` of the block, tiles of
// scores sc[m][n][4] and of sums o[m][n][4] (m: 16 rows, n: 8 keys or features), and of each row of a tile the maximum
// top[m][2], the thread's part of the sum of weights total[m][2] and scale[m][2], by which its sums shrink.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/codegen/cuda_attention_parts.h"

namespace lumen {

// bf16 or f16 when queries, keys and values are, or were before they were widened.
std::optional<DType> flash_dtype(const AttentionForm& form);

class AttentionTiles {
 public:
  // A warp has `tiles` tiles of rows; `feature_tiles` of 8 features each are summed.
  AttentionTiles(const Graph& body, const AttentionForm& form, const CudaAttentionSchedule& schedule, int64_t tiles,
                 int64_t feature_tiles);

  const KeyBounds& bounds() const { return bounds_; }
  // `own_begin` … `own_end`, the keys that some row of the warp sees; `all_begin` … `all_end`, that all of them see.
  std::string own_range() const;
  std::string all_range() const;
  // Products in `sc`, of the keys k0 … next, become scores, their maximum is found, then `rescale`, and the scores
  // become weights. Only tiles at an end of what rows see are masked.
  Expected<std::string> weigh(const std::string& rescale, std::vector<std::string>& faults) const;
  // Scales what is summed so far of the tile `m`, where the maximum grew.
  std::string rescale() const;
  // The same after the statements `wait`, behind which no statement of weigh() is moved.
  std::string rescale_after(const std::string& wait) const;
  // Stores the block's outputs by its threads from `first_thread` on, which the statement `meet` makes wait for each
  // other. Sums go through shared memory, of which this takes store_bytes().
  Expected<std::string> store(int64_t first_thread, const std::string& meet, std::vector<std::string>& faults) const;
  int64_t store_bytes() const;

 private:
  std::string over_tile_rows(const char* name, const char* of, const char* sign) const;
  std::string shrink() const;
  std::string element_lines() const;
  std::string score_lines(const CudaWeigh& weigh) const;
  std::string weight_lines(const CudaWeigh& weigh, double steep) const;
  int64_t pitch() const;

  const Graph& body_;
  const AttentionForm& form_;
  CudaAttentionSchedule s_;
  KeyBounds bounds_;
  int64_t tiles_, feature_tiles_, features_;
  std::optional<double> scale_;  // products stand for scores, which are so many times them
};

}  // namespace lumen
