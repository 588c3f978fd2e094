#define PCRE2_CODE_UNIT_WIDTH 8
#include "lumen/text/regex.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <string>

#include "lumen/base/check.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

// PCRE2's own \s has U+180E, its \w lacks the marks.
constexpr std::string_view kSpace =
    "\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";
constexpr std::string_view kWord = "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24b6}-\\x{24e9}";

constexpr uint32_t kMaxSteps = 10'000'000;
constexpr size_t kMaxPattern = 100'000;

std::string translate(std::string_view pattern) {
  std::string result;
  bool in_class = false;
  for (size_t k = 0; k < pattern.size(); ++k) {
    const char c = pattern[k];
    if (c == '\\' && k + 1 < pattern.size()) {
      const char letter = pattern[++k];
      const std::string_view set = letter == 's' || letter == 'S'   ? kSpace
                                   : letter == 'w' || letter == 'W' ? kWord
                                                                    : "";
      const bool negated = letter == 'S' || letter == 'W';
      if (set.empty() || (in_class && negated)) {
        (result += '\\') += letter;
      } else if (in_class) {
        result += set;
      } else {
        ((result += negated ? "[^" : "[") += set) += ']';
      }
      continue;
    }
    if (c == '[' && !in_class) {
      in_class = true;
      result += c;
      // A ] that comes first is a member.
      if (k + 1 < pattern.size() && pattern[k + 1] == '^') result += pattern[++k];
      if (k + 1 < pattern.size() && pattern[k + 1] == ']') (result += '\\') += pattern[++k];
      continue;
    }
    if (c == ']') in_class = false;
    result += c;
  }
  return result;
}

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

}  // namespace

struct Regex::Code {
  pcre2_code* code;
  pcre2_match_context* context;  // with the limit on steps; never changed
  ~Code() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
};

struct Regex::Finder::State {
  pcre2_match_data* data = nullptr;
  // Only for matches that outgrow the stack they have by default.
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;
  ~State() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
};

Expected<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPattern) return error(fmt::format("a regex of {} bytes is too long", pattern.size()));
  if (!utf8_valid(pattern)) return error("a regex is not valid UTF-8");
  const std::string translated = translate(pattern);
  int code = 0;
  PCRE2_SIZE offset = 0;
  const auto options = PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
  pcre2_code* compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), options,
                                       &code, &offset, nullptr);
  if (compiled == nullptr) return error(fmt::format("regex \"{}\": {}", pattern, message_of(code)));
  // Where there is no compiler to machine code, the interpreter does the same more slowly.
  (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
  Regex regex;
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  CHECK(context != nullptr, "out of memory");
  pcre2_set_match_limit(context, kMaxSteps);
  regex.code_ = std::shared_ptr<const Code>(new Code{compiled, context});
  return regex;
}

Regex::Finder::Finder(const Regex& regex, std::string_view text)
    : state_(std::make_unique<State>()), regex_(regex), text_(text) {
  state_->data = pcre2_match_data_create(1, nullptr);
  CHECK(state_->data != nullptr, "out of memory");
}

Regex::Finder::~Finder() = default;

int Regex::Finder::match() {
  const Code& code = *regex_.code_;
  const auto match_with = [&](pcre2_match_context* context) {
    return pcre2_match(code.code, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), at_,
                       PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, state_->data, context);
  };
  const int found = match_with(state_->context != nullptr ? state_->context : code.context);
  if (found != PCRE2_ERROR_JIT_STACKLIMIT || state_->stack != nullptr) return found;
  state_->context = pcre2_match_context_copy(code.context);
  state_->stack = pcre2_jit_stack_create(64 * 1024, 8 * 1024 * 1024, nullptr);
  CHECK(state_->context != nullptr && state_->stack != nullptr, "out of memory");
  pcre2_jit_stack_assign(state_->context, nullptr, state_->stack);
  return match_with(state_->context);
}

Expected<bool> Regex::Finder::next(Match& match) {
  if (at_ >= text_.size()) return false;
  const int found = this->match();
  if (found == PCRE2_ERROR_NOMATCH) {
    at_ = text_.size();
    return false;
  }
  if (found < 0) return error(fmt::format("a regex of the tokenizer, at byte {}: {}", at_, message_of(found)));
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(state_->data);
  match = {range[0], range[1]};
  if (match.begin >= match.end || match.end <= at_) return error("a regex of the tokenizer moves its own start (\\K)");
  at_ = match.end;
  return true;
}

}  // namespace lumen::text
