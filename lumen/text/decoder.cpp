#include "lumen/text/decoder.h"

#include <utility>

#include "lumen/text/utf8.h"

namespace lumen::text {

class DecodeChain::Output : public DecodeStep {
 public:
  void put(std::string_view part, bool) override { text += part; }
  void finish() override {}
  std::string text;
};

DecodeChain::DecodeChain(const std::vector<MakeDecodeStep>& steps) {
  for (const MakeDecodeStep& make : steps) steps_.push_back(make());
  auto output = std::make_unique<Output>();
  output_ = output.get();
  steps_.push_back(std::move(output));
  for (size_t k = 0; k + 1 < steps_.size(); ++k) steps_[k]->set_next(steps_[k + 1].get());
  first_ = steps_.front().get();
}

std::string DecodeChain::take() { return std::exchange(output_->text, {}); }

std::string Utf8Stream::put(std::string_view bytes) {
  pending_ += bytes;
  return take(true);
}

std::string Utf8Stream::finish() { return take(false); }

std::string Utf8Stream::take(bool more) {
  std::string text;
  size_t at = 0;
  while (at < pending_.size()) {
    const Utf8Char c = utf8_at(pending_, at);
    if (c.cut && more) break;
    text += c.valid ? std::string_view(pending_).substr(at, c.size) : kReplacement;
    at += c.valid || !per_byte_ ? c.size : 1;
  }
  pending_.erase(0, at);
  return text;
}

}  // namespace lumen::text
