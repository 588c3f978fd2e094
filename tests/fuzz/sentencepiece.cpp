// Any bytes as a SentencePiece model: an error, or a tokenizer that encodes any text into ids that it has.
#include "lumen/base/check.h"
#include "lumen/text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tokenizer = lumen::Tokenizer::from_sentencepiece(std::as_bytes(std::span(data, size)));
  if (!tokenizer.ok()) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view given : {std::string_view(" a  b\xff ｶﾞ"), bytes.substr(size - size / 4)}) {
    const auto ids = tokenizer->encode(given);
    CHECK(ids.ok());
    lumen::Detokenizer detokenizer(*tokenizer);
    std::string streamed;
    for (const int32_t id : *ids) {
      CHECK(id >= 0 && id < tokenizer->size());
      streamed += detokenizer.push(id);
    }
    streamed += detokenizer.finish();
    CHECK(streamed == tokenizer->decode(*ids));
  }
  return 0;
}
