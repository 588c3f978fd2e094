#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "lumen/text/normalizer.h"
#include "lumen/text/template_filters.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Kind = Value::Kind;
using Bound = std::span<const Value* const>;

struct Filter {
  std::string_view name;
  std::vector<std::string_view> parameters;
  Expected<Value> (*apply)(TemplateContext& context, const Value& value, Bound arguments);
};

bool flag(const Value* value, bool otherwise = false) { return value != nullptr ? truth(*value) : otherwise; }

Expected<Value> identity(TemplateContext&, const Value& value, Bound) { return value; }

// A filter over text.
template <std::string (*function)(std::string_view)>
Expected<Value> over_text(TemplateContext& context, const Value& value, Bound) {
  return context.heap.string(function(LUMEN_TRY(to_text(value))));
}

Expected<Value> trim(TemplateContext& context, const Value& value, Bound arguments) {
  std::string characters;
  const bool given = arguments[0] != nullptr && !arguments[0]->is(Kind::none);
  if (given) characters = LUMEN_TRY(require_string(*arguments[0], "the characters to trim"));
  return context.heap.string(strip_text(LUMEN_TRY(to_text(value)), given ? &characters : nullptr, true, true));
}

Expected<Value> tojson(TemplateContext& context, const Value& value, Bound arguments) {
  JsonStyle style;
  style.ascii = flag(arguments[0]);
  if (arguments[1] != nullptr && !arguments[1]->is(Kind::none)) {
    style.indent = std::clamp(LUMEN_TRY(small_integer(*arguments[1], "indent")), 0, 64);
    style.item_separator.pop_back();  // lines end without a space
  }
  if (arguments[2] != nullptr && arguments[2]->is(Kind::list) && arguments[2]->as_list().items.size() == 2) {
    style.item_separator = LUMEN_TRY(require_string(arguments[2]->as_list().items[0], "a separator"));
    style.key_separator = LUMEN_TRY(require_string(arguments[2]->as_list().items[1], "a separator"));
  }
  style.sort_keys = flag(arguments[3]);
  return context.heap.string(LUMEN_TRY(to_json(value, style)));
}

Expected<Value> length(TemplateContext&, const Value& value, Bound) {
  return Value::integer(LUMEN_TRY(length_of(value)));
}

Expected<Value> join(TemplateContext& context, const Value& value, Bound arguments) {
  const std::string separator = arguments[0] != nullptr ? LUMEN_TRY(to_text(*arguments[0])) : "";
  std::string text;
  bool first = true;
  for (Value item : LUMEN_TRY(items_of(value, context.heap))) {
    if (!std::exchange(first, false)) text += separator;
    if (arguments[1] != nullptr) item = LUMEN_TRY(get_path(context, item, *arguments[1]));
    text += LUMEN_TRY(to_text(item));
  }
  return context.heap.string(std::move(text));
}

Expected<Value> default_value(TemplateContext& context, const Value& value, Bound arguments) {
  const bool replaced = value.is(Kind::undefined) || (flag(arguments[1]) && !truth(value));
  if (!replaced) return value;
  return arguments[0] != nullptr ? *arguments[0] : context.heap.string("");
}

Expected<Value> list(TemplateContext& context, const Value& value, Bound) {
  return context.heap.list(LUMEN_TRY(items_of(value, context.heap)));
}

Expected<Value> first_item(TemplateContext& context, const Value& value, Bound) {
  const std::vector<Value> items = LUMEN_TRY(items_of(value, context.heap));
  return items.empty() ? Value::undefined("first item of an empty sequence") : items.front();
}

Expected<Value> last_item(TemplateContext& context, const Value& value, Bound) {
  const std::vector<Value> items = LUMEN_TRY(items_of(value, context.heap));
  return items.empty() ? Value::undefined("last item of an empty sequence") : items.back();
}

