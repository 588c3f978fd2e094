#include <algorithm>
#include <iterator>

#include "lumen/egraph/core/primitives/container.h"

namespace lumen::egraph {
namespace {

using Call = ContainerCall;

size_t count_equal(SequenceView all, Value x) { return static_cast<size_t>(std::count(all.begin(), all.end(), x)); }

std::optional<Value> multiset_of(const Call& call) {
  Sequence all(call.args.begin(), call.args.end());
  normalize_sequence(ContainerKind::multiset, all);
  return call.make(all);
}

std::optional<Value> single(const Call& call) {
  const int64_t times = call.number(1);
  if (times < 0 || times > kMaxElements) return std::nullopt;
  return call.make(Sequence(static_cast<size_t>(times), call.args[0]));
}

std::optional<Value> multiset_insert(const Call& call) {
  Sequence all = call.copy(0);
  all.insert(std::ranges::lower_bound(all, call.args[1]), call.args[1]);
  return call.make(all);
}

// `from` and `which` are the numbers of the arguments.
std::optional<Value> multiset_remove(const Call& call, size_t from, size_t which) {
  Sequence all = call.copy(from);
  const auto first = std::ranges::find(all, call.args[which]);
  if (first == all.end()) return std::nullopt;
  all.erase(first);
  return call.make(all);
}

std::optional<Value> multiset_subtract(const Call& call, size_t from, size_t which) {
  if (!std::ranges::includes(call.sequence(from), call.sequence(which))) return std::nullopt;
  Sequence all;
  std::ranges::set_difference(call.sequence(from), call.sequence(which), std::back_inserter(all));
  return call.make(all);
}

std::optional<Value> multiset_contains(const Call& call, size_t all, size_t which, bool expected) {
  return Call::test((count_equal(call.sequence(all), call.args[which]) > 0) == expected);
}

std::optional<Value> multiset_sum(const Call& call) {
  Sequence all;
  std::ranges::merge(call.sequence(0), call.sequence(1), std::back_inserter(all));
  return call.make(all);
}

std::optional<Value> reset_counts(const Call& call) {
  Sequence all = call.copy(0);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return call.make(all);
}

std::optional<Value> pick(const Call& call) {
  const SequenceView all = call.sequence(0);
  return all.empty() ? std::nullopt : std::optional(all[0]);
}

// The most frequent element, of several the last.
std::optional<Value> pick_max(const Call& call) {
  std::optional<Value> best;
  size_t most = 0;
  const SequenceView all = call.sequence(0);
  for (size_t i = 0, next = 0; i < all.size(); i = next) {
    next = i + count_equal(all.subspan(i), all[i]);
    if (next - i < most) continue;
    most = next - i;
    best = all[i];
  }
  return best;
}

std::optional<Value> sum_multisets(const Call& call, SortId inner) {
  Sequence all;
  for (const Value value : call.sequence(0)) {
    const SequenceView part = call.context.sort(inner).sequences().at(value);
    all.insert(all.end(), part.begin(), part.end());
  }
  normalize_sequence(ContainerKind::multiset, all);
  return call.make(inner, all);
}

std::optional<Value> unite_all(const Call& call, SortId element) {
  const Sequence all = call.copy(0);
  if (all.empty()) return std::nullopt;
  for (const Value value : all) {
    if (!call.context.unite(element, all[0], value)) return std::nullopt;
  }
  return all[0];
}

}  // namespace

void add_multiset_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  const SortId element = sorts[sort].elements[0];
  ContainerDefiner define(sort, primitives);
  define("multiset-of", {element}, sort, &multiset_of).variadic = true;
  define("multiset-single", {element, kI64}, sort, &single);
  define("multiset-pick", {sort}, element, &pick);
  define("multiset-pick-max", {sort}, element, &pick_max);
  define("multiset-insert", {sort, element}, sort, &multiset_insert);
  define("multiset-remove", {sort, element}, sort, [](const Call& call) { return multiset_remove(call, 0, 1); });
  define("multiset-remove-swapped", {element, sort}, sort,
         [](const Call& call) { return multiset_remove(call, 1, 0); });
  define("multiset-subtract", {sort, sort}, sort, [](const Call& call) { return multiset_subtract(call, 0, 1); });
  define("multiset-subtract-swapped", {sort, sort}, sort,
         [](const Call& call) { return multiset_subtract(call, 1, 0); });
  define("multiset-length", {sort}, kI64, [](const Call& call) { return call.make_number(call.sequence(0).size()); });
  define("multiset-contains", {sort, element}, kUnit,
         [](const Call& call) { return multiset_contains(call, 0, 1, true); });
  define("multiset-not-contains", {sort, element}, kUnit,
         [](const Call& call) { return multiset_contains(call, 0, 1, false); });
  define("multiset-contains-swapped", {element, sort}, kUnit,
         [](const Call& call) { return multiset_contains(call, 1, 0, true); });
  define("multiset-not-contains-swapped", {element, sort}, kUnit,
         [](const Call& call) { return multiset_contains(call, 1, 0, false); });
  define("multiset-intersection", {sort, sort}, sort, &intersect_sorted);
  define("multiset-sum", {sort, sort}, sort, &multiset_sum);
  define("multiset-reset-counts", {sort}, sort, &reset_counts);
  define("multiset-count", {sort, element}, kI64,
         [](const Call& call) { return call.make_number(count_equal(call.sequence(0), call.args[1])); });
  if (is_container(sorts[element], ContainerKind::multiset)) {
    define("multiset-sum-multisets", {sort}, element,
           [element](const Call& call) { return sum_multisets(call, element); });
  }
  if (sorts[element].kind == SortKind::eq) {
    define.on_tables("multiset-union-values", {sort}, element,
                     [element](const Call& call) { return unite_all(call, element); });
  }
}

}  // namespace lumen::egraph
