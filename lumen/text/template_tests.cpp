#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "lumen/text/template_filters.h"
#include "lumen/text/unicode.h"

namespace lumen::text {

namespace {

using Kind = Value::Kind;

// Tests that look at one value.
std::optional<bool> apply_simple_test(std::string_view name, const Value& value) {
  const bool sequence = value.is(Kind::string) || value.is(Kind::list) || value.is(Kind::dict);
  if (name == "defined") return !value.is(Kind::undefined);
  if (name == "undefined") return value.is(Kind::undefined);
  if (name == "none") return value.is(Kind::none);
  if (name == "string") return value.is(Kind::string);
  if (name == "mapping") return value.is(Kind::dict);
  if (name == "iterable") return sequence || value.is(Kind::undefined);
  if (name == "sequence") return sequence || value.is(Kind::undefined);
  if (name == "number") return value.is_number();
  if (name == "integer") return value.is(Kind::integer);
  if (name == "float") return value.is(Kind::number);
  if (name == "boolean") return value.is(Kind::boolean);
  if (name == "true") return value.is(Kind::boolean) && value.as_bool();
  if (name == "false") return value.is(Kind::boolean) && !value.as_bool();
  if (name == "callable") return value.is(Kind::macro) || value.is(Kind::method) || value.is(Kind::function);
  return std::nullopt;
}

constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
    {"eq", "=="}, {"equalto", "=="},    {"ne", "!="}, {"lt", "<"},  {"lessthan", "<"},
    {"gt", ">"},  {"greaterthan", ">"}, {"le", "<="}, {"ge", ">="}, {"in", "in"}};

constexpr std::string_view kTests[] = {"boolean", "callable", "defined",  "divisibleby", "eq",          "equalto",
                                       "even",    "false",    "float",    "ge",          "greaterthan", "gt",
                                       "in",      "integer",  "iterable", "le",          "lessthan",    "lower",
                                       "lt",      "mapping",  "ne",       "none",        "number",      "odd",
                                       "sameas",  "sequence", "string",   "true",        "undefined",   "upper"};

Expected<int64_t> whole(const Value& value, std::string_view test) {
  if (value.is(Kind::integer) || value.is(Kind::boolean)) return value.as_integer();
  return error(fmt::format("test {} needs an integer, not '{}'", test, type_name(value)));
}

Expected<bool> keeps(TemplateContext& context, const Value& item, const Arguments& arguments, size_t skipped) {
  if (arguments.positional.size() <= skipped) return truth(item);
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(skipped) + 1,
                         arguments.positional.end());
  const std::string test = LUMEN_TRY(require_string(arguments.positional[skipped], "the name of a test"));
  return apply_test(context, test, item, rest);
}

Expected<Value> map_items(TemplateContext& context, const Value& value, const Arguments& arguments) {
  const Value* attribute = nullptr;
  const Value* otherwise = nullptr;
  for (const auto& [key, given] : arguments.named) {
    if (key == "attribute") attribute = &given;
    if (key == "default") otherwise = &given;
  }
  if (attribute == nullptr && arguments.positional.empty()) return error("map needs a filter or an attribute");
  std::vector<Value> mapped;
  for (const Value& item : LUMEN_TRY(items_of(value, context.heap))) {
    if (attribute != nullptr) {
      Value found = LUMEN_TRY(get_path(context, item, *attribute));
      mapped.push_back(found.is(Kind::undefined) && otherwise != nullptr ? *otherwise : found);
      continue;
    }
    Arguments rest{{arguments.positional.begin() + 1, arguments.positional.end()}, arguments.named};
    const std::string filter = LUMEN_TRY(require_string(arguments.positional[0], "the name of a filter"));
    if (filter == "map") return error("map of map is not supported");
    mapped.push_back(LUMEN_TRY(apply_filter(context, filter, item, rest)));
  }
  return context.heap.list(std::move(mapped));
}

}  // namespace

