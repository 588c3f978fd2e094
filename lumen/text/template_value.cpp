#include "lumen/text/template_value.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Kind = Value::Kind;

constexpr int kMaxValueDepth = 100;

}  // namespace

const Value* DictValue::find(std::string_view key) const {
  for (const auto& [known, value] : entries) {
    if (known.is(Kind::string) && known.as_string() == key) return &value;
  }
  return nullptr;
}

const Value* DictValue::find(const Value& key) const {
  if (key.is(Kind::string)) return find(key.as_string());
  for (const auto& [known, value] : entries) {
    if (equal(known, key)) return &value;
  }
  return nullptr;
}

void DictValue::set(const Value& key, const Value& value) {
  if (const Value* found = find(key)) {
    *const_cast<Value*>(found) = value;
  } else {
    entries.emplace_back(key, value);
  }
}

Value Heap::string(std::string text) {
  count(text.size() + sizeof(std::string));
  return Value::string(&strings_.emplace_back(std::move(text)));
}

Value Heap::list(std::vector<Value> items, bool tuple) {
  count(items.size() * sizeof(Value) + sizeof(ListValue));
  return Value::list(&lists_.emplace_back(ListValue{std::move(items), tuple}));
}

DictValue* Heap::dict() {
  count(sizeof(DictValue) + 4 * sizeof(Value));
  return &dicts_.emplace_back();
}

Value Heap::loop(const LoopValue& loop) {
  count(sizeof(LoopValue));
  return Value::loop(&loops_.emplace_back(loop));
}

Value Heap::method(const Value& self, const char* name) {
  count(sizeof(MethodValue));
  return Value::method(&methods_.emplace_back(MethodValue{self, name}));
}

Expected<Value> Heap::from_json(const nlohmann::ordered_json& json, int depth) {
  if (depth > kMaxValueDepth) return error("chat template: a variable is nested too deeply");
  if (json.is_boolean()) return Value::boolean(json.get<bool>());
  if (json.is_number_integer()) return Value::integer(json.get<int64_t>());
  if (json.is_number()) return Value::number(json.get<double>());
  if (json.is_string()) return string(replace_invalid(json.get_ref<const std::string&>()));
  if (json.is_array()) {
    std::vector<Value> items;
    for (const auto& item : json) items.push_back(LUMEN_TRY(from_json(item, depth + 1)));
    return list(std::move(items));
  }
  if (json.is_object()) {
    DictValue* result = dict();
    for (const auto& [key, value] : json.items()) {
      const Value entry = LUMEN_TRY(from_json(value, depth + 1));
      result->entries.emplace_back(string(replace_invalid(key)), entry);
    }
    return Value::dict(result);
  }
  return Value::none();
}

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
      return value.as_bool();
    case Kind::integer:
      return value.as_integer() != 0;
    case Kind::number:
      return value.as_number() != 0;
    case Kind::string:
      return !value.as_string().empty();
    case Kind::list:
      return !value.as_list().items.empty();
    case Kind::dict:
      return !value.as_dict().entries.empty();
    default:
      return true;
  }
}

bool equal(const Value& a, const Value& b, int depth) {
  if (depth > kMaxValueDepth) return false;
  if (a.is_number() && b.is_number()) {
    if (a.is(Kind::number) || b.is(Kind::number)) return a.as_number() == b.as_number();
    return a.as_integer() == b.as_integer();
  }
  if (a.kind() != b.kind()) return false;
  if (a.is(Kind::string)) return a.as_string() == b.as_string();
  if (a.is(Kind::list)) {
    const std::vector<Value>& left = a.as_list().items;
    const std::vector<Value>& right = b.as_list().items;
    if (left.size() != right.size() || a.as_list().tuple != b.as_list().tuple) return false;
    for (size_t k = 0; k < left.size(); ++k) {
      if (!equal(left[k], right[k], depth + 1)) return false;
    }
    return true;
  }
  if (a.is(Kind::dict)) {
    if (a.as_dict().entries.size() != b.as_dict().entries.size()) return false;
    for (const auto& [key, value] : a.as_dict().entries) {
      const Value* other = b.as_dict().find(key);
      if (other == nullptr || !equal(value, *other, depth + 1)) return false;
    }
    return true;
  }
  if (a.is(Kind::space)) return &a.as_dict() == &b.as_dict();
  if (a.is(Kind::macro)) return &a.as_macro() == &b.as_macro();
  return a.is(Kind::none) || a.is(Kind::undefined);
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::number:
      return "float";
    case Kind::string:
      return "str";
    case Kind::list:
      return value.as_list().tuple ? "tuple" : "list";
    case Kind::dict:
      return "dict";
    case Kind::space:
      return "Namespace";
    case Kind::loop:
      return "LoopContext";
    case Kind::method:
      return "method";
    case Kind::macro:
      return "Macro";
    case Kind::function:
      return "function";
  }
  return "";
}

Expected<std::vector<Value>> items_of(const Value& value, Heap& heap) {
  std::vector<Value> items;
  if (value.is(Kind::list)) return value.as_list().items;
  if (value.is(Kind::undefined)) return items;
  if (value.is(Kind::dict)) {
    for (const auto& entry : value.as_dict().entries) items.push_back(entry.first);
    return items;
  }
  if (!value.is(Kind::string)) return error(fmt::format("'{}' object is not iterable", type_name(value)));
  const std::string& text = value.as_string();
  for (size_t at = 0; at < text.size();) {
    const size_t size = utf8_at(text, at).size;
    items.push_back(heap.string(text.substr(at, size)));
    at += size;
  }
  return items;
}

}  // namespace lumen::text
