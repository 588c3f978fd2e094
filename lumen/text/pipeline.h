// Pipeline: the parts of a Tokenizer, whatever file they came from.
//
//   text -> [special tokens] -> normalize -> [other added tokens] -> cut -> model -> prefix ... suffix
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lumen/text/added_tokens.h"
#include "lumen/text/decoder.h"
#include "lumen/text/model.h"
#include "lumen/text/normalizer.h"
#include "lumen/text/pieces.h"
#include "lumen/text/tokenizer.h"
#include "lumen/text/vocabulary.h"
#include "lumen/text/word_cache.h"

namespace lumen::text {

// What one encoding works with; kept for the next one.
struct Workspace {
  WordCache cache;
  Scratch scratch;
};

// One Workspace for every thread that encodes at the same time.
class Workspaces {
 public:
  std::unique_ptr<Workspace> take() const;
  void give_back(std::unique_ptr<Workspace> workspace) const;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> free_;
};

struct Pipeline {
  std::shared_ptr<const Vocabulary> vocabulary;  // of the model
  std::vector<AddedToken> added;
  bool takes_bytes = false;   // `normalize` makes invalid UTF-8 valid itself
  Normalizer normalize;       // may be empty
  PreTokenizer pre_tokenize;  // may be empty
  std::shared_ptr<const Model> model;
  std::vector<int32_t> prefix, suffix;  // put around a text
  std::vector<MakeDecodeStep> decoder;
  boost::unordered_flat_map<int32_t, std::string> surface;  // text of tokens for decoding, where it is another
  std::optional<int32_t> bos, eos;
  std::string chat_template;

  // Derived from the above by `finish`.
  TokenFinder raw_tokens, normalized_tokens;
  boost::unordered_flat_map<int32_t, size_t> added_by_id;
  boost::unordered_flat_map<std::string, int32_t, TextHash, std::equal_to<>> added_by_text;
  int32_t size = 0;
  std::shared_ptr<Workspaces> workspaces;

  Expected<void> finish();
  Expected<std::vector<int32_t>> encode(std::string_view text, const EncodeOptions& options) const;
  // A token as the decoder takes it; none for ids that say nothing.
  std::optional<std::string_view> decoded_token(int32_t id, const DecodeOptions& options) const;

 private:
  Expected<void> encode_text(std::string_view text, bool at_start, bool find_special, Workspace& workspace,
                             std::vector<int32_t>& ids) const;
  Expected<void> encode_pieces(std::string_view text, bool at_start, Workspace& workspace,
                               std::vector<int32_t>& ids) const;
};

// The parts, read from each format; `finish` is still to be called.
Expected<Pipeline> read_tokenizer_json(std::string_view text);
Expected<Pipeline> read_sentencepiece(std::string_view bytes);
Expected<Pipeline> read_gguf_vocabulary(const GgufVocabulary& vocabulary);

}  // namespace lumen::text
