// Primitives from C++ functions: parameters and result are C++ types, found among the sorts by the type of their pool.
//
//   typed_primitive("abs", sorts, [](int64_t x) -> std::optional<int64_t> { ... })
//
// A result is a T, or std::optional<T> for a partial function; `guard(condition)` is the result of a test, that is (),
// or nothing. Arguments come by value or as const T&. The function must be pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "lumen/egraph/core/primitive.h"

namespace lumen::egraph {

struct Unit {
  bool operator==(const Unit&) const = default;
};
inline std::optional<Unit> guard(bool condition) { return condition ? std::optional(Unit{}) : std::nullopt; }

// The first base sort whose values are of the C++ type; there must be one.
SortId sort_of_type(const std::vector<Sort>& sorts, std::type_index type);

// How a C++ type is kept in a Value. `write` obeys PrimitiveContext::frozen.
template <class T>
struct Codec {
  static const T& read(const Sort& sort, Value value) { return sort.values<T>().at(value); }
  static std::optional<Value> write(PrimitiveContext& context, const Sort& sort, T x) {
    if (!context.frozen) return sort.values<T>().intern(std::move(x));
    const std::optional<Value> known = sort.values<T>().find(x);
    if (!known) context.needs_serial = true;
    return known;
  }
};
template <>
struct Codec<int64_t> {
  static int64_t read(const Sort& sort, Value value) { return to_i64(sort, value); }
  static std::optional<Value> write(PrimitiveContext& context, const Sort& sort, int64_t x) {
    if (i64_is_inline(x)) return static_cast<Value>(x);
    if (!context.frozen) return from_i64(sort, x);
    const std::optional<Value> known = find_i64(sort, x);
    if (!known) context.needs_serial = true;
    return known;
  }
};
template <>
struct Codec<bool> {
  static bool read(const Sort&, Value value) { return value != 0; }
  static std::optional<Value> write(PrimitiveContext&, const Sort&, bool x) { return Value{x}; }
};
template <>
struct Codec<Unit> {
  static Unit read(const Sort&, Value) { return {}; }
  static std::optional<Value> write(PrimitiveContext&, const Sort&, Unit) { return Value{0}; }
};

namespace detail {

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... Args>
struct Signature<R (*)(Args...)> {
  using Result = R;
  using Params = std::tuple<std::decay_t<Args>...>;
};
template <class C, class R, class... Args>
struct Signature<R (C::*)(Args...) const> : Signature<R (*)(Args...)> {};

template <class T>
struct WithoutOptional {
  using Type = T;
};
template <class T>
struct WithoutOptional<std::optional<T>> {
  using Type = T;
};

}  // namespace detail

// Every type must be that of a base sort among `sorts`.
template <class F>
Primitive typed_primitive(std::string name, const std::vector<Sort>& sorts, F function) {
  using Signature = detail::Signature<F>;
  using Params = typename Signature::Params;
  using Returned = typename Signature::Result;
  using Result = typename detail::WithoutOptional<Returned>::Type;
  constexpr size_t kCount = std::tuple_size_v<Params>;
  return [&]<size_t... I>(std::index_sequence<I...>) {
    const std::array<SortId, kCount> params = {sort_of_type(sorts, typeid(std::tuple_element_t<I, Params>))...};
    const SortId result = sort_of_type(sorts, typeid(Result));
    Primitive primitive;
    primitive.name = std::move(name);
    primitive.params.assign(params.begin(), params.end());
    primitive.result = result;
    primitive.serial = false;
    primitive.apply = [function = std::move(function), params, result](
                          PrimitiveContext& context, std::span<const Value> args) -> std::optional<Value> {
      Returned returned = function(Codec<std::tuple_element_t<I, Params>>::read(context.sort(params[I]), args[I])...);
      if constexpr (std::is_same_v<Returned, Result>) {
        return Codec<Result>::write(context, context.sort(result), std::move(returned));
      } else {
        if (!returned) return std::nullopt;
        return Codec<Result>::write(context, context.sort(result), *std::move(returned));
      }
    };
    return primitive;
  }
  (std::make_index_sequence<kCount>());
}

}  // namespace lumen::egraph
