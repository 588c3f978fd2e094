// The names of weights: those of Hugging Face's files and those of GGUF files, for the families that both have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lumen {

// What GGUF calls an architecture. Mistral's models are `llama` there, and so is Mixtral, whose metadata counts
// experts.
enum class ModelFamily : uint8_t { llama, qwen2, qwen3, gemma, gemma2, gemma3, mixtral, qwen3_moe, gpt_oss };

std::string_view name(ModelFamily family);                               // general.architecture
std::optional<ModelFamily> parse_family(std::string_view architecture);  // its inverse
bool is_gemma(ModelFamily family);
bool has_experts(ModelFamily family);
// Of config.json's model_type.
std::optional<ModelFamily> family_of_model_type(std::string_view model_type);
std::string_view model_type(ModelFamily family);

// "model.layers.3.mlp.up_proj.weight" is "blk.3.ffn_up.weight". Nothing for a name that the family does not have. The
// weights of all experts are one tensor in GGUF, and here in Hugging Face's name, which leaves out the expert's number.
std::optional<std::string> ggml_name(ModelFamily family, std::string_view hugging_face);
std::optional<std::string> hugging_face_name(ModelFamily family, std::string_view ggml);

// Whether the rows of this weight (by its GGUF name) lie in another order in GGUF: those of a head's rotated pairs are
// neighbours there, and half a head apart in Hugging Face's files.
enum class HeadRows : uint8_t { same, query, key };
HeadRows head_rows(ModelFamily family, std::string_view ggml);
// Of each row in GGUF's order, which row of Hugging Face's it is; `rows` is a multiple of 2 * heads.
std::vector<int64_t> paired_rows(int64_t rows, int64_t heads);
// Of each row in Hugging Face's order, which row of GGUF's it is.
std::vector<int64_t> halved_rows(int64_t rows, int64_t heads);

// Whether GGUF stores this weight plus 1.
bool is_shifted(ModelFamily family, std::string_view ggml);

}  // namespace lumen
