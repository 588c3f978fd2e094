// Any bytes as a chat template: an error, or a text, within small limits.
#include "lumen/text/chat_template.h"

#include <nlohmann/json.hpp>

#include "lumen/base/check.h"
#include "lumen/text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto chat = lumen::ChatTemplate::parse({reinterpret_cast<const char*>(data), size});
  if (!chat.ok()) return 0;
  static const nlohmann::ordered_json variables = {
      {"messages", {{{"role", "user"}, {"content", "Hi é"}}, {{"role", "assistant"}, {"content", " ok\n"}}}},
      {"tools", {{{"name", "f"}, {"n", 1}, {"x", 1.5}, {"none", nullptr}}}},
      {"add_generation_prompt", true},
      {"bos_token", "<s>"}};
  const auto text = chat->render(variables, {{/*steps=*/20'000, /*bytes=*/1 << 20}, /*now=*/0});
  if (text.ok()) CHECK(lumen::text::utf8_valid(*text));
  return 0;
}
