// Container sorts: how they are made, what comes with them, how their values are kept and written.
#include "lumen/egraph/core/primitives/container.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace lumen::egraph {
namespace {

struct KnownPresort {
  std::string_view name;
  ContainerKind kind;
  size_t arguments;  // at least, for functions
};

constexpr std::array<KnownPresort, 6> kPresorts = {{
    {"Vec", ContainerKind::vec, 1},
    {"Set", ContainerKind::set, 1},
    {"MultiSet", ContainerKind::multiset, 1},
    {"Map", ContainerKind::map, 2},
    {"Pair", ContainerKind::pair, 2},
    {"UnstableFn", ContainerKind::function, 1},
}};

std::vector<SortId> of_kind(const std::vector<Sort>& sorts, ContainerKind kind) {
  std::vector<SortId> found;
  for (SortId id = 0; id < sorts.size(); ++id) {
    if (is_container(sorts[id], kind)) found.push_back(id);
  }
  return found;
}

// What joins function sorts with Vecs and MultiSets, where `added` is one of the three.
void add_joint_primitives(SortId added, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  const std::vector<SortId> vecs = of_kind(sorts, ContainerKind::vec);
  const std::vector<SortId> multisets = of_kind(sorts, ContainerKind::multiset);
  for (const SortId function : of_kind(sorts, ContainerKind::function)) {
    const auto concerned = [&](SortId a, SortId b) { return function == added || a == added || b == added; };
    for (const SortId from : vecs) {
      for (const SortId to : vecs) {
        if (concerned(from, to)) add_vec_map(function, from, to, sorts, primitives);
      }
    }
    for (const SortId from : multisets) {
      for (const SortId to : multisets) {
        if (concerned(from, to)) add_multiset_map(function, from, to, sorts, primitives);
      }
      if (concerned(from, from)) add_multiset_functions(function, from, sorts, primitives);
    }
  }
}

void normalize_map(std::vector<Value>& sequence) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i + 1 < sequence.size(); i += 2) entries.emplace_back(sequence[i], sequence[i + 1]);
  std::ranges::stable_sort(entries, {}, &std::pair<Value, Value>::first);
  sequence.clear();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i + 1].first == entries[i].first) continue;
    sequence.insert(sequence.end(), {entries[i].first, entries[i].second});
  }
}

std::string_view head_of(const Sort& sort, bool empty) {
  switch (sort.container) {
    case ContainerKind::vec:
      return empty ? "vec-empty" : "vec-of";
    case ContainerKind::set:
      return "set-of";
    case ContainerKind::multiset:
      return "multiset-of";
    case ContainerKind::map:
      return empty ? "map-empty" : "map-insert";
    case ContainerKind::pair:
      return "pair";
    case ContainerKind::function:
      return "unstable-fn";
  }
  return "";
}

// One container sort of each kind and function sorts to go with it: everything there is a primitive for.
std::vector<std::string> container_primitive_names() {
  std::vector<Sort> sorts = builtin_sorts();
  sorts.emplace_back().name = "E";
  std::vector<Primitive> primitives;
  const auto add = [&](std::string_view presort, std::vector<SortId> arguments) {
    sorts.push_back(make_container_sort("", presort, arguments, sorts).value());
    const SortId id = static_cast<SortId>(sorts.size() - 1);
    add_container_primitives(id, sorts, primitives);
    return id;
  };
  const SortId e = kBuiltinSorts;
  add("Vec", {e});
  add("Vec", {kI64});
  add("Set", {kI64});
  add("Map", {kI64, kI64});
  add("Pair", {kI64, kI64});
  const SortId multiset = add("MultiSet", {kI64});
  add("MultiSet", {multiset});
  add("UnstableFn", {kI64, kI64});
  add("UnstableFn", {kI64, kUnit});
  add("UnstableFn", {kI64, kI64, kI64});
  add("UnstableFn", {multiset, kI64, kI64});
  add("UnstableFn", {kI64, multiset});
  std::vector<std::string> names = {"unstable-fn"};
  for (const Primitive& primitive : primitives) names.push_back(primitive.name);
  std::erase(names, "multiset-pick");  // free as long as no MultiSet is declared
  std::ranges::sort(names);
  return names;
}

}  // namespace

Expected<Sort> make_container_sort(std::string name, std::string_view presort, std::span<const SortId> arguments,
                                   const std::vector<Sort>& sorts) {
  const auto known = std::ranges::find(kPresorts, presort, &KnownPresort::name);
  if (known == kPresorts.end()) {
    return error("sort '" + name + "': there is no container '" + std::string(presort) +
                 "'; known are Vec, Set, MultiSet, Map, Pair and UnstableFn");
  }
  const bool function = known->kind == ContainerKind::function;
  if (function ? arguments.size() < known->arguments : arguments.size() != known->arguments) {
    return error("sort '" + name + "': " + std::string(presort) + " takes " + (function ? "at least " : "") +
                 std::to_string(known->arguments) + " sort" + (known->arguments == 1 ? "" : "s") + ", " +
                 std::to_string(arguments.size()) + " given");
  }
  Sort sort;
  sort.name = std::move(name);
  sort.kind = SortKind::container;
  sort.container = known->kind;
  sort.elements.assign(arguments.begin(), arguments.end());
  // A function may hold arguments of any sort.
  sort.holds_ids = function || std::ranges::any_of(arguments, [&](SortId id) { return sorts[id].holds_ids; });
  sort.pool = std::make_shared<ContainerPool>();
  return sort;
}

void add_container_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives) {
  switch (sorts[sort].container) {
    case ContainerKind::vec:
      add_vec_primitives(sort, sorts, primitives);
      break;
    case ContainerKind::set:
      add_set_primitives(sort, sorts, primitives);
      break;
    case ContainerKind::multiset:
      add_multiset_primitives(sort, sorts, primitives);
      break;
    case ContainerKind::map:
      add_map_primitives(sort, sorts, primitives);
      break;
    case ContainerKind::pair:
      add_pair_primitives(sort, sorts, primitives);
      break;
    case ContainerKind::function:
      add_function_primitives(sort, sorts, primitives);
      break;
  }
  add_joint_primitives(sort, sorts, primitives);
}

std::optional<Value> intersect_sorted(const ContainerCall& call) {
  Sequence both;
  std::ranges::set_intersection(call.sequence(0), call.sequence(1), std::back_inserter(both));
  return call.make(both);
}

bool is_reserved_primitive(std::string_view name) {
  static const std::vector<std::string> names = container_primitive_names();
  return std::ranges::binary_search(names, name, {}, [](const std::string& s) { return std::string_view(s); });
}

void normalize_sequence(ContainerKind kind, std::vector<Value>& sequence) {
  if (kind == ContainerKind::map) {
    normalize_map(sequence);
  } else if (kind == ContainerKind::set || kind == ContainerKind::multiset) {
    std::ranges::sort(sequence);
    if (kind == ContainerKind::set) sequence.erase(std::unique(sequence.begin(), sequence.end()), sequence.end());
  }
}

ContainerTerm container_term(const Sort& sort, Value value) {
  const SequenceView sequence = sort.sequences().at(value);
  ContainerTerm term;
  term.head = head_of(sort, sequence.empty());
  term.nested = sort.container == ContainerKind::map;
  if (sort.container == ContainerKind::function) term.function = FunctionValue::unpack(sequence);
  visit_elements(sort, sequence, [&](SortId id, Value element) { term.elements.push_back({id, element}); });
  return term;
}

}  // namespace lumen::egraph
