// Function values, and what applies them.
#include <algorithm>

#include "lumen/egraph/core/primitives/container.h"

namespace lumen::egraph {
namespace {

using Call = ContainerCall;

constexpr Value kPrimitiveBit = 0x80000000;

FunctionValue function_at(const Call& call, SortId sort, size_t i) {
  return FunctionValue::unpack(call.context.sort(sort).sequences().at(call.args[i]));
}

SequenceView sequence_at(const Call& call, SortId sort, size_t i) {
  return call.context.sort(sort).sequences().at(call.args[i]);
}

// The elements of a multiset without repeats, and how often each is there.
std::vector<std::pair<Value, size_t>> counted(SequenceView all) {
  std::vector<std::pair<Value, size_t>> result;
  for (const Value value : all) {
    if (result.empty() || result.back().first != value) result.emplace_back(value, 0);
    ++result.back().second;
  }
  return result;
}

// Elements the function is not defined for are left out.
std::optional<Value> map_vec(const Call& call, SortId from, SortId to) {
  const FunctionValue function = function_at(call, call.sort, 0);
  const SequenceView view = sequence_at(call, from, 1);
  const Sequence all(view.begin(), view.end());
  Sequence mapped;
  for (const Value value : all) {
    if (const std::optional<Value> image = function.apply(call.context, {{value}})) mapped.push_back(*image);
  }
  return call.make(to, mapped);
}

std::optional<Value> map_multiset(const Call& call, SortId from, SortId to) {
  const FunctionValue function = function_at(call, call.sort, 0);
  Sequence mapped;
  for (const auto& [value, count] : counted(sequence_at(call, from, 1))) {
    if (const std::optional<Value> image = function.apply(call.context, {{value}})) {
      mapped.insert(mapped.end(), count, *image);
    }
  }
  normalize_sequence(ContainerKind::multiset, mapped);
  return call.make(to, mapped);
}

// Elements the function is not defined for stay.
std::optional<Value> flat_map(const Call& call, SortId multiset) {
  const FunctionValue function = function_at(call, call.sort, 0);
  Sequence mapped;
  for (const auto& [value, count] : counted(sequence_at(call, multiset, 1))) {
    const std::optional<Value> image = function.apply(call.context, {{value}});
    if (!image) {
      mapped.insert(mapped.end(), count, value);
      continue;
    }
    const SequenceView part = call.context.sort(multiset).sequences().at(*image);
    for (size_t i = 0; i < count; ++i) mapped.insert(mapped.end(), part.begin(), part.end());
  }
  normalize_sequence(ContainerKind::multiset, mapped);
  return call.make(multiset, mapped);
}

// Keeps the elements for which "the function is defined" is `expected`.
std::optional<Value> filter(const Call& call, SortId multiset, bool expected) {
  const FunctionValue function = function_at(call, call.sort, 0);
  Sequence kept;
  for (const auto& [value, count] : counted(sequence_at(call, multiset, 1))) {
    if (function.apply(call.context, {{value}}).has_value() == expected) kept.insert(kept.end(), count, value);
  }
  return call.make(multiset, kept);
}

// f(f(e0, e1), e2) ...; the initial value only for an empty multiset.
std::optional<Value> reduce(const Call& call, SortId multiset) {
  const FunctionValue function = function_at(call, call.sort, 0);
  const SequenceView view = sequence_at(call, multiset, 2);
  if (view.empty()) return call.args[1];
  const Sequence all(view.begin(), view.end());
  std::optional<Value> result = all[0];
  for (size_t i = 1; i < all.size() && result; ++i) result = function.apply(call.context, {{*result, all[i]}});
  return result;
}

// Sets function(multiset, e) to the count of e, unless that was done before.
std::optional<Value> fill_index(const Call& call, SortId multiset) {
  const FunctionValue function = function_at(call, call.sort, 1);
  if (function.is_primitive) return std::nullopt;
  for (const auto& [value, count] : counted(sequence_at(call, multiset, 0))) {
    const Sequence key = {call.args[0], value};
    if (call.context.call_table(function.callee, key)) break;
    const std::optional<Value> number = call.make_number(count);
    if (!number || !call.context.set(function.callee, key, *number)) return std::nullopt;
  }
  return Value{0};
}

std::optional<Value> clear_index(const Call& call, SortId multiset) {
  const FunctionValue function = function_at(call, call.sort, 1);
  if (function.is_primitive) return std::nullopt;
  for (const auto& [value, count] : counted(sequence_at(call, multiset, 0))) {
    if (!call.context.erase(function.callee, Sequence{call.args[0], value})) return std::nullopt;
  }
  return Value{0};
}

// Whether the function sort takes these and gives that.
bool fits(const Sort& function, std::initializer_list<SortId> signature) {
  return std::ranges::equal(function.elements, signature);
}

}  // namespace

FunctionValue FunctionValue::unpack(SequenceView sequence) {
  FunctionValue result;
  result.is_primitive = (sequence[0] & kPrimitiveBit) != 0;
  result.callee = sequence[0] & ~kPrimitiveBit;
  for (size_t i = 1; i + 1 < sequence.size(); i += 2) {
    result.sorts.push_back(sequence[i]);
    result.args.push_back(sequence[i + 1]);
  }
  return result;
}

std::vector<Value> FunctionValue::pack() const {
  Sequence sequence = {callee | (is_primitive ? kPrimitiveBit : 0)};
  for (size_t i = 0; i < args.size(); ++i) sequence.insert(sequence.end(), {sorts[i], args[i]});
  return sequence;
}

std::optional<Value> FunctionValue::apply(PrimitiveContext& context, SequenceView more) const {
  Sequence all = args;
  all.insert(all.end(), more.begin(), more.end());
  return is_primitive ? context.call_primitive(callee, all) : context.call_table(callee, all);
}

void add_function_primitives(SortId function, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  std::vector<SortId> params = sorts[function].elements;
  const SortId output = params.back();
  params.pop_back();
  params.insert(params.begin(), function);
  ContainerDefiner(function, primitives).on_tables("unstable-app", std::move(params), output, [](const Call& call) {
    return function_at(call, call.sort, 0).apply(call.context, call.args.subspan(1));
  });
}

void add_vec_map(SortId function, SortId from, SortId to, const std::vector<Sort>& sorts,
                 std::vector<Primitive>& primitives) {
  if (!fits(sorts[function], {sorts[from].elements[0], sorts[to].elements[0]})) return;
  ContainerDefiner(function, primitives)
      .on_tables("unstable-vec-map", {function, from}, to,
                 [from, to](const Call& call) { return map_vec(call, from, to); });
}

void add_multiset_map(SortId function, SortId from, SortId to, const std::vector<Sort>& sorts,
                      std::vector<Primitive>& primitives) {
  if (!fits(sorts[function], {sorts[from].elements[0], sorts[to].elements[0]})) return;
  ContainerDefiner(function, primitives)
      .on_tables("unstable-multiset-map", {function, from}, to,
                 [from, to](const Call& call) { return map_multiset(call, from, to); });
}

void add_multiset_functions(SortId function, SortId multiset, const std::vector<Sort>& sorts,
                            std::vector<Primitive>& primitives) {
  const SortId element = sorts[multiset].elements[0];
  const Sort& signature = sorts[function];
  ContainerDefiner define(function, primitives);
  if (fits(signature, {element, kUnit})) {
    define.on_tables("unstable-multiset-filter", {function, multiset}, multiset,
                     [multiset](const Call& call) { return filter(call, multiset, true); });
    define.on_tables("unstable-multiset-filter-not", {function, multiset}, multiset,
                     [multiset](const Call& call) { return filter(call, multiset, false); });
  }
  if (fits(signature, {element, element, element})) {
    define.on_tables("unstable-multiset-reduce", {function, element, multiset}, element,
                     [multiset](const Call& call) { return reduce(call, multiset); });
  }
  if (fits(signature, {multiset, element, kI64})) {
    define.on_tables("unstable-multiset-fill-index", {multiset, function}, kUnit,
                     [multiset](const Call& call) { return fill_index(call, multiset); });
    define.on_tables("unstable-multiset-clear-index", {multiset, function}, kUnit,
                     [multiset](const Call& call) { return clear_index(call, multiset); });
  }
  if (fits(signature, {element, multiset})) {
    define.on_tables("unstable-multiset-flat-map", {function, multiset}, multiset,
                     [multiset](const Call& call) { return flat_map(call, multiset); });
  }
}

}  // namespace lumen::egraph