Expected<bool> apply_test(TemplateContext&, std::string_view name, const Value& value, const Arguments& arguments) {
  if (const auto result = apply_simple_test(name, value)) return *result;
  if (name == "odd") return LUMEN_TRY(whole(value, name)) % 2 != 0;
  if (name == "even") return LUMEN_TRY(whole(value, name)) % 2 == 0;
  if (name == "lower" || name == "upper") {
    const std::string text = LUMEN_TRY(to_text(value));
    const std::string same = name == "lower" ? lowercase(text) : uppercase(text);
    return text == same && lowercase(text) != uppercase(text);
  }
  const auto comparison = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                       [&](const auto& known) { return known.first == name; });
  const bool known = comparison != std::end(kComparisons) || name == "divisibleby" || name == "sameas";
  if (!known) return error(fmt::format("test {} is not supported; these are: {}", name, fmt::join(kTests, ", ")));
  if (arguments.positional.size() != 1) return error(fmt::format("test {} needs one argument", name));
  const Value& other = arguments.positional[0];
  if (name == "divisibleby") {
    const int64_t divisor = LUMEN_TRY(whole(other, name));
    if (divisor == 0 || divisor == -1) return divisor == 0 ? Expected<bool>(error("integer modulo by zero")) : true;
    return LUMEN_TRY(whole(value, name)) % divisor == 0;
  }
  if (name == "sameas") return value.kind() == other.kind() && equal(value, other);
  return compare_values(comparison->second, value, other);
}

Expected<std::optional<Value>> apply_sequence_filter(TemplateContext& context, std::string_view name,
                                                     const Value& value, const Arguments& arguments) {
  if (name == "map") return std::optional(LUMEN_TRY(map_items(context, value, arguments)));
  const bool attribute = name == "selectattr" || name == "rejectattr";
  const bool select = name == "select" || name == "selectattr";
  if (!attribute && !select && name != "reject") return std::optional<Value>();
  if (attribute && arguments.positional.empty()) return error(fmt::format("{} needs an attribute", name));
  std::vector<Value> kept;
  for (const Value& item : LUMEN_TRY(items_of(value, context.heap))) {
    const Value tested = attribute ? LUMEN_TRY(get_path(context, item, arguments.positional[0])) : item;
    if (LUMEN_TRY(keeps(context, tested, arguments, attribute ? 1 : 0)) == select) kept.push_back(item);
  }
  return std::optional(context.heap.list(std::move(kept)));
}

Expected<std::vector<const Value*>> bind_arguments(std::string_view what, std::span<const std::string_view> names,
                                                   const Arguments& arguments) {
  // Functions index what they declare without looking at the size.
  std::vector<const Value*> bound(std::max<size_t>(names.size(), 1), nullptr);
  if (arguments.positional.size() > names.size()) {
    return error(fmt::format("{} takes {} arguments, {} were given", what, names.size(), arguments.positional.size()));
  }
  for (size_t k = 0; k < arguments.positional.size(); ++k) bound[k] = &arguments.positional[k];
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return error(fmt::format("{} has no argument {}", what, name));
    bound[static_cast<size_t>(found - names.begin())] = &value;
  }
  return bound;
}

Expected<int> small_integer(const Value& value, std::string_view what) {
  const bool fits = (value.is(Kind::integer) || value.is(Kind::boolean)) &&
                    value.as_integer() >= std::numeric_limits<int>::min() &&
                    value.as_integer() <= std::numeric_limits<int>::max();
  if (!fits) return error(fmt::format("{} needs an integer, not '{}'", what, type_name(value)));
  return static_cast<int>(value.as_integer());
}

Expected<std::string> require_string(const Value& value, std::string_view what) {
  if (value.is(Kind::string)) return value.as_string();
  if (value.is(Kind::undefined)) return error(fmt::format("'{}' is undefined", value.name()));
  return error(fmt::format("{} must be a string, not '{}'", what, type_name(value)));
}

}  // namespace lumen::text
