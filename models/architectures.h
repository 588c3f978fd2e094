// The settings of each family of models, from its config.json.
#pragma once

#include "lumen/base/expected.h"
#include "models/causal.h"
#include "models/config.h"

namespace lumen::models {

Expected<CausalSettings> read_llama(const Config& config);
Expected<CausalSettings> read_mistral(const Config& config);
Expected<CausalSettings> read_qwen2(const Config& config);
Expected<CausalSettings> read_qwen3(const Config& config);
Expected<CausalSettings> read_phi3(const Config& config);
Expected<CausalSettings> read_gemma2(const Config& config);
Expected<CausalSettings> read_gemma3(const Config& config);
Expected<CausalSettings> read_gemma4(const Config& config);
Expected<CausalSettings> read_gpt2(const Config& config);
Expected<CausalSettings> read_mixtral(const Config& config);
Expected<CausalSettings> read_qwen3_moe(const Config& config);
Expected<CausalSettings> read_gpt_oss(const Config& config);

}  // namespace lumen::models