Expected<Value> replace(TemplateContext& context, const Value& value, Bound arguments) {
  if (arguments[0] == nullptr || arguments[1] == nullptr) return error("replace needs two arguments");
  const int64_t count =
      arguments[2] != nullptr && !arguments[2]->is(Kind::none) ? LUMEN_TRY(small_integer(*arguments[2], "count")) : -1;
  return context.heap.string(replace_text(LUMEN_TRY(to_text(value)), LUMEN_TRY(to_text(*arguments[0])),
                                          LUMEN_TRY(to_text(*arguments[1])), count));
}

Expected<Value> items(TemplateContext& context, const Value& value, Bound) {
  std::vector<Value> pairs;
  if (value.is(Kind::undefined)) return context.heap.list({});
  if (!value.is(Kind::dict)) return error("Can only get item pairs from a mapping.");
  for (const auto& [key, entry] : value.as_dict().entries) pairs.push_back(context.heap.list({key, entry}, true));
  return context.heap.list(std::move(pairs));
}

// Jinja's own: words start after spaces, dashes and opening brackets.
std::string title(std::string_view text) {
  std::string result;
  bool begins = true;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    const std::string_view same = text.substr(at, c.size);
    const bool separates =
        is_space(c.code) || (c.code < 0x80 && std::string_view("-({[<").find(same[0]) != std::string_view::npos);
    result += separates ? std::string(same) : begins ? uppercase(same) : lowercase(same);
    begins = separates;
    at += c.size;
  }
  return result;
}

