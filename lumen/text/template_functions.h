// What templates can do with values: operators, attributes, filters, tests, methods and functions, with Python's
// meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/text/template_value.h"

namespace lumen::text {

struct TemplateContext {
  Heap& heap;
  int64_t now;  // seconds since 1970
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> named;
};

// The arguments in the order of `names`, null where one is not given. An error for more, or for other names.
Expected<std::vector<const Value*>> bind_arguments(std::string_view what, std::span<const std::string_view> names,
                                                   const Arguments& arguments);
// An integer in the range of int; an error that says `what` otherwise.
Expected<int> small_integer(const Value& value, std::string_view what);
Expected<std::string> require_string(const Value& value, std::string_view what);

Expected<Value> binary_operator(TemplateContext& context, std::string_view op, const Value& left, const Value& right);
Expected<bool> compare_values(std::string_view op, const Value& left, const Value& right);
Expected<bool> less(const Value& left, const Value& right);
Expected<bool> contains(const Value& container, const Value& item);
Expected<Value> negate(const Value& value);

// Undefined where there is none; an error when `value` itself is undefined.
Expected<Value> get_attribute(TemplateContext& context, const Value& value, const std::string& name);
Expected<Value> get_item(TemplateContext& context, const Value& value, const Value& key);
// Null where a bound is left out.
Expected<Value> get_slice(TemplateContext& context, const Value& value, const Value* begin, const Value* end,
                          const Value* step);

Expected<Value> apply_filter(TemplateContext& context, std::string_view name, const Value& value,
                             const Arguments& arguments);
Expected<bool> apply_test(TemplateContext& context, std::string_view name, const Value& value,
                          const Arguments& arguments);
Expected<Value> call_method(TemplateContext& context, const MethodValue& method, const Arguments& arguments);
Expected<Value> call_function(TemplateContext& context, std::string_view name, const Arguments& arguments);
// The name of a method that `value` has, with static lifetime; null where it has none of that name.
const char* find_method(const Value& value, std::string_view name);
// The same for functions.
const char* find_function(std::string_view name);
Expected<int64_t> length_of(const Value& value);

// str.strip, str.title and the like, for filters and methods.
std::string strip_text(std::string_view text, const std::string* characters, bool left, bool right);
std::string title_text(std::string_view text);
std::string capitalize_text(std::string_view text);
std::string replace_text(std::string_view text, std::string_view from, std::string_view to, int64_t count);

}  // namespace lumen::text
