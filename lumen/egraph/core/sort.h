// Sorts: what a Value means.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lumen/egraph/core/pool.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

enum class SortKind : uint8_t {
  eq,         // e-class ids; classes merge
  base,       // immutable values: numbers, strings, values of the host
  container,  // sequences of values of other sorts
};

// How the sequence of a container value is laid out; it is always in this normal form.
enum class ContainerKind : uint8_t {
  vec,       // e0 e1 ...
  set,       // ascending Values, no repeats
  multiset,  // ascending Values, with repeats
  map,       // k0 v0 k1 v1 ..., keys ascending Values, no repeats
  pair,      // first second
  // A callee and the arguments given so far: callee sort0 arg0 sort1 arg1 ... (FunctionValue in primitive.h).
  function,
};

struct Sort {
  std::string name;
  SortKind kind = SortKind::eq;
  ContainerKind container = ContainerKind::vec;
  std::vector<SortId> elements;  // vec, set, multiset: 1; map: key value; pair: 2; function: inputs, then the output
  bool holds_ids = true;         // eq sorts, and containers that (through others) hold ids: values change on merges
  std::shared_ptr<Pool> pool;    // null for eq sorts and for what fits into a Value: Unit, bool, i64 (partly)

  ContainerPool& sequences() const { return static_cast<ContainerPool&>(*pool); }
  template <class T>
  ValuePool<T>& values() const {
    return static_cast<ValuePool<T>&>(*pool);
  }
};

// Calls visit(SortId, Value&) for every element of a sequence of the container `sort`, in order.
template <class Element, class Visit>
requires std::is_same_v<std::remove_const_t<Element>, Value>
void visit_elements(const Sort& sort, std::span<Element> sequence, Visit visit) {
  if (sort.container == ContainerKind::function) {
    for (size_t i = 2; i < sequence.size(); i += 2) visit(SortId{sequence[i - 1]}, sequence[i]);
    return;
  }
  const bool two = sort.container == ContainerKind::map || sort.container == ContainerKind::pair;
  for (size_t i = 0; i < sequence.size(); ++i) visit(sort.elements[two ? i % 2 : 0], sequence[i]);
}

// Brings a sequence into the normal form of its kind; of equal map keys the last wins.
void normalize_sequence(ContainerKind kind, std::vector<Value>& sequence);

// The built-in base sorts, in this order in every e-graph.
inline constexpr SortId kUnit = 0;
inline constexpr SortId kBool = 1;
inline constexpr SortId kI64 = 2;
inline constexpr SortId kF64 = 3;
inline constexpr SortId kString = 4;
inline constexpr SortId kRational = 5;
inline constexpr SortId kBigInt = 6;
inline constexpr SortId kBigRat = 7;
inline constexpr SortId kBuiltinSorts = 8;

}  // namespace lumen::egraph
