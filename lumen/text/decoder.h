// Decoding as a chain of steps. A step takes tokens and hands on text as soon as nothing that may follow can change it,
// so that decoding all at once and decoding as tokens come are the same thing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lumen::text {

class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  // A part of a token; `ends` with the last.
  virtual void put(std::string_view part, bool ends) = 0;
  // No token follows.
  virtual void finish() { next_->finish(); }
  void set_next(DecodeStep* next) { next_ = next; }

 protected:
  DecodeStep* next_ = nullptr;
};

using MakeDecodeStep = std::function<std::unique_ptr<DecodeStep>()>;

// The state of one decoding.
class DecodeChain {
 public:
  explicit DecodeChain(const std::vector<MakeDecodeStep>& steps);
  void put(std::string_view token) { first_->put(token, true); }
  void finish() { first_->finish(); }
  // What has come out since the last call.
  std::string take();

 private:
  class Output;
  std::vector<std::unique_ptr<DecodeStep>> steps_;
  DecodeStep* first_;
  Output* output_;
};

// Bytes as they come, characters as they are complete.
class Utf8Stream {
 public:
  // One U+FFFD for each invalid byte, or for each longest prefix of a character.
  explicit Utf8Stream(bool per_byte) : per_byte_(per_byte) {}
  std::string put(std::string_view bytes);
  // What is left is no character.
  std::string finish();

 private:
  std::string take(bool more);
  bool per_byte_;
  std::string pending_;
};

// The steps, named as in tokenizer.json.
MakeDecodeStep decode_byte_level();
MakeDecodeStep decode_byte_fallback();
MakeDecodeStep decode_fuse();
MakeDecodeStep decode_strip(std::string character, size_t start, size_t stop);
MakeDecodeStep decode_metaspace(std::string replacement, bool strip_first);
MakeDecodeStep decode_word_piece(std::string prefix, bool cleanup);
MakeDecodeStep decode_bpe(std::string suffix);
// Each token alone, by a function of it.
MakeDecodeStep decode_each(std::function<std::string(std::string_view token)> function);
// A space between tokens: what a tokenizer without a decoder does.
MakeDecodeStep decode_join();

// SentencePiece's: the space it put before the text is taken away (all of them if `all`) ...
MakeDecodeStep decode_leading_space(bool all);
// ... and <0xNN> tokens are bytes, each invalid one U+FFFD.
MakeDecodeStep decode_bytes();

}  // namespace lumen::text
