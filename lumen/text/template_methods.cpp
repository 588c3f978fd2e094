#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "lumen/text/normalizer.h"
#include "lumen/text/template_functions.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Kind = Value::Kind;

constexpr const char* kStringMethods[] = {"capitalize", "count",  "endswith", "find",         "isdigit",
                                          "join",       "lower",  "lstrip",   "removeprefix", "removesuffix",
                                          "replace",    "rsplit", "rstrip",   "split",        "splitlines",
                                          "startswith", "strip",  "title",    "upper"};
constexpr const char* kDictMethods[] = {"get", "items", "keys", "values"};
constexpr const char* kListMethods[] = {"count", "index"};
constexpr const char* kLoopMethods[] = {"cycle"};
constexpr const char* kFunctions[] = {"dict", "namespace", "raise_exception", "range", "strftime_now"};

const char* find_in(std::span<const char* const> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : *found;
}

// Python's str.isspace has a few controls more than White_Space.
bool is_python_space(char32_t c) { return is_space(c) || (c >= 0x1C && c <= 0x1F); }

bool is_given(const Value* value) { return value != nullptr && !value->is(Kind::none); }

Expected<Value> split_method(TemplateContext& context, const std::string& text, const Arguments& arguments,
                             bool right) {
  constexpr std::string_view kNames[] = {"sep", "maxsplit"};
  const auto bound = LUMEN_TRY(bind_arguments("split", kNames, arguments));
  int64_t left = bound[1] != nullptr ? LUMEN_TRY(small_integer(*bound[1], "maxsplit")) : -1;
  std::vector<std::string> parts;
  std::string_view rest = text;
  if (!is_given(bound[0])) {
    std::string word;
    if (right && left >= 0) return error("rsplit with maxsplit and no separator is not supported");
    for (size_t at = 0; at < rest.size();) {
      const Utf8Char c = utf8_at(rest, at);
      if (!is_python_space(c.code) && word.empty() && left == 0) {
        word = strip_text(rest.substr(at), nullptr, false, true);
        break;
      }
      if (!is_python_space(c.code)) {
        word += rest.substr(at, c.size);
      } else if (!word.empty()) {
        parts.push_back(std::exchange(word, {}));
        --left;
      }
      at += c.size;
    }
    if (!word.empty()) parts.push_back(word);
  } else {
    const std::string separator = LUMEN_TRY(require_string(*bound[0], "a separator"));
    if (separator.empty()) return error("empty separator");
    for (; left != 0; --left) {
      const size_t at = right ? rest.rfind(separator) : rest.find(separator);
      if (at == std::string_view::npos) break;
      parts.emplace_back(right ? rest.substr(at + separator.size()) : rest.substr(0, at));
      rest = right ? rest.substr(0, at) : rest.substr(at + separator.size());
    }
    parts.emplace_back(rest);
    if (right) std::reverse(parts.begin(), parts.end());
  }
  std::vector<Value> items;
  for (std::string& part : parts) items.push_back(context.heap.string(std::move(part)));
  return context.heap.list(std::move(items));
}

Expected<bool> starts_or_ends(const std::string& text, const Value& with, bool starts) {
  const auto matches = [&](const std::string& part) { return starts ? text.starts_with(part) : text.ends_with(part); };
  if (!with.is(Kind::list)) return matches(LUMEN_TRY(require_string(with, "what a text starts or ends with")));
  for (const Value& one : with.as_list().items) {
    if (matches(LUMEN_TRY(require_string(one, "what a text starts or ends with")))) return true;
  }
  return false;
}

Expected<Value> join_method(TemplateContext& context, const std::string& separator, const Value& values) {
  std::string text;
  bool first = true;
  for (const Value& value : LUMEN_TRY(items_of(values, context.heap))) {
    if (!std::exchange(first, false)) text += separator;
    text += LUMEN_TRY(require_string(value, "an item of join"));
  }
  return context.heap.string(std::move(text));
}

Expected<Value> splitlines(TemplateContext& context, const std::string& text) {
  std::vector<Value> lines;
  std::string line;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n' && text[at] != '\r') {
      line += text[at];
      continue;
    }
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
    lines.push_back(context.heap.string(std::exchange(line, {})));
  }
  if (!line.empty()) lines.push_back(context.heap.string(std::move(line)));
  return context.heap.list(std::move(lines));
}

// How many characters come before byte `at`.
Value character_index(const std::string& text, size_t at) {
  if (at == std::string::npos) return Value::integer(-1);
  return Value::integer(static_cast<int64_t>(utf8_codes(std::string_view(text).substr(0, at)).size()));
}

