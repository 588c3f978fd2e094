// Tokenizer: text to ids and back, from the files that models come with.
//
//   const Tokenizer tokenizer = LUMEN_TRY(Tokenizer::from_json(text));
//   const std::vector<int32_t> ids = LUMEN_TRY(tokenizer.encode("Hello"));
//   const std::string same = tokenizer.decode(ids);
//
// A value, cheap to copy; any thread may call. Text is UTF-8; what is not valid is read as U+FFFD: one for each longest
// prefix of a character, one for each byte in SentencePiece's kinds, as SentencePiece does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen {

// What a GGUF file says about its tokenizer (tokenizer.ggml.* and tokenizer.chat_template).
struct GgufVocabulary {
  std::string model;  // "llama", "gpt2" or "bert"
  std::string pre;    // gpt2: how text is cut
  std::vector<std::string> tokens;
  std::vector<float> scores;        // llama: one each
  std::vector<int32_t> types;       // one each, or none: 1 normal, 2 unknown, 3 control, 4 user, 5 unused, 6 byte
  std::vector<std::string> merges;  // gpt2: "left right"
  std::optional<int32_t> bos, eos, unk;
  std::optional<bool> add_bos, add_eos, add_space_prefix;  // none: what the model's kind does
  std::string chat_template;
};

struct EncodeOptions {
  bool add_special = true;   // what the tokenizer puts around a text, such as the begin token
  bool find_special = true;  // the text of a special token becomes that token; false for text that is not trusted
};

struct DecodeOptions {
  bool skip_special = true;
};

namespace text {
struct Pipeline;
class DecodeChain;
}  // namespace text

class Tokenizer {
 public:
  // Hugging Face's tokenizer.json. Its truncation and padding are not applied.
  static Expected<Tokenizer> from_json(std::string_view text);
  // SentencePiece's tokenizer.model, of type BPE or Unigram. Adds the begin token, or the end token if that is all it
  // has.
  static Expected<Tokenizer> from_sentencepiece(std::span<const std::byte> bytes);
  static Expected<Tokenizer> from_gguf(const GgufVocabulary& vocabulary);

  // The same with bos_token, eos_token and chat_template of a tokenizer_config.json, which tokenizer.json does not
  // have.
  Expected<Tokenizer> with_config(std::string_view json) const;

  // An error when the tokenizer has no token for what it does not know, or one of its regexes takes too long.
  Expected<std::vector<int32_t>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // Always valid UTF-8. Ids that are not in the vocabulary are left out.
  std::string decode(std::span<const int32_t> ids, const DecodeOptions& options = {}) const;

  // As it stands in the vocabulary; empty when there is none.
  std::string_view token(int32_t id) const;
  std::optional<int32_t> id(std::string_view token) const;
  bool is_special(int32_t id) const;
  // One above the largest id.
  int32_t size() const;
  // From the file where it says so, else the first and the last of what is put around a text.
  std::optional<int32_t> bos() const;
  std::optional<int32_t> eos() const;
  // Empty when the file has none (see chat_template.h).
  const std::string& chat_template() const;

 private:
  friend class Detokenizer;
  explicit Tokenizer(std::shared_ptr<const text::Pipeline> pipeline);
  std::shared_ptr<const text::Pipeline> pipeline_;
};

// Text for ids as they come. All of it together is what decode gives for all ids.
//
// Text is given once no id that may follow can change it: never a part of a character. <0xNN> tokens of a
// tokenizer.json wait for the end of their row, because they are text only if all of the row is (Hugging Face's
// ByteFallback).
class Detokenizer {
 public:
  explicit Detokenizer(Tokenizer tokenizer, const DecodeOptions& options = {});
  Detokenizer(Detokenizer&&) noexcept;
  Detokenizer& operator=(Detokenizer&&) noexcept;
  ~Detokenizer();

  std::string push(int32_t id);
  // The rest. The next push starts a new text.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  DecodeOptions options_;
  std::unique_ptr<text::DecodeChain> chain_;
};

}  // namespace lumen
