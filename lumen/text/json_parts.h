// The parts of a tokenizer.json, one reader each. Where a file has null for a part, that part is not read.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "lumen/text/decoder.h"
#include "lumen/text/model.h"
#include "lumen/text/normalizer.h"
#include "lumen/text/pieces.h"
#include "lumen/text/regex.h"
#include "lumen/text/vocabulary.h"

namespace lumen::text {

inline constexpr int kMaxJsonDepth = 16;  // of Sequences in Sequences

// {"String": text} or {"Regex": pattern}.
struct JsonPattern {
  std::string text;            // for the former
  std::optional<Regex> regex;  // for the latter
};
Expected<JsonPattern> read_pattern(const nlohmann::json& json, const std::string& where);

Expected<Normalizer> read_normalizer(const nlohmann::json& json, int depth = 0);

struct PreTokenizerPart {
  PreTokenizer pre_tokenize;
  bool byte_level = false;  // the pieces are bytes that the model has to see in the byte-level alphabet
};
Expected<PreTokenizerPart> read_pre_tokenizer(const nlohmann::json& json);

struct ModelPart {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const Model> model;
};
Expected<ModelPart> read_model(const nlohmann::json& json, bool byte_level);

struct PostProcessorPart {
  std::vector<int32_t> prefix, suffix;
};
Expected<PostProcessorPart> read_post_processor(const nlohmann::json& json, int depth = 0);

Expected<std::vector<MakeDecodeStep>> read_decoder(const nlohmann::json& json, int depth = 0);

}  // namespace lumen::text
