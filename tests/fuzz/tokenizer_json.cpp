// Any bytes as a tokenizer.json: an error, or a tokenizer that encodes a text, and whose streamed text is its decoded
// one.
#include "lumen/base/check.h"
#include "lumen/text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = lumen::Tokenizer::from_json(text);
  if (!tokenizer.ok()) return 0;
  // The end of the input is a text, too: often with the tokens that the file just named.
  for (const std::string_view given : {std::string_view("Hello  wörld 12\n\xff<s>"), text.substr(size - size / 4)}) {
    const auto ids = tokenizer->encode(given);
    if (!ids.ok()) continue;
    lumen::Detokenizer detokenizer(*tokenizer);
    std::string streamed;
    for (const int32_t id : *ids) streamed += detokenizer.push(id);
    streamed += detokenizer.finish();
    CHECK(streamed == tokenizer->decode(*ids));
  }
  return 0;
}
