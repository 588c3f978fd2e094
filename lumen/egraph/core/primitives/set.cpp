#include <algorithm>
#include <iterator>

#include "lumen/egraph/core/primitives/container.h"

namespace lumen::egraph {
namespace {

using Call = ContainerCall;

bool set_has(const Call& call) { return std::ranges::binary_search(call.sequence(0), call.args[1]); }

std::optional<Value> set_of(const Call& call) {
  Sequence all(call.args.begin(), call.args.end());
  normalize_sequence(ContainerKind::set, all);
  return call.make(all);
}

std::optional<Value> set_insert(const Call& call) {
  if (set_has(call)) return call.args[0];
  Sequence all = call.copy(0);
  all.insert(std::ranges::lower_bound(all, call.args[1]), call.args[1]);
  return call.make(all);
}

std::optional<Value> set_remove(const Call& call) {
  if (!set_has(call)) return call.args[0];
  Sequence all = call.copy(0);
  all.erase(std::ranges::lower_bound(all, call.args[1]));
  return call.make(all);
}

std::optional<Value> set_get(const Call& call) {
  const int64_t index = call.number(1);
  const SequenceView all = call.sequence(0);
  if (index < 0 || static_cast<uint64_t>(index) >= all.size()) return std::nullopt;
  return all[static_cast<size_t>(index)];
}

std::optional<Value> set_union(const Call& call) {
  Sequence all;
  std::ranges::set_union(call.sequence(0), call.sequence(1), std::back_inserter(all));
  return call.make(all);
}

std::optional<Value> set_difference(const Call& call) {
  Sequence all;
  std::ranges::set_difference(call.sequence(0), call.sequence(1), std::back_inserter(all));
  return call.make(all);
}

}  // namespace

void add_set_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  const SortId element = sorts[sort].elements[0];
  ContainerDefiner define(sort, primitives);
  define("set-of", {element}, sort, &set_of).variadic = true;
  define("set-empty", {}, sort, [](const Call& call) { return call.make({}); });
  define("set-insert", {sort, element}, sort, &set_insert);
  define("set-remove", {sort, element}, sort, &set_remove);
  define("set-contains", {sort, element}, kUnit, [](const Call& call) { return Call::test(set_has(call)); });
  define("set-not-contains", {sort, element}, kUnit, [](const Call& call) { return Call::test(!set_has(call)); });
  define("set-length", {sort}, kI64, [](const Call& call) { return call.make_number(call.sequence(0).size()); });
  define("set-get", {sort, kI64}, element, &set_get);
  define("set-union", {sort, sort}, sort, &set_union);
  define("set-diff", {sort, sort}, sort, &set_difference);
  define("set-intersect", {sort, sort}, sort, &intersect_sorted);
}

}  // namespace lumen::egraph
