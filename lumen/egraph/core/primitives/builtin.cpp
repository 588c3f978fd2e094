#include "lumen/egraph/core/primitives/builtin.h"

#include <algorithm>

#include "lumen/base/check.h"
#include "lumen/base/hash.h"

namespace lumen::egraph {
namespace {

Sort inline_sort(std::string name) {
  Sort sort;
  sort.name = std::move(name);
  sort.kind = SortKind::base;
  sort.holds_ids = false;
  return sort;
}

Sort i64_sort() {
  return pooled_sort<int64_t>(
      "i64", [](int64_t x) { return hash_mix(static_cast<uint64_t>(x)); }, [](int64_t x) { return std::to_string(x); });
}

Primitive over_any(std::string name, SortId result, bool (*test)(Value, Value)) {
  Primitive primitive;
  primitive.name = std::move(name);
  primitive.params = {kAnySort, kAnySort};
  primitive.result = result;
  primitive.serial = false;
  if (result == kUnit) {
    primitive.apply = [test](PrimitiveContext&, std::span<const Value> args) -> std::optional<Value> {
      return test(args[0], args[1]) ? std::optional<Value>(0) : std::nullopt;
    };
  } else if (result == kBool) {
    primitive.apply = [test](PrimitiveContext&, std::span<const Value> args) { return Value{test(args[0], args[1])}; };
  } else {
    primitive.apply = [test](PrimitiveContext&, std::span<const Value> args) {
      return test(args[0], args[1]) ? args[0] : args[1];
    };
  }
  return primitive;
}

Primitive get_size() {
  Primitive primitive;
  primitive.name = "get-size!";
  primitive.params = {kString};
  primitive.variadic = true;
  primitive.result = kI64;
  primitive.reads_tables = true;
  primitive.apply = [](PrimitiveContext& context, std::span<const Value> args) {
    std::vector<std::string> tables;
    for (const Value name : args) tables.push_back(context.sort(kString).values<std::string>().at(name));
    return Codec<int64_t>::write(context, context.sort(kI64), context.count_rows(tables));
  };
  return primitive;
}

}  // namespace

SortId sort_of_type(const std::vector<Sort>& sorts, std::type_index type) {
  if (type == typeid(bool)) return kBool;
  if (type == typeid(Unit)) return kUnit;
  const auto sort = std::ranges::find_if(sorts, [&](const Sort& s) { return s.pool && s.pool->type() == type; });
  CHECK(sort != sorts.end(), std::string("no sort holds the C++ type ") + type.name());
  return static_cast<SortId>(sort - sorts.begin());
}

Value from_i64(const Sort& i64_sort, int64_t x) {
  return i64_is_inline(x) ? static_cast<Value>(x) : i64_sort.values<int64_t>().intern(x) | kInterned;
}

std::optional<Value> find_i64(const Sort& i64_sort, int64_t x) {
  if (i64_is_inline(x)) return static_cast<Value>(x);
  const std::optional<Value> known = i64_sort.values<int64_t>().find(x);
  return known ? std::optional(*known | kInterned) : std::nullopt;
}

std::vector<Sort> builtin_sorts() {
  return {inline_sort("Unit"), inline_sort("bool"), i64_sort(),    f64_sort(),
          string_sort(),       rational_sort(),     bigint_sort(), bigrat_sort()};
}

void define_any(Definer& define) {
  define.add(over_any("!=", kUnit, [](Value a, Value b) { return a != b; }));
  define.add(over_any("value-eq", kUnit, [](Value a, Value b) { return a == b; }));
  define.add(over_any("bool-!=", kBool, [](Value a, Value b) { return a != b; }));
  define.add(over_any("ordering-min", kAnySort, [](Value a, Value b) { return a < b; }));
  define.add(over_any("ordering-max", kAnySort, [](Value a, Value b) { return a > b; }));
  define.add(get_size());
}

void add_builtin_primitives(std::vector<Primitive>& primitives) {
  const std::vector<Sort> sorts = builtin_sorts();
  Definer define(sorts, primitives);
  define_string(define);
  define_bool(define);
  define_i64(define);
  define_f64(define);
  define_bigint(define);
  define_bigrat(define);
  define_rational(define);
  define_any(define);
  const std::pair<std::string_view, Quick> quick[] = {
      {"<", Quick::less},           {">", Quick::greater}, {"<=", Quick::less_equal},
      {">=", Quick::greater_equal}, {"+", Quick::add},     {"-", Quick::subtract},
      {"*", Quick::multiply},       {"/", Quick::divide},  {"%", Quick::remainder}};
  for (Primitive& primitive : primitives) {
    if (primitive.params != std::vector<SortId>{kI64, kI64} || primitive.variadic) continue;
    for (const auto& [name, what] : quick) {
      if (primitive.name == name) primitive.quick = what;
    }
  }
}

std::string print_base_value(const Sort& sort, SortId id, Value value) {
  switch (id) {
    case kUnit:
      return "()";
    case kBool:
      return value != 0 ? "true" : "false";
    case kI64:
      return std::to_string(to_i64(sort, value));
    default:
      return sort.pool->print(value);
  }
}

}  // namespace lumen::egraph
