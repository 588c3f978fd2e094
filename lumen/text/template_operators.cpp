#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lumen/text/template_functions.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Kind = Value::Kind;

Diag unsupported(std::string_view op, const Value& a, const Value& b) {
  if (a.is(Kind::undefined)) return error(fmt::format("'{}' is undefined", a.name()));
  if (b.is(Kind::undefined)) return error(fmt::format("'{}' is undefined", b.name()));
  return error(fmt::format("unsupported operand types for {}: '{}' and '{}'", op, type_name(a), type_name(b)));
}

Expected<Value> integer_operator(std::string_view op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (op == "//" || op == "%") {
    if (b == 0) return error("integer division or modulo by zero");
    if (b == -1) {
      overflow = op == "//" && __builtin_sub_overflow(int64_t{0}, a, &result);
    } else {
      const int64_t rest = a % b;
      const bool adjust = rest != 0 && (rest < 0) != (b < 0);
      result = op == "//" ? a / b - (adjust ? 1 : 0) : rest + (adjust ? b : 0);
    }
  } else {
    if (b < 0) return Value::number(std::pow(static_cast<double>(a), static_cast<double>(b)));
    result = 1;
    for (int64_t k = 0; k < b && !overflow && (k < 64 || (a != 0 && a != 1 && a != -1)); ++k) {
      overflow = __builtin_mul_overflow(result, a, &result);
    }
    if (b >= 64 && a == -1) result = b % 2 == 0 ? 1 : -1;
  }
  if (overflow) return error(fmt::format("{} {} {} is too large", a, op, b));
  return Value::integer(result);
}

Expected<Value> number_operator(std::string_view op, double a, double b) {
  if (op == "+") return Value::number(a + b);
  if (op == "-") return Value::number(a - b);
  if (op == "*") return Value::number(a * b);
  if (op == "**") return Value::number(std::pow(a, b));
  if (b == 0) return error("division by zero");
  if (op == "/") return Value::number(a / b);
  if (op == "//") return Value::number(std::floor(a / b));
  const double rest = std::fmod(a, b);
  return Value::number(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

Expected<Value> repeat(TemplateContext& context, const Value& value, int64_t count) {
  constexpr int64_t kMost = 1 << 24;
  const auto size =
      static_cast<int64_t>(value.is(Kind::string) ? value.as_string().size() : value.as_list().items.size());
  if (count > 0 && size > 0 && count > kMost / size) return error("a repetition is too long");
  if (value.is(Kind::string)) {
    std::string text;
    for (int64_t k = 0; k < count; ++k) text += value.as_string();
    return context.heap.string(std::move(text));
  }
  std::vector<Value> items;
  for (int64_t k = 0; k < count; ++k) {
    items.insert(items.end(), value.as_list().items.begin(), value.as_list().items.end());
  }
  return context.heap.list(std::move(items), value.as_list().tuple);
}

bool is_whole(const Value& value) { return value.is(Kind::integer) || value.is(Kind::boolean); }

}  // namespace

Expected<Value> binary_operator(TemplateContext& context, std::string_view op, const Value& left, const Value& right) {
  if (op == "~") {
    std::string text = LUMEN_TRY(to_text(left));
    text += LUMEN_TRY(to_text(right));
    return context.heap.string(std::move(text));
  }
  if (left.is_number() && right.is_number()) {
    const bool whole = is_whole(left) && is_whole(right) && op != "/";
    return whole ? integer_operator(op, left.as_integer(), right.as_integer())
                 : number_operator(op, left.as_number(), right.as_number());
  }
  const auto is_sequence = [](const Value& value) { return value.is(Kind::string) || value.is(Kind::list); };
  if (op == "+" && left.is(Kind::string) && right.is(Kind::string)) {
    return context.heap.string(left.as_string() + right.as_string());
  }
  if (op == "+" && left.is(Kind::list) && right.is(Kind::list) && left.as_list().tuple == right.as_list().tuple) {
    std::vector<Value> items = left.as_list().items;
    items.insert(items.end(), right.as_list().items.begin(), right.as_list().items.end());
    return context.heap.list(std::move(items), left.as_list().tuple);
  }
  if (op == "*" && is_sequence(left) && is_whole(right)) return repeat(context, left, right.as_integer());
  if (op == "*" && is_sequence(right) && is_whole(left)) return repeat(context, right, left.as_integer());
  return unsupported(op, left, right);
}

Expected<Value> negate(const Value& value) {
  if (value.is(Kind::number)) return Value::number(-value.as_number());
  if (is_whole(value)) return integer_operator("-", 0, value.as_integer());
  return unsupported("-", value, value);
}

Expected<bool> less(const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) {
    if (is_whole(left) && is_whole(right)) return left.as_integer() < right.as_integer();
    return left.as_number() < right.as_number();
  }
  if (left.is(Kind::string) && right.is(Kind::string)) return left.as_string() < right.as_string();
  if (left.is(Kind::list) && right.is(Kind::list)) {
    const std::vector<Value>& a = left.as_list().items;
    const std::vector<Value>& b = right.as_list().items;
    for (size_t k = 0; k < a.size() && k < b.size(); ++k) {
      if (equal(a[k], b[k])) continue;
      // Lists in lists would need a limit of their own.
      if (a[k].is(Kind::list)) return unsupported("<", a[k], b[k]);
      return less(a[k], b[k]);
    }
    return a.size() < b.size();
  }
  return unsupported("<", left, right);
}

