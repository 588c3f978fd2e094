// Rope settings as config.json has them: `rope_parameters`, or `rope_theta` and `rope_scaling` of older files.
#pragma once

#include "models/config.h"
#include "nn/rope.h"

namespace lumen::models {

struct RopeDefaults {
  double base = 10000;
  int64_t head_dim = 0;
  int64_t max_positions = 0;
  double rotated_share = 1;    // where `partial_rotary_factor` is not given
  double trained_context = 0;  // where `original_max_position_embeddings` is not given; 0: max_positions
};

// For a model whose layers share one.
Expected<nn::RopeSettings> read_rope(const Config& config, const RopeDefaults& defaults);
// For layers of one type ("full_attention"), from the object of that name in `rope_parameters` where there is one, else
// as above.
Expected<nn::RopeSettings> read_rope(const Config& config, std::string_view layer_type, const RopeDefaults& defaults);
// Of one such object.
Expected<nn::RopeSettings> read_rope_object(const Config& rope, const RopeDefaults& defaults);

}  // namespace lumen::models
