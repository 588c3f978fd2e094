#include "lumen/egraph/core/primitives/container.h"

namespace lumen::egraph {
namespace {

using Call = ContainerCall;

// Where the key stands in k0 v0 k1 v1 ..., or would.
size_t key_place(SequenceView all, Value key) {
  size_t low = 0;
  size_t high = all.size() / 2;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (all[2 * middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 2 * low;
}

std::optional<size_t> find_key(const Call& call) {
  const SequenceView all = call.sequence(0);
  const size_t at = key_place(all, call.args[1]);
  return at < all.size() && all[at] == call.args[1] ? std::optional(at) : std::nullopt;
}

std::optional<Value> insert_entry(const Call& call) {
  Sequence all = call.copy(0);
  if (const std::optional<size_t> at = find_key(call)) {
    all[*at + 1] = call.args[2];
  } else {
    const auto place = all.begin() + static_cast<std::ptrdiff_t>(key_place(all, call.args[1]));
    all.insert(place, {call.args[1], call.args[2]});
  }
  return call.make(all);
}

std::optional<Value> remove_key(const Call& call) {
  const std::optional<size_t> at = find_key(call);
  if (!at) return call.args[0];
  Sequence all = call.copy(0);
  const auto place = all.begin() + static_cast<std::ptrdiff_t>(*at);
  all.erase(place, place + 2);
  return call.make(all);
}

std::optional<Value> value_of_key(const Call& call) {
  const std::optional<size_t> at = find_key(call);
  return at ? std::optional(call.sequence(0)[*at + 1]) : std::nullopt;
}

}  // namespace

void add_map_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  const SortId key = sorts[sort].elements[0];
  const SortId value = sorts[sort].elements[1];
  ContainerDefiner define(sort, primitives);
  define("map-empty", {}, sort, [](const Call& call) { return call.make({}); });
  define("map-insert", {sort, key, value}, sort, &insert_entry);
  define("map-get", {sort, key}, value, &value_of_key);
  define("map-contains", {sort, key}, kUnit, [](const Call& call) { return Call::test(find_key(call).has_value()); });
  define("map-not-contains", {sort, key}, kUnit, [](const Call& call) { return Call::test(!find_key(call)); });
  define("map-remove", {sort, key}, sort, &remove_key);
  define("map-length", {sort}, kI64, [](const Call& call) { return call.make_number(call.sequence(0).size() / 2); });
}

}  // namespace lumen::egraph
