// ChatTemplate: the templates that models come with, which turn a conversation into the one text that a model sees.
//
//   const ChatTemplate chat = LUMEN_TRY(ChatTemplate::parse(tokenizer.chat_template()));
//   const std::string prompt = LUMEN_TRY(chat.render({{"messages", messages}, {"add_generation_prompt", true},
//                                                     {"bos_token", "<s>"}, {"eos_token", "</s>"}}));
//
// The language is the part of Jinja that templates use, with Hugging Face's settings: a newline after a block and
// spaces before it are dropped, `break` and `continue` work, raise_exception(text) is an error, strftime_now(format) is
// the time. Anything outside that part is an error that says what and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen {

struct RenderLimits {
  size_t steps = 10'000'000;        // expressions and statements that are evaluated
  size_t bytes = 64 * 1024 * 1024;  // of the result, and of all text made on the way
};

struct RenderOptions {
  RenderLimits limits;
  std::optional<int64_t> now;  // seconds since 1970, UTC; none: the clock
};

namespace text {
struct Template;
}

// A value, cheap to copy; any thread may render.
class ChatTemplate {
 public:
  static Expected<ChatTemplate> parse(std::string_view text);
  // `variables` is an object: messages, tools, add_generation_prompt, bos_token and whatever else the template reads.
  Expected<std::string> render(const nlohmann::ordered_json& variables, const RenderOptions& options = {}) const;

 private:
  std::shared_ptr<const text::Template> template_;
};

}  // namespace lumen