Expected<Value> string_with_arguments(TemplateContext& context, const std::string& text, std::string_view name,
                                      const Arguments& arguments) {
  constexpr std::string_view kNames[] = {"old", "new", "count"};
  const auto bound = LUMEN_TRY(bind_arguments(name, kNames, arguments));
  if (bound[0] == nullptr) return error(fmt::format("{}() needs an argument", name));
  if (name == "join") return join_method(context, text, *bound[0]);
  if (name == "startswith" || name == "endswith") {
    return Value::boolean(LUMEN_TRY(starts_or_ends(text, *bound[0], name == "startswith")));
  }
  const std::string part = LUMEN_TRY(require_string(*bound[0], fmt::format("the argument of {}()", name)));
  if (name == "find") return character_index(text, text.find(part));
  if (name == "removeprefix") return context.heap.string(text.starts_with(part) ? text.substr(part.size()) : text);
  if (name == "removesuffix") {
    return context.heap.string(text.ends_with(part) ? text.substr(0, text.size() - part.size()) : text);
  }
  if (name == "count") {
    int64_t count = part.empty() ? static_cast<int64_t>(utf8_codes(text).size()) + 1 : 0;
    for (size_t at = part.empty() ? std::string::npos : text.find(part); at != std::string::npos; ++count) {
      at = text.find(part, at + part.size());
    }
    return Value::integer(count);
  }
  if (bound[1] == nullptr) return error("replace() needs two arguments");
  const int64_t count = bound[2] != nullptr ? LUMEN_TRY(small_integer(*bound[2], "count")) : -1;
  return context.heap.string(replace_text(text, part, LUMEN_TRY(require_string(*bound[1], "the new text")), count));
}

Expected<Value> string_method(TemplateContext& context, const std::string& text, std::string_view name,
                              const Arguments& arguments) {
  if (name == "split" || name == "rsplit") return split_method(context, text, arguments, name == "rsplit");
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    constexpr std::string_view kNames[] = {"chars"};
    const auto bound = LUMEN_TRY(bind_arguments(name, kNames, arguments));
    std::string characters;
    if (is_given(bound[0])) characters = LUMEN_TRY(require_string(*bound[0], "the characters to strip"));
    return context.heap.string(
        strip_text(text, is_given(bound[0]) ? &characters : nullptr, name != "rstrip", name != "lstrip"));
  }
  if (name == "upper") return context.heap.string(uppercase(text));
  if (name == "lower") return context.heap.string(lowercase(text));
  if (name == "title") return context.heap.string(title_text(text));
  if (name == "capitalize") return context.heap.string(capitalize_text(text));
  if (name == "splitlines") return splitlines(context, text);
  if (name == "isdigit") {
    const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return Value::boolean(!text.empty() && digits);
  }
  return string_with_arguments(context, text, name, arguments);
}

Expected<Value> dict_method(TemplateContext& context, const DictValue& dict, std::string_view name,
                            const Arguments& arguments) {
  if (name == "get") {
    constexpr std::string_view kNames[] = {"key", "default"};
    const auto bound = LUMEN_TRY(bind_arguments("get", kNames, arguments));
    if (bound[0] == nullptr) return error("get() needs a key");
    const Value* found = dict.find(*bound[0]);
    return found != nullptr ? *found : bound[1] != nullptr ? *bound[1] : Value::none();
  }
  std::vector<Value> items;
  for (const auto& [key, value] : dict.entries) {
    items.push_back(name == "keys" ? key : name == "values" ? value : context.heap.list({key, value}, true));
  }
  return context.heap.list(std::move(items));
}

Expected<Value> range_function(TemplateContext& context, const Arguments& arguments) {
  constexpr int64_t kMost = 100'000;
  constexpr std::string_view kNames[] = {"start", "stop", "step"};
  const auto bound = LUMEN_TRY(bind_arguments("range", kNames, arguments));
  if (bound[0] == nullptr) return error("range() needs an argument");
  int64_t start = 0;
  int64_t stop = LUMEN_TRY(small_integer(*bound[0], "range()"));
  if (bound[1] != nullptr) start = std::exchange(stop, LUMEN_TRY(small_integer(*bound[1], "range()")));
  const int64_t step = bound[2] != nullptr ? LUMEN_TRY(small_integer(*bound[2], "range()")) : 1;
  if (step == 0) return error("range() step must not be zero");
  std::vector<Value> items;
  for (int64_t at = start; step > 0 ? at < stop : at > stop; at += step) {
    if (static_cast<int64_t>(items.size()) >= kMost) return error(fmt::format("range() of more than {}", kMost));
    items.push_back(Value::integer(at));
  }
  return context.heap.list(std::move(items));
}

