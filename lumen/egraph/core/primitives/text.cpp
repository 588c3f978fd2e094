// String and bool.
#include <string_view>

#include "lumen/base/hash.h"
#include "lumen/egraph/core/primitives/builtin.h"

namespace lumen::egraph {
namespace {

// Where `pattern` stands in `text`, without overlaps; the empty one stands before every character and at the end.
std::vector<size_t> matches(std::string_view text, std::string_view pattern) {
  std::vector<size_t> found;
  if (pattern.empty()) {
    for (size_t i = 0; i < text.size(); ++i) {
      const bool continues = (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;  // inside a UTF-8 character
      if (!continues) found.push_back(i);
    }
    found.push_back(text.size());
    return found;
  }
  for (size_t i = text.find(pattern); i != std::string_view::npos; i = text.find(pattern, i + pattern.size())) {
    found.push_back(i);
  }
  return found;
}

std::string replace(const std::string& text, const std::string& pattern, const std::string& by) {
  std::string result;
  size_t done = 0;
  for (const size_t at : matches(text, pattern)) {
    result.append(text, done, at - done).append(by);
    done = at + pattern.size();
  }
  return result.append(text, done);
}

Primitive variadic(std::string name, SortId sort, PrimitiveFn apply) {
  Primitive primitive;
  primitive.name = std::move(name);
  primitive.params = {sort};
  primitive.variadic = true;
  primitive.result = sort;
  primitive.serial = false;
  primitive.apply = std::move(apply);
  return primitive;
}

std::optional<Value> concatenate(PrimitiveContext& context, std::span<const Value> args) {
  const Sort& strings = context.sort(kString);
  std::string result;
  for (const Value arg : args) result += strings.values<std::string>().at(arg);
  return Codec<std::string>::write(context, strings, std::move(result));
}

std::optional<Value> any_of(PrimitiveContext&, std::span<const Value> args) {
  for (const Value arg : args) {
    if (arg != 0) return Value{true};
  }
  return Value{false};
}

}  // namespace

Sort string_sort() {
  return pooled_sort<std::string>(
      "String", [](const std::string& text) { return hash_bytes(text); },
      [](const std::string& text) { return "\"" + text + "\""; });
}

void define_string(Definer& define) {
  define.add(variadic("+", kString, &concatenate));
  define("replace", &replace);
  define("count-matches", [](const std::string& text, const std::string& pattern) {
    return static_cast<int64_t>(matches(text, pattern).size());
  });
}

void define_bool(Definer& define) {
  define("not", [](bool a) { return !a; });
  define("and", [](bool a, bool b) { return a && b; });
  define.add(variadic("or", kBool, &any_of));
  define("xor", [](bool a, bool b) { return a != b; });
  define("=>", [](bool a, bool b) { return !a || b; });
  define("guard", [](bool a) { return guard(a); });
}

}  // namespace lumen::egraph
