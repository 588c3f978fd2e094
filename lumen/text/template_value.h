// Values of chat templates: what Jinja has of Python's. Small and trivially copied; what they point to lives in a Heap
// as long as one rendering, so that cycles do no harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::text {

struct ListValue;
struct DictValue;
struct LoopValue;
struct MethodValue;
struct MacroNode;

class Value {
 public:
  enum class Kind {
    undefined,
    none,
    boolean,
    integer,
    number,
    string,
    list,
    dict,
    space,
    loop,
    method,
    macro,
    function
  };

  Value() : Value(Kind::undefined) { text_ = ""; }
  static Value undefined(const char* name) { return with(Kind::undefined, &Value::text_, name); }
  static Value none() { return Value(Kind::none); }
  static Value boolean(bool value) { return with(Kind::boolean, &Value::boolean_, value); }
  static Value integer(int64_t value) { return with(Kind::integer, &Value::integer_, value); }
  static Value number(double value) { return with(Kind::number, &Value::number_, value); }
  static Value string(const std::string* value) { return with(Kind::string, &Value::string_, value); }
  static Value list(const ListValue* value) { return with(Kind::list, &Value::list_, value); }
  static Value dict(DictValue* value) { return with(Kind::dict, &Value::dict_, value); }
  static Value space(DictValue* value) { return with(Kind::space, &Value::dict_, value); }  // namespace()
  static Value loop(const LoopValue* value) { return with(Kind::loop, &Value::loop_, value); }
  static Value method(const MethodValue* value) { return with(Kind::method, &Value::method_, value); }
  static Value macro(const MacroNode* value) { return with(Kind::macro, &Value::macro_, value); }
  static Value function(const char* name) { return with(Kind::function, &Value::text_, name); }  // a global one

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_number() const { return kind_ == Kind::boolean || kind_ == Kind::integer || kind_ == Kind::number; }

  // Only for their kind.
  bool as_bool() const { return boolean_; }
  int64_t as_integer() const { return kind_ == Kind::boolean ? boolean_ : integer_; }
  double as_number() const { return kind_ == Kind::number ? number_ : static_cast<double>(as_integer()); }
  const std::string& as_string() const { return *string_; }
  const ListValue& as_list() const { return *list_; }
  DictValue& as_dict() const { return *dict_; }  // of a dict or a namespace
  const LoopValue& as_loop() const { return *loop_; }
  const MethodValue& as_method() const { return *method_; }
  const MacroNode& as_macro() const { return *macro_; }
  const char* name() const { return text_; }  // of a function, or of what is undefined

 private:
  explicit Value(Kind kind) : kind_(kind), integer_(0) {}
  template <class T>
  static Value with(Kind kind, T Value::*member, T value) {
    Value result(kind);
    result.*member = value;
    return result;
  }

  Kind kind_;
  union {
    bool boolean_;
    int64_t integer_;
    double number_;
    const char* text_;
    const std::string* string_;
    const ListValue* list_;
    DictValue* dict_;
    const LoopValue* loop_;
    const MethodValue* method_;
    const MacroNode* macro_;
  };
};

struct ListValue {
  std::vector<Value> items;
  bool tuple = false;
};

// In the order of insertion.
struct DictValue {
  std::vector<std::pair<Value, Value>> entries;
  const Value* find(std::string_view key) const;
  const Value* find(const Value& key) const;
  void set(const Value& key, const Value& value);
};

struct LoopValue {
  const ListValue* items;
  size_t index;
};

// A method together with what it is called on.
struct MethodValue {
  Value self;
  const char* name;
};

// Owns what values point to, up to a number of bytes.
class Heap {
 public:
  explicit Heap(size_t limit) : limit_(limit) {}

  Value string(std::string text);
  Value list(std::vector<Value> items, bool tuple = false);
  DictValue* dict();
  Value loop(const LoopValue& loop);
  Value method(const Value& self, const char* name);
  // An error where it is nested too deeply.
  Expected<Value> from_json(const nlohmann::ordered_json& json, int depth = 0);

  void count(size_t bytes) { used_ += bytes; }
  bool full() const { return used_ > limit_; }

 private:
  size_t limit_;
  size_t used_ = 0;
  std::deque<std::string> strings_;
  std::deque<ListValue> lists_;
  std::deque<DictValue> dicts_;
  std::deque<LoopValue> loops_;
  std::deque<MethodValue> methods_;
};

bool truth(const Value& value);
// Python's ==: 1 == 1.0 == True, lists and dicts by their content. False where that is too deep.
bool equal(const Value& a, const Value& b, int depth = 0);
// "str", "list", ...: as Python calls it.
std::string_view type_name(const Value& value);

// str(value) and repr(value); an error where lists are nested too deeply.
Expected<std::string> to_text(const Value& value);
Expected<std::string> to_repr(const Value& value);
// Python's repr of a float: 1.0, 0.1, 1e+16.
std::string number_text(double value);

struct JsonStyle {
  int indent = -1;  // none
  std::string item_separator = ", ", key_separator = ": ";
  bool sort_keys = false;
  bool ascii = false;
};
// Python's json.dumps.
Expected<std::string> to_json(const Value& value, const JsonStyle& style);

// What a `for` goes over: items, keys, characters. An error for what has none.
Expected<std::vector<Value>> items_of(const Value& value, Heap& heap);

}  // namespace lumen::text
