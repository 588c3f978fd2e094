// Rotary position embeddings: pairs of a head's elements are turned by an angle, position * frequency.
//
// Frequencies are computed in f64 and rounded to f32; angles, sines and cosines are f32.
#pragma once

#include <vector>

#include "lumen/frontend/attention.h"
#include "lumen/ir/graph.h"

namespace lumen::nn {

// How the frequencies base^(-2k/size) are changed for contexts longer than the one trained on. The names are those of
// `rope_type` in Hugging Face's configurations; `none` is "default" there.
enum class RopeScaling : uint8_t { none, linear, dynamic, llama3, longrope, yarn, proportional };

struct RopeSettings {
  int64_t size = 0;  // how many elements of a head, from the first, are rotated; even
  double base = 10000;
  RopeLayout layout = RopeLayout::half;
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;                                          // by which the context grows
  double attention_factor = 1;                                // of the sines and cosines: longrope and yarn
  double trained_context = 0;                                 // dynamic, llama3, longrope, yarn
  double low_freq_factor = 1, high_freq_factor = 4;           // llama3
  double beta_fast = 32, beta_slow = 1;                       // yarn
  bool truncate = true;                                       // yarn: the range between them is one of whole numbers
  std::vector<double> short_factors = {}, long_factors = {};  // longrope: size/2 each
  int64_t rotated_pairs = 0;                                  // proportional: the pairs after these stay
};

// The rotation for given positions. `dynamic` and `longrope` depend on the largest of them, as in Hugging Face: what
// was cached before stays rotated as it was.
class Rope {
 public:
  // positions: integers [batch, seq].
  Rope(const RopeSettings& settings, Tensor positions);

  // x [batch, heads, seq, d] with d >= size; the dtype stays.
  Tensor operator()(Tensor x) const;

 private:
  int64_t size_;
  RopeLayout layout_;
  Tensor cos_, sin_;  // f32 [batch, 1, seq, size]; the sine is negative for the first of a pair
};

// f64 [size/2]: what positions are multiplied by.
Tensor rope_frequencies(const RopeSettings& settings, Tensor positions);

}  // namespace lumen::nn
