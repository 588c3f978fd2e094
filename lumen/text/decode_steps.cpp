#include <utility>

#include "lumen/text/bpe.h"
#include "lumen/text/byte_level.h"
#include "lumen/text/decoder.h"
#include "lumen/text/normalizer.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

// For steps that look at whole tokens.
class TokenStep : public DecodeStep {
 public:
  void put(std::string_view part, bool ends) final {
    token_ += part;
    if (ends) take(std::exchange(token_, {}));
  }

 protected:
  virtual void take(std::string token) = 0;

 private:
  std::string token_;
};

class Each : public TokenStep {
 public:
  explicit Each(const std::function<std::string(std::string_view)>& function) : function_(function) {}

 protected:
  void take(std::string token) override { next_->put(function_(token), true); }

 private:
  const std::function<std::string(std::string_view)> function_;
};

class ByteLevel : public TokenStep {
 public:
  void finish() override {
    next_->put(stream_.finish(), true);
    next_->finish();
  }

 protected:
  void take(std::string token) override { next_->put(stream_.put(bytes_of_characters(token).value_or(token)), false); }

 private:
  Utf8Stream stream_{/*per_byte=*/false};
};

// For steps that put bytes together, which tokens in a row may stand for.
class ByteStep : public TokenStep {
 public:
  void finish() final {
    flush();
    next_->finish();
  }

 protected:
  void take(std::string token) final {
    if (const auto byte = byte_of_token(token)) return take_byte(static_cast<char>(*byte));
    flush();
    next_->put(token, true);
  }
  virtual void take_byte(char byte) = 0;
  virtual void flush() = 0;  // the row has ended
};

// Bytes in a row are text if all of them together are, so nothing of them is known before the row ends.
class ByteFallback : public ByteStep {
 private:
  void take_byte(char byte) override { bytes_ += byte; }
  void flush() override {
    if (bytes_.empty()) return;
    if (utf8_valid(bytes_)) {
      next_->put(bytes_, true);
    } else {
      for (size_t k = 0; k < bytes_.size(); ++k) next_->put(kReplacement, true);
    }
    bytes_.clear();
  }
  std::string bytes_;
};

class Bytes : public ByteStep {
 private:
  void take_byte(char byte) override { next_->put(stream_.put({&byte, 1}), true); }
  void flush() override { next_->put(stream_.finish(), true); }
  Utf8Stream stream_{/*per_byte=*/true};
};

class Fuse : public DecodeStep {
 public:
  void put(std::string_view part, bool) override { next_->put(part, false); }
  void finish() override {
    next_->put("", true);
    next_->finish();
  }
};

class Strip : public DecodeStep {
 public:
  Strip(std::string character, size_t start, size_t stop)
      : character_(std::move(character)), start_(start), stop_(stop), left_(start) {}

  void put(std::string_view part, bool ends) override {
    for (; left_ > 0 && !part.empty(); --left_) {
      if (!part.starts_with(character_)) {
        left_ = 0;
        break;
      }
      part.remove_prefix(character_.size());
    }
    // The last `stop` characters of a token may go: they wait until others follow them.
    std::string text(part);
    size_t kept = text.size();
    size_t trailing = 0;
    while (kept >= character_.size() && text.compare(kept - character_.size(), character_.size(), character_) == 0) {
      kept -= character_.size();
      ++trailing;
    }
    const bool only_these = kept == 0;
    std::string ready = only_these ? "" : repeated(std::exchange(waiting_, 0)) + text.substr(0, kept);
    waiting_ += trailing;
    if (waiting_ > stop_) ready += repeated(waiting_ - stop_), waiting_ = stop_;
    if (ends) {
      waiting_ = 0;
      left_ = start_;
    }
    next_->put(ready, ends);
  }

 private:
  std::string repeated(size_t count) const {
    std::string text;
    while (count-- > 0) text += character_;
    return text;
  }
  const std::string character_;
  const size_t start_, stop_;
  size_t left_;
  size_t waiting_ = 0;
};

// Steps for which the first token is another.
class Indexed : public TokenStep {
 public:
  explicit Indexed(std::function<std::string(std::string token, bool first)> function)
      : function_(std::move(function)) {}

 protected:
  void take(std::string token) override { next_->put(function_(std::move(token), std::exchange(first_, false)), true); }

 private:
  const std::function<std::string(std::string token, bool first)> function_;
  bool first_ = true;
};

MakeDecodeStep indexed(std::function<std::string(std::string token, bool first)> function) {
  return [function = std::move(function)] { return std::make_unique<Indexed>(function); };
}

// English punctuation without the space before it.
void clean_up(std::string& text) {
  constexpr std::pair<const char*, const char*> kReplacements[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) text = replace_all(text, from, to);
}

// The end-of-word mark of the last token is nothing, of the others a space: so one token waits.
class BpeSuffix : public TokenStep {
 public:
  explicit BpeSuffix(std::string suffix) : suffix_(std::move(suffix)) {}
  void finish() override {
    if (waits_) hand_on("");
    next_->finish();
  }

 protected:
  void take(std::string token) override {
    if (waits_) hand_on(" ");
    waiting_ = std::move(token);
    waits_ = true;
  }

 private:
  void hand_on(std::string_view replacement) { next_->put(replace_all(waiting_, suffix_, replacement), true); }
  const std::string suffix_;
  std::string waiting_;
  bool waits_ = false;
};

class LeadingSpace : public TokenStep {
 public:
  explicit LeadingSpace(bool all) : all_(all) {}

 protected:
  void take(std::string token) override {
    constexpr std::string_view kMark = "\xE2\x96\x81";
    if (begins_ && token.starts_with(kMark)) {
      token.erase(0, kMark.size());
      begins_ = all_ && token.empty();
    } else if (!token.empty()) {
      begins_ = false;
    }
    next_->put(token, true);
  }

 private:
  const bool all_;
  bool begins_ = true;
};

}  // namespace

MakeDecodeStep decode_byte_level() {
  return [] { return std::make_unique<ByteLevel>(); };
}
MakeDecodeStep decode_byte_fallback() {
  return [] { return std::make_unique<ByteFallback>(); };
}
MakeDecodeStep decode_fuse() {
  return [] { return std::make_unique<Fuse>(); };
}
MakeDecodeStep decode_bytes() {
  return [] { return std::make_unique<Bytes>(); };
}
MakeDecodeStep decode_leading_space(bool all) {
  return [all] { return std::make_unique<LeadingSpace>(all); };
}
MakeDecodeStep decode_bpe(std::string suffix) {
  return [suffix = std::move(suffix)] { return std::make_unique<BpeSuffix>(suffix); };
}
MakeDecodeStep decode_each(std::function<std::string(std::string_view)> function) {
  return [function = std::move(function)] { return std::make_unique<Each>(function); };
}
MakeDecodeStep decode_strip(std::string character, size_t start, size_t stop) {
  return [=] { return std::make_unique<Strip>(character, start, stop); };
}

MakeDecodeStep decode_metaspace(std::string replacement, bool strip_first) {
  return indexed(
      [=](std::string token, bool first) { return replace_all(token, replacement, first && strip_first ? "" : " "); });
}

MakeDecodeStep decode_word_piece(std::string prefix, bool cleanup) {
  return indexed([=](std::string token, bool first) {
    if (!first && token.starts_with(prefix)) {
      token.erase(0, prefix.size());
    } else if (!first) {
      token.insert(0, " ");
    }
    if (cleanup) clean_up(token);
    return token;
  });
}

MakeDecodeStep decode_join() {
  return indexed([](std::string token, bool first) { return first ? token : " " + token; });
}

}  // namespace lumen::text
