// The vocabulary that a GGUF file carries, as it stands there: what a tokenizer is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lumen/import/gguf.h"

namespace lumen {

// What a file may leave out is empty; which default then holds depends on the model and is the tokenizer's to know.
struct GgufVocabulary {
  std::string model;  // "llama", "gpt2", …
  std::string pre;    // how text is cut before merging
  std::vector<std::string> tokens;
  std::vector<double> scores;       // one per token, or none
  std::vector<int32_t> types;       // one per token, or none: 1 normal, 2 unknown, 3 control, 4 user, 5 unused, 6 byte
  std::vector<std::string> merges;  // "a b", the first to merge first
  std::optional<int64_t> bos, eos, unk;
  std::optional<bool> add_bos, add_eos, add_space_prefix;
  std::string chat_template;
};

// An error when there are no tokens, an array has another length than they, or an id is none of theirs.
Expected<GgufVocabulary> vocabulary_of(const Gguf& file);

}  // namespace lumen