Expected<Value> to_integer(TemplateContext&, const Value& value, Bound arguments) {
  const Value otherwise = arguments[0] != nullptr ? *arguments[0] : Value::integer(0);
  if (value.is(Kind::integer) || value.is(Kind::boolean)) return Value::integer(value.as_integer());
  double number = std::numeric_limits<double>::quiet_NaN();
  if (value.is(Kind::number)) number = value.as_number();
  if (value.is(Kind::string)) {
    const std::string text = strip_text(value.as_string(), nullptr, true, true);
    const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* const end = text.data() + text.size();
    int64_t integer = 0;
    if (const auto parsed = std::from_chars(begin, end, integer); parsed.ec == std::errc() && parsed.ptr == end) {
      return Value::integer(integer);
    }
    const auto parsed = std::from_chars(begin, end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return otherwise;
  }
  return std::abs(number) < 9e18 ? Value::integer(static_cast<int64_t>(number)) : otherwise;
}

Expected<Value> to_number(TemplateContext&, const Value& value, Bound arguments) {
  if (value.is_number()) return Value::number(value.as_number());
  if (value.is(Kind::string)) {
    const std::string text = strip_text(value.as_string(), nullptr, true, true);
    double number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return Value::number(number);
  }
  return arguments[0] != nullptr ? *arguments[0] : Value::number(0);
}

Expected<Value> to_string(TemplateContext& context, const Value& value, Bound) {
  return context.heap.string(LUMEN_TRY(to_text(value)));
}

Expected<Value> indent(TemplateContext& context, const Value& value, Bound arguments) {
  std::string space(4, ' ');
  if (arguments[0] != nullptr && arguments[0]->is(Kind::string)) {
    space = arguments[0]->as_string();
  } else if (arguments[0] != nullptr) {
    space.assign(static_cast<size_t>(std::clamp(LUMEN_TRY(small_integer(*arguments[0], "width")), 0, 1000)), ' ');
  }
  const std::string text = LUMEN_TRY(to_text(value));
  std::string result;
  if (flag(arguments[1])) result = space;
  for (size_t at = 0; at < text.size(); ++at) {
    result += text[at];
    if (text[at] != '\n') continue;
    const bool blank = at + 1 == text.size() || text[at + 1] == '\n';
    if (!blank || flag(arguments[2])) result += space;
  }
  return context.heap.string(std::move(result));
}

Expected<Value> absolute(TemplateContext&, const Value& value, Bound) {
  const bool negative = value.is_number() && value.as_number() < 0;
  return negative ? negate(value) : value.is_number() ? Expected<Value>(value) : error("abs needs a number");
}

Expected<Value> round_number(TemplateContext&, const Value& value, Bound arguments) {
  if (!value.is_number()) return error("round needs a number");
  const int digits = arguments[0] != nullptr ? LUMEN_TRY(small_integer(*arguments[0], "precision")) : 0;
  const double scale = std::pow(10.0, std::clamp(digits, -300, 300));
  return Value::number(std::nearbyint(value.as_number() * scale) / scale);
}

Expected<Value> reverse(TemplateContext& context, const Value& value, Bound) {
  std::vector<Value> reversed = LUMEN_TRY(items_of(value, context.heap));
  std::reverse(reversed.begin(), reversed.end());
  if (!value.is(Kind::string)) return context.heap.list(std::move(reversed));
  std::string text;
  for (const Value& character : reversed) text += character.as_string();
  return context.heap.string(std::move(text));
}

Expected<Value> unique(TemplateContext& context, const Value& value, Bound) {
  std::vector<Value> kept;
  for (const Value& item : LUMEN_TRY(items_of(value, context.heap))) {
    if (std::none_of(kept.begin(), kept.end(), [&](const Value& known) { return equal(known, item); })) {
      kept.push_back(item);
    }
  }
  return context.heap.list(std::move(kept));
}

// Without case, as Jinja compares unless told otherwise.
Expected<Value> sort_key(TemplateContext& context, Value item, const Value* path, bool with_case) {
  if (path != nullptr) item = LUMEN_TRY(get_path(context, item, *path));
  return item.is(Kind::string) && !with_case ? context.heap.string(lowercase(item.as_string())) : item;
}

// Stable, by insertion: a comparison may fail.
Expected<Value> sorted(TemplateContext& context, const Value& value, const Value* path, bool reversed, bool with_case) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : LUMEN_TRY(items_of(value, context.heap))) {
    const Value key = LUMEN_TRY(sort_key(context, item, path, with_case));
    size_t place = keyed.size();
    while (place > 0 && LUMEN_TRY(reversed ? less(keyed[place - 1].first, key) : less(key, keyed[place - 1].first)))
      --place;
    keyed.insert(keyed.begin() + static_cast<std::ptrdiff_t>(place), {key, item});
    if (keyed.size() > 10'000) return error("sort of more than 10000 items");
  }
  std::vector<Value> result;
  for (const auto& [key, item] : keyed) result.push_back(item);
  return context.heap.list(std::move(result));
}

Expected<Value> sort(TemplateContext& context, const Value& value, Bound arguments) {
  return sorted(context, value, arguments[2], flag(arguments[0]), flag(arguments[1]));
}

Expected<Value> dictsort(TemplateContext& context, const Value& value, Bound arguments) {
  const Value pairs = LUMEN_TRY(items(context, value, {}));
  const bool by_value =
      arguments[1] != nullptr && arguments[1]->is(Kind::string) && arguments[1]->as_string() == "value";
  const Value path = Value::integer(by_value ? 1 : 0);
  return sorted(context, pairs, &path, flag(arguments[2]), flag(arguments[0]));
}

Expected<Value> sum(TemplateContext& context, const Value& value, Bound arguments) {
  Value total = arguments[1] != nullptr ? *arguments[1] : Value::integer(0);
  for (Value item : LUMEN_TRY(items_of(value, context.heap))) {
    if (arguments[0] != nullptr) item = LUMEN_TRY(get_path(context, item, *arguments[0]));
    total = LUMEN_TRY(binary_operator(context, "+", total, item));
  }
  return total;
}

