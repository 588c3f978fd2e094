#include "lumen/text/chat_template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lumen {
namespace {

using Json = nlohmann::ordered_json;

std::string render(std::string_view text, const Json& variables = Json::object(), const RenderOptions& options = {}) {
  const Expected<ChatTemplate> chat = ChatTemplate::parse(text);
  if (!chat.ok()) return "error: " + chat.diag().str();
  const Expected<std::string> result = chat->render(variables, options);
  return result.ok() ? *result : "error: " + result.diag().str();
}

TEST(ChatTemplate, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(render("a\n{% if x %}"), "error: chat template, line 2: expected {% endif %}, found the end");
  EXPECT_EQ(render("{{ 1 + }}"), "error: chat template, line 1: expected an expression, found }}");
  EXPECT_EQ(render("{{ 'a"), "error: chat template, line 1: a string is not closed");
  EXPECT_EQ(render("\n\n{{ 1 ? 2 }}"), "error: chat template, line 3: unexpected character \"?\"");
  EXPECT_EQ(render("{# x"), "error: chat template, line 1: a comment {# is not closed");
  EXPECT_EQ(render("{% include 'x' %}"),
            "error: chat template, line 1: tag include is not supported; these are: if, for, set, macro, generation, "
            "break, continue, raw");
  EXPECT_EQ(render("{% break %}"), "error: chat template, line 1: break outside a loop");
  EXPECT_EQ(render("{% for x in y recursive %}{% endfor %}"),
            "error: chat template, line 1: recursive loops are not supported");
  EXPECT_EQ(render("\xff"), "error: chat template: not valid UTF-8");
  EXPECT_EQ(render("{{ 99999999999999999999 }}"),
            "error: chat template, line 1: number 99999999999999999999 is too large");
}

TEST(ChatTemplate, FailsAsPythonWould) {
  EXPECT_EQ(render("{{ raise_exception('no') }}"), "error: chat template, line 1: no");
  EXPECT_EQ(render("{{ x.y }}"), "error: chat template, line 1: 'x' is undefined");
  EXPECT_EQ(render("{{ 1 + 'a' }}"), "error: chat template, line 1: unsupported operand types for +: 'int' and 'str'");
  EXPECT_EQ(render("{{ 1 // 0 }}"), "error: chat template, line 1: integer division or modulo by zero");
  EXPECT_EQ(render("{{ 9223372036854775807 + 1 }}"),
            "error: chat template, line 1: 9223372036854775807 + 1 is too large");
  EXPECT_EQ(render("{% for x in 3 %}{% endfor %}"), "error: chat template, line 1: 'int' object is not iterable");
  EXPECT_EQ(render("{% set a, b = [1] %}"), "error: chat template, line 1: 1 values for 2 names");
  EXPECT_EQ(render("{% set x = 1 %}{% set x.y = 1 %}"), "error: chat template, line 1: x is not a namespace");
  EXPECT_EQ(render("{{ [].append(1) }}"), "error: chat template, line 1: 'append' is undefined");
  EXPECT_EQ(render("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}"),
            "error: chat template, line 1: macro m takes 1 arguments, 2 were given");
  EXPECT_EQ(render("{{ '' | trim(x=1) }}"), "error: chat template, line 1: trim has no argument x");
  EXPECT_TRUE(render("{{ 1 | nope }}")
                  .starts_with("error: chat template, line 1: filter nope is not supported; these are: map, reject,"));
  EXPECT_TRUE(
      render("{{ 1 is nope }}").starts_with("error: chat template, line 1: test nope is not supported; these are:"));
  EXPECT_EQ(ChatTemplate::parse("x")->render(Json(3)).diag().str(), "chat template: the variables are not an object");
}

TEST(ChatTemplate, IsLimited) {
  RenderOptions few;
  few.limits = {1000, 1'000'000};
  EXPECT_EQ(render("{% for a in range(99) %}{% for b in range(99) %}x{% endfor %}{% endfor %}", Json::object(), few),
            "error: chat template, line 1: more than 1000 steps");
  EXPECT_EQ(render("{% set ns = namespace(s='xx') %}{% for a in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
                   Json::object(), few),
            "error: chat template, line 1: more than 1000000 bytes");
  EXPECT_EQ(render("{{ 'abcd' * 100000000000 }}"), "error: chat template, line 1: a repetition is too long");
  EXPECT_EQ(render("{{ range(1000000) }}"), "error: chat template, line 1: range() of more than 100000");
  EXPECT_EQ(render("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
            "error: chat template, line 1: nested too deeply");
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}"),
            "error: chat template, line 1: a value is nested too deeply, or holds itself");
  Json deep = 1;
  for (int k = 0; k < 500; ++k) deep = Json::array({deep});
  EXPECT_EQ(render("x", {{"deep", deep}}), "error: chat template: a variable is nested too deeply");
  EXPECT_EQ(render(std::string(5000, '(')), std::string(5000, '(')) << "text";
  EXPECT_EQ(render("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}"),
            "error: chat template, line 1: nested too deeply");
  EXPECT_EQ(render("{{ " + std::string(5000, '[') + std::string(5000, ']') + " }}"),
            "error: chat template, line 1: nested too deeply");
  std::string sum = "1";
  for (int k = 0; k < 100'000; ++k) sum += "+1";
  EXPECT_EQ(render("{{ " + sum + " }}"), "error: chat template, line 1: nested too deeply");
  std::string ifs;
  for (int k = 0; k < 5000; ++k) ifs += "{% if 1 %}";
  EXPECT_EQ(render(ifs), "error: chat template, line 1: nested too deeply");
}

TEST(ChatTemplate, RendersAConversation) {
  constexpr std::string_view kTemplate =
      "{{ bos_token }}{% for m in messages %}\n<|{{ m.role }}|>{{ m['content'] | trim }}{% if not loop.last %};{% "
      "endif %}"
      "{% endfor %}\n{% if add_generation_prompt %}\n<|assistant|>{% endif %}";
  const Json messages = {{{"role", "user"}, {"content", " hi "}}, {{"role", "assistant"}, {"content", "yo"}}};
  const Json variables = {{"messages", messages}, {"bos_token", "<s>"}, {"add_generation_prompt", true}};
  // trim_blocks takes the newline after each block.
  EXPECT_EQ(render(kTemplate, variables), "<s><|user|>hi;<|assistant|>yo<|assistant|>");
}

TEST(ChatTemplate, TheTimeCanBeGiven) {
  EXPECT_EQ(render("{{ strftime_now('%Y-%m-%d %H:%M:%S %b') }}", Json::object(), {{}, 86399}),
            "1970-01-01 23:59:59 Jan");
  EXPECT_EQ(render("{{ strftime_now('') }}|", Json::object(), {{}, 0}), "|");
  EXPECT_EQ(render("{{ strftime_now('%A' * 1000) }}", Json::object(), {{}, 0}),
            "error: chat template, line 1: a time format is too long");
}

}  // namespace
}  // namespace lumen
