#include "models/generator.h"

#include <algorithm>

#include "lumen/base/clock.h"
#include "lumen/text/stop_strings.h"
#include "models/next_token.h"

namespace lumen::models {

Generator::Generator(Decoder decoder, Tokenizer tokenizer, std::vector<int32_t> ends)
    : decoder_(std::move(decoder)), tokenizer_(std::move(tokenizer)), ends_(std::move(ends)) {
  if (tokenizer_.eos()) ends_.push_back(*tokenizer_.eos());
}

bool Generator::ends(int32_t token) const { return std::ranges::find(ends_, token) != ends_.end(); }

GenerateResult Generator::generate(const std::vector<int32_t>& prompt, const GenerateOptions& options,
                                   const std::function<bool(std::string_view)>& show) {
  GenerateResult result;
  const double start = seconds_now();
  NextToken following(decoder_, 0, options.sampling);
  decoder_.prefill({prompt}, options.chunk);
  following.see(prompt);
  Detokenizer detokenizer(tokenizer_);
  StopStrings stop = StopStrings::make(options.stop).value();
  double first = 0;
  for (int64_t k = 0; k < options.max_tokens; ++k) {
    const int32_t token = following.next();
    if (k == 0) first = seconds_now();
    if (ends(token) && !options.ignore_end) {
      result.finish = Finish::end;
      break;
    }
    result.tokens.push_back(token);
    const std::string text = stop.push(detokenizer.push(token));
    if (!text.empty() && !show(text)) {
      result.finish = Finish::stopped;
      break;
    }
    if (stop.stopped()) {
      result.finish = Finish::stop_string;
      break;
    }
    // The last token is not read: nobody asks for what follows it.
    if (k + 1 == options.max_tokens) break;
    if (following.choice()) {
      decoder_.step_on(k + 2 < options.max_tokens, *following.choice());
    } else {
      decoder_.step({token});
    }
  }
  if (result.finish != Finish::stopped) {
    const std::string rest = stop.push(detokenizer.finish()) + stop.finish();
    if (!rest.empty()) show(rest);
  }
  result.first_seconds = (first > 0 ? first : seconds_now()) - start;
  result.rest_seconds = first > 0 ? seconds_now() - first : 0;
  return result;
}

}  // namespace lumen::models