template <bool largest>
Expected<Value> extreme(TemplateContext& context, const Value& value, Bound) {
  const std::vector<Value> all = LUMEN_TRY(items_of(value, context.heap));
  if (all.empty()) return Value::undefined("an extreme of an empty sequence");
  Value best = all.front();
  for (const Value& item : all) {
    if (LUMEN_TRY(largest ? less(best, item) : less(item, best))) best = item;
  }
  return best;
}

Expected<Value> escape(TemplateContext& context, const Value& value, Bound) {
  std::string text = LUMEN_TRY(to_text(value));
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}};
  for (const auto& [from, to] : kEntities) text = replace_all(text, from, to);
  return context.heap.string(std::move(text));
}

const std::vector<Filter>& filters() {
  static const std::vector<Filter> table = {
      {"abs", {}, absolute},
      {"capitalize", {}, over_text<capitalize_text>},
      {"count", {}, length},
      {"d", {"default_value", "boolean"}, default_value},
      {"default", {"default_value", "boolean"}, default_value},
      {"dictsort", {"case_sensitive", "by", "reverse"}, dictsort},
      {"e", {}, escape},
      {"escape", {}, escape},
      {"first", {}, first_item},
      {"float", {"default"}, to_number},
      {"indent", {"width", "first", "blank"}, indent},
      {"int", {"default"}, to_integer},
      {"items", {}, items},
      {"join", {"d", "attribute"}, join},
      {"last", {}, last_item},
      {"length", {}, length},
      {"list", {}, list},
      {"lower", {}, over_text<lowercase>},
      {"max", {}, extreme<true>},
      {"min", {}, extreme<false>},
      {"replace", {"old", "new", "count"}, replace},
      {"reverse", {}, reverse},
      {"round", {"precision"}, round_number},
      {"safe", {}, identity},
      {"sort", {"reverse", "case_sensitive", "attribute"}, sort},
      {"string", {}, to_string},
      {"sum", {"attribute", "start"}, sum},
      {"title", {}, over_text<title>},
      {"tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}, tojson},
      {"trim", {"chars"}, trim},
      {"unique", {}, unique},
      {"upper", {}, over_text<uppercase>},
  };
  return table;
}

}  // namespace

Expected<int64_t> length_of(const Value& value) {
  if (value.is(Kind::undefined)) return 0;
  if (value.is(Kind::string)) return static_cast<int64_t>(utf8_codes(value.as_string()).size());
  if (value.is(Kind::list)) return static_cast<int64_t>(value.as_list().items.size());
  if (value.is(Kind::dict)) return static_cast<int64_t>(value.as_dict().entries.size());
  return error(fmt::format("object of type '{}' has no len()", type_name(value)));
}

Expected<Value> get_path(TemplateContext& context, Value value, const Value& path) {
  if (!path.is(Kind::string)) return get_item(context, value, path);
  std::string_view rest = path.as_string();
  while (true) {
    const size_t dot = rest.find('.');
    const std::string name(rest.substr(0, dot));
    int64_t index = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool number = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
    const Value key = number ? Value::integer(index) : context.heap.string(name);
    value = LUMEN_TRY(get_item(context, value, key));
    if (dot == std::string_view::npos) return value;
    rest.remove_prefix(dot + 1);
  }
}

Expected<Value> apply_filter(TemplateContext& context, std::string_view name, const Value& value,
                             const Arguments& arguments) {
  if (const auto result = LUMEN_TRY(apply_sequence_filter(context, name, value, arguments))) return *result;
  const std::vector<Filter>& table = filters();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Filter& filter) { return filter.name == name; });
  if (found == table.end()) {
    std::vector<std::string_view> names = {"map", "reject", "rejectattr", "select", "selectattr"};
    for (const Filter& filter : table) names.push_back(filter.name);
    return error(fmt::format("filter {} is not supported; these are: {}", name, fmt::join(names, ", ")));
  }
  return found->apply(context, value, LUMEN_TRY(bind_arguments(name, found->parameters, arguments)));
}

}  // namespace lumen::text