Expected<Value> time_text(TemplateContext& context, const Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty()) return error("strftime_now() needs a format");
  const std::string format = LUMEN_TRY(require_string(arguments.positional[0], "a time format"));
  const auto seconds = static_cast<std::time_t>(context.now);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return error("the time is out of range");
  // One character more, so that an empty result and one that does not fit differ.
  std::array<char, 512> buffer{};
  const size_t size = std::strftime(buffer.data(), buffer.size(), (format + "x").c_str(), &parts);
  if (size == 0) return error("a time format is too long");
  return context.heap.string(replace_invalid({buffer.data(), size - 1}));
}

}  // namespace

const char* find_method(const Value& value, std::string_view name) {
  if (value.is(Kind::string)) return find_in(kStringMethods, name);
  if (value.is(Kind::dict)) return find_in(kDictMethods, name);
  if (value.is(Kind::list)) return find_in(kListMethods, name);
  if (value.is(Kind::loop)) return find_in(kLoopMethods, name);
  return nullptr;
}

const char* find_function(std::string_view name) { return find_in(kFunctions, name); }

Expected<Value> call_method(TemplateContext& context, const MethodValue& method, const Arguments& arguments) {
  const std::string_view name = method.name;
  if (method.self.is(Kind::string)) return string_method(context, method.self.as_string(), name, arguments);
  if (method.self.is(Kind::dict)) return dict_method(context, method.self.as_dict(), name, arguments);
  if (arguments.positional.empty()) return error(fmt::format("{}() needs an argument", name));
  if (method.self.is(Kind::loop)) {
    return arguments.positional[method.self.as_loop().index % arguments.positional.size()];
  }
  int64_t count = 0;
  const std::vector<Value>& items = method.self.as_list().items;
  for (size_t k = 0; k < items.size(); ++k) {
    if (!equal(items[k], arguments.positional[0])) continue;
    if (name == "index") return Value::integer(static_cast<int64_t>(k));
    ++count;
  }
  if (name == "index") return error("index(): the value is not in the list");
  return Value::integer(count);
}

Expected<Value> call_function(TemplateContext& context, std::string_view name, const Arguments& arguments) {
  if (name == "range") return range_function(context, arguments);
  if (name == "strftime_now") return time_text(context, arguments);
  if (name == "raise_exception") {
    return error(arguments.positional.empty() ? "the template raised an exception"
                                              : LUMEN_TRY(to_text(arguments.positional[0])));
  }
  DictValue* dict = context.heap.dict();
  for (const Value& given : arguments.positional) {
    if (!given.is(Kind::dict)) return error(fmt::format("{}() takes a dict or names", name));
    for (const auto& [key, value] : given.as_dict().entries) dict->set(key, value);
  }
  for (const auto& [key, value] : arguments.named) dict->set(context.heap.string(std::string(key)), value);
  return name == "namespace" ? Value::space(dict) : Value::dict(dict);
}

std::string strip_text(std::string_view text, const std::string* characters, bool left, bool right) {
  const std::u32string set = characters != nullptr ? utf8_codes(*characters) : std::u32string();
  const auto stripped = [&](char32_t c) {
    return characters != nullptr ? set.find(c) != std::u32string::npos : is_python_space(c);
  };
  while (left && !text.empty() && stripped(utf8_at(text, 0).code)) text.remove_prefix(utf8_at(text, 0).size);
  while (right && !text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    if (!stripped(utf8_at(text, last).code)) break;
    text = text.substr(0, last);
  }
  return std::string(text);
}

std::string capitalize_text(std::string_view text) {
  if (text.empty()) return "";
  const size_t first = utf8_at(text, 0).size;
  return uppercase(text.substr(0, first)) + lowercase(text.substr(first));
}

// str.title: letters after what is no letter.
std::string title_text(std::string_view text) {
  std::string result;
  bool after_letter = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    const std::string_view same = text.substr(at, c.size);
    result += after_letter ? lowercase(same) : uppercase(same);
    after_letter = lowercase(same) != uppercase(same);
    at += c.size;
  }
  return result;
}

std::string replace_text(std::string_view text, std::string_view from, std::string_view to, int64_t count) {
  std::string result;
  size_t done = 0;
  if (from.empty()) {  // between all characters
    while (count != 0 && done < text.size()) {
      const size_t size = utf8_at(text, done).size;
      (result += to) += text.substr(done, size);
      done += size;
      --count;
    }
    return (result += count != 0 ? to : "") += text.substr(done);
  }
  for (size_t at = text.find(from); at != std::string_view::npos && count != 0; at = text.find(from, done), --count) {
    (result += text.substr(done, at - done)) += to;
    done = at + from.size();
  }
  return result += text.substr(done);
}

}  // namespace lumen::text
