// Generator: text that continues a text.
//
//   Generator generator(std::move(decoder), tokenizer);
//   generator.generate(prompt_ids, {.max_tokens = 64}, [](std::string_view text) { print(text); return true; });
//
// Throws lumen::Error, as Decoder does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lumen/text/sampler.h"
#include "lumen/text/tokenizer.h"
#include "models/decoder.h"

namespace lumen::models {

struct GenerateOptions {
  int64_t max_tokens = 128;
  SamplingOptions sampling = {};
  std::vector<std::string> stop;  // strings that end the text, and are not part of it
  bool ignore_end = false;        // go on after the tokens that end a text
  int64_t chunk = 512;            // of the prompt, in tokens
};

enum class Finish : uint8_t { length, end, stop_string, stopped };

struct GenerateResult {
  std::vector<int32_t> tokens;  // without the one that ended it
  Finish finish = Finish::length;
  double first_seconds = 0;  // from the call to the first token
  double rest_seconds = 0;   // of the tokens after it
};

class Generator {
 public:
  // The decoder is of batch 1. `ends` are tokens that end a text, beside the tokenizer's own.
  Generator(Decoder decoder, Tokenizer tokenizer, std::vector<int32_t> ends = {});

  Decoder& decoder() { return decoder_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

  // Continues what the decoder holds with the prompt, then with tokens of its own. `show` gets text as soon as it is
  // certain, and returns whether to go on.
  GenerateResult generate(const std::vector<int32_t>& prompt, const GenerateOptions& options,
                          const std::function<bool(std::string_view)>& show);

 private:
  bool ends(int32_t token) const;

  Decoder decoder_;
  Tokenizer tokenizer_;
  std::vector<int32_t> ends_;
};

}  // namespace lumen::models
