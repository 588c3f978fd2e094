// Tiny configurations, and models of them with random weights, for tests.
#pragma once

#include <string>

#include "models/decoder.h"

namespace lumen::models {

// Llama, two layers, with `"key": value` pairs added or replaced.
std::string tiny_config(const std::string& changes = "{}");

// With parameters that depend on their names only.
Session with_random_parameters(Session session);
// Such a one on the reference.
Session random_session(const Model& model);

}  // namespace lumen::models