Expected<bool> contains(const Value& container, const Value& item) {
  if (container.is(Kind::string)) {
    if (!item.is(Kind::string)) return unsupported("in", item, container);
    return container.as_string().find(item.as_string()) != std::string::npos;
  }
  if (container.is(Kind::dict)) return container.as_dict().find(item) != nullptr;
  if (container.is(Kind::undefined)) return false;
  if (!container.is(Kind::list)) return unsupported("in", item, container);
  for (const Value& known : container.as_list().items) {
    if (equal(known, item)) return true;
  }
  return false;
}

Expected<bool> compare_values(std::string_view op, const Value& left, const Value& right) {
  if (op == "==") return equal(left, right);
  if (op == "!=") return !equal(left, right);
  if (op == "in") return contains(right, left);
  if (op == "not in") return !LUMEN_TRY(contains(right, left));
  if (op == "<") return less(left, right);
  if (op == ">") return less(right, left);
  const bool reversed = LUMEN_TRY(op == "<=" ? less(right, left) : less(left, right));
  const bool nan = left.is_number() && right.is_number() &&
                   (left.as_number() != left.as_number() || right.as_number() != right.as_number());
  return !reversed && !nan;
}

Expected<Value> get_attribute(TemplateContext& context, const Value& value, const std::string& name) {
  if (value.is(Kind::undefined)) return error(fmt::format("'{}' is undefined", value.name()));
  if (const char* method = find_method(value, name)) return context.heap.method(value, method);
  if (value.is(Kind::dict) || value.is(Kind::space)) {
    if (const Value* found = value.as_dict().find(name)) return *found;
  }
  if (!value.is(Kind::loop)) return Value::undefined(context.heap.string(name).as_string().c_str());
  const LoopValue& loop = value.as_loop();
  const auto size = static_cast<int64_t>(loop.items->items.size());
  const auto index = static_cast<int64_t>(loop.index);
  if (name == "index") return Value::integer(index + 1);
  if (name == "index0") return Value::integer(index);
  if (name == "revindex") return Value::integer(size - index);
  if (name == "revindex0") return Value::integer(size - index - 1);
  if (name == "first") return Value::boolean(index == 0);
  if (name == "last") return Value::boolean(index + 1 == size);
  if (name == "length") return Value::integer(size);
  if (name == "depth") return Value::integer(1);  // counts recursive loops
  if (name == "depth0") return Value::integer(0);
  if (name == "previtem" && index > 0) return loop.items->items[loop.index - 1];
  if (name == "nextitem" && index + 1 < size) return loop.items->items[loop.index + 1];
  return Value::undefined(context.heap.string(name).as_string().c_str());
}

Expected<Value> get_item(TemplateContext& context, const Value& value, const Value& key) {
  if (value.is(Kind::undefined)) return error(fmt::format("'{}' is undefined", value.name()));
  if (value.is(Kind::dict)) {
    if (const Value* found = value.as_dict().find(key)) return *found;
  }
  if ((value.is(Kind::list) || value.is(Kind::string)) && is_whole(key)) {
    const std::vector<Value> items = LUMEN_TRY(items_of(value, context.heap));
    const auto size = static_cast<int64_t>(items.size());
    const int64_t index = key.as_integer() < 0 ? key.as_integer() + size : key.as_integer();
    if (index >= 0 && index < size) return items[static_cast<size_t>(index)];
  }
  // Jinja looks for an attribute last.
  if (key.is(Kind::string)) return get_attribute(context, value, key.as_string());
  return Value::undefined(context.heap.string(LUMEN_TRY(to_text(key))).as_string().c_str());
}

Expected<Value> get_slice(TemplateContext& context, const Value& value, const Value* begin, const Value* end,
                          const Value* step) {
  if (value.is(Kind::undefined)) return error(fmt::format("'{}' is undefined", value.name()));
  if (!value.is(Kind::list) && !value.is(Kind::string)) {
    return error(fmt::format("a '{}' object cannot be sliced", type_name(value)));
  }
  for (const Value* bound : {begin, end, step}) {
    if (bound != nullptr && !is_whole(*bound) && !bound->is(Kind::none)) return error("slice bounds must be integers");
  }
  const std::vector<Value> items = LUMEN_TRY(items_of(value, context.heap));
  const auto size = static_cast<int64_t>(items.size());
  const auto given = [](const Value* bound) { return bound != nullptr && !bound->is(Kind::none); };
  const int64_t stride = given(step) ? step->as_integer() : 1;
  if (stride == 0 || stride == std::numeric_limits<int64_t>::min()) return error("a slice step cannot be zero");
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? size : size - 1;
  const auto clamp = [&](const Value* bound, int64_t otherwise) {
    if (!given(bound)) return otherwise;
    const int64_t at = bound->as_integer() < 0 ? bound->as_integer() + size : bound->as_integer();
    return std::min(std::max(at, low), high);
  };
  const int64_t first = clamp(begin, stride > 0 ? low : high);
  const int64_t last = clamp(end, stride > 0 ? high : low);
  std::vector<Value> chosen;
  for (int64_t at = first; stride > 0 ? at < last : at > last;) {
    chosen.push_back(items[static_cast<size_t>(at)]);
    if (__builtin_add_overflow(at, stride, &at)) break;
  }
  if (value.is(Kind::list)) return context.heap.list(std::move(chosen), value.as_list().tuple);
  std::string text;
  for (const Value& character : chosen) text += character.as_string();
  return context.heap.string(std::move(text));
}

}  // namespace lumen::text
