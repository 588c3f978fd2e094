// What the sources of the container primitives share. Internal to core/primitives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lumen/egraph/core/primitive.h"
#include "lumen/egraph/core/typed_primitive.h"

namespace lumen::egraph {

using Sequence = std::vector<Value>;
using SequenceView = std::span<const Value>;

// More elements in one container are a mistake; making it would take all memory.
inline constexpr int64_t kMaxElements = int64_t{1} << 28;

// One call of a primitive that comes with the container `sort`.
struct ContainerCall {
  PrimitiveContext& context;
  SortId sort;
  SequenceView args;

  // Of argument i, a container of `sort`; valid until something is interned.
  SequenceView sequence(size_t i) const { return context.sort(sort).sequences().at(args[i]); }
  Sequence copy(size_t i) const {
    const SequenceView elements = sequence(i);
    return {elements.begin(), elements.end()};
  }
  int64_t number(size_t i) const { return to_i64(context.sort(kI64), args[i]); }

  // Results. A sequence must be in normal form.
  std::optional<Value> make(SequenceView elements) const { return make(sort, elements); }
  std::optional<Value> make(SortId of, SequenceView elements) const {
    ContainerPool& pool = context.sort(of).sequences();
    if (!context.frozen) return pool.intern(elements);
    const std::optional<Value> known = pool.find(elements);
    if (!known) context.needs_serial = true;
    return known;
  }
  std::optional<Value> make_number(size_t x) const {
    return Codec<int64_t>::write(context, context.sort(kI64), static_cast<int64_t>(x));
  }
  static std::optional<Value> test(bool condition) { return condition ? std::optional<Value>(0) : std::nullopt; }
};

// What both arguments have, sets or multisets alike: their sequences are ascending.
std::optional<Value> intersect_sorted(const ContainerCall& call);

// Appends the primitives of one container sort.
class ContainerDefiner {
 public:
  ContainerDefiner(SortId sort, std::vector<Primitive>& primitives) : sort_(sort), primitives_(&primitives) {}

  // `function` is called as std::optional<Value>(const ContainerCall&).
  template <class F>
  Primitive& operator()(std::string name, std::vector<SortId> params, SortId result, F function) {
    Primitive& primitive = primitives_->emplace_back();
    primitive.name = std::move(name);
    primitive.params = std::move(params);
    primitive.result = result;
    primitive.serial = false;
    primitive.apply = [sort = sort_, function = std::move(function)](PrimitiveContext& context, SequenceView args) {
      return function(ContainerCall{context, sort, args});
    };
    return primitive;
  }
  // For functions that call tables or change the e-graph.
  template <class F>
  void on_tables(std::string name, std::vector<SortId> params, SortId result, F function) {
    Primitive& primitive = (*this)(std::move(name), std::move(params), result, std::move(function));
    primitive.serial = true;
    primitive.reads_tables = true;
  }

 private:
  SortId sort_;
  std::vector<Primitive>* primitives_;
};

inline bool is_container(const Sort& sort, ContainerKind kind) {
  return sort.kind == SortKind::container && sort.container == kind;
}

// Each adds what comes with the container alone.
void add_vec_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives);
void add_set_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives);
void add_map_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives);
void add_multiset_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives);
void add_pair_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives);
// What applies values of the function sort: alone (unstable-app), to a Vec, to a MultiSet. The last two add nothing
// where the sorts do not fit.
void add_function_primitives(SortId function, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives);
void add_vec_map(SortId function, SortId from, SortId to, const std::vector<Sort>& sorts,
                 std::vector<Primitive>& primitives);
void add_multiset_map(SortId function, SortId from, SortId to, const std::vector<Sort>& sorts,
                      std::vector<Primitive>& primitives);
void add_multiset_functions(SortId function, SortId multiset, const std::vector<Sort>& sorts,
                            std::vector<Primitive>& primitives);

}  // namespace lumen::egraph
