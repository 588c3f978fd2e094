#include <algorithm>

#include "lumen/egraph/core/primitives/container.h"

namespace lumen::egraph {
namespace {

using Call = ContainerCall;

bool vec_has(const Call& call) { return std::ranges::find(call.sequence(0), call.args[1]) != call.sequence(0).end(); }

// The element argument 1 points at, if it is there.
std::optional<size_t> position(const Call& call) {
  const int64_t index = call.number(1);
  if (index < 0 || static_cast<uint64_t>(index) >= call.sequence(0).size()) return std::nullopt;
  return static_cast<size_t>(index);
}

std::optional<Value> append(const Call& call) {
  Sequence all;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const SequenceView part = call.sequence(i);
    all.insert(all.end(), part.begin(), part.end());
  }
  return call.make(all);
}

std::optional<Value> push(const Call& call) {
  Sequence all = call.copy(0);
  all.push_back(call.args[1]);
  return call.make(all);
}

std::optional<Value> pop(const Call& call) {
  const SequenceView all = call.sequence(0);
  return call.make(all.first(all.empty() ? 0 : all.size() - 1));
}

std::optional<Value> vec_get(const Call& call) {
  const std::optional<size_t> at = position(call);
  return at ? std::optional(call.sequence(0)[*at]) : std::nullopt;
}

std::optional<Value> vec_set(const Call& call) {
  const std::optional<size_t> at = position(call);
  if (!at) return std::nullopt;
  Sequence all = call.copy(0);
  all[*at] = call.args[2];
  return call.make(all);
}

std::optional<Value> vec_remove(const Call& call) {
  const std::optional<size_t> at = position(call);
  if (!at) return std::nullopt;
  Sequence all = call.copy(0);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(*at));
  return call.make(all);
}

// 0 1 ... n-1.
std::optional<Value> range(const Call& call) {
  const int64_t count = std::max<int64_t>(call.number(0), 0);
  if (count > kMaxElements) return std::nullopt;
  Sequence all(static_cast<size_t>(count));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Value>(i);
  return call.make(all);
}

std::optional<Value> unite_pairs(const Call& call, SortId element) {
  const Sequence a = call.copy(0);
  const Sequence b = call.copy(1);
  if (a.size() != b.size()) return std::nullopt;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!call.context.unite(element, a[i], b[i])) return std::nullopt;
  }
  return call.args[0];
}

}  // namespace

void add_vec_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  const SortId element = sorts[sort].elements[0];
  ContainerDefiner define(sort, primitives);
  define("vec-of", {element}, sort, [](const Call& call) { return call.make(call.args); }).variadic = true;
  define("vec-append", {sort}, sort, &append).variadic = true;
  define("vec-empty", {}, sort, [](const Call& call) { return call.make({}); });
  define("vec-push", {sort, element}, sort, &push);
  define("vec-pop", {sort}, sort, &pop);
  define("vec-contains", {sort, element}, kUnit, [](const Call& call) { return Call::test(vec_has(call)); });
  define("vec-not-contains", {sort, element}, kUnit, [](const Call& call) { return Call::test(!vec_has(call)); });
  define("vec-length", {sort}, kI64, [](const Call& call) { return call.make_number(call.sequence(0).size()); });
  define("vec-get", {sort, kI64}, element, &vec_get);
  define("vec-set", {sort, kI64, element}, sort, &vec_set);
  define("vec-remove", {sort, kI64}, sort, &vec_remove);
  if (element == kI64) define("vec-range", {kI64}, sort, &range);
  if (sorts[element].kind == SortKind::eq) {
    define.on_tables("vec-union", {sort, sort}, sort,
                     [element](const Call& call) { return unite_pairs(call, element); });
  }
}

void add_pair_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  const SortId first = sorts[sort].elements[0];
  const SortId second = sorts[sort].elements[1];
  ContainerDefiner define(sort, primitives);
  define("pair", {first, second}, sort, [](const Call& call) { return call.make(call.args); });
  define("pair-first", {sort}, first, [](const Call& call) { return std::optional(call.sequence(0)[0]); });
  define("pair-second", {sort}, second, [](const Call& call) { return std::optional(call.sequence(0)[1]); });
}

}  // namespace lumen::egraph
