// For programs that use the engine with values and tables of their own:
//
//   graph.add_host_sort<Shape>("Shape", hash_of_shape, print_shape);
//   define_primitive(graph, "without_axis", [](const Shape& s, int64_t axis) -> std::optional<Shape> { ... });
//   const TableId sum = graph.add_table(constructor("SumReduce", {tensor}, {{"axis", kI64}}, tensor));
//   const Value y = make_term(graph, sum, x, 1);
//
// makes (without_axis ?s ?i) and (SumReduce ?x :axis ?i) available to rules; where the function gives nothing the rule
// does not fire.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/core/typed_primitive.h"

namespace lumen::egraph {

// Every C++ type in the signature is that of a built-in sort (int64_t double bool std::string Unit) or was given to
// add_host_sort before; of several sorts with one type, the first is meant.
template <class F>
PrimitiveId define_primitive(EGraph& graph, std::string name, F function) {
  return graph.add_primitive(typed_primitive(std::move(name), graph.sorts(), std::move(function)));
}

struct Field {
  std::string name;
  SortId sort;
};
// (constructor name (params... :field sort...) result): the fields come last and can be given by name in rules.
TableDecl constructor(std::string name, std::vector<SortId> params, const std::vector<Field>& fields, SortId result);

// A C++ value as a Value of the sort of its type. Integers are int64_t, text is std::string.
template <class T>
Value to_value(EGraph& graph, T value) {
  using Stored =
      std::conditional_t<std::is_same_v<T, bool>, bool,
                         std::conditional_t<std::is_integral_v<T>, int64_t,
                                            std::conditional_t<std::is_convertible_v<T, std::string>, std::string, T>>>;
  PrimitiveContext context(graph.sorts());
  const Sort& sort = context.sort(sort_of_type(graph.sorts(), typeid(Stored)));
  return *Codec<Stored>::write(context, sort, Stored(std::move(value)));
}
// And back. References stay valid as long as the e-graph.
template <class T>
decltype(auto) from_value(const EGraph& graph, Value value) {
  return Codec<T>::read(graph.sorts()[sort_of_type(graph.sorts(), typeid(T))], value);
}

// Arguments of a term: each is a Value or what to_value takes.
template <class... Args>
std::vector<Value> to_values(EGraph& graph, Args... args) {
  const auto value = [&]<class T>(T arg) {
    if constexpr (std::is_same_v<T, Value>) {
      return arg;
    } else {
      return to_value(graph, std::move(arg));
    }
  };
  return {value(std::move(args))...};
}
// table(args...), made when missing.
template <class... Args>
Value make_term(EGraph& graph, TableId table, Args... args) {
  return graph.make(table, to_values(graph, std::move(args)...));
}

}  // namespace lumen::egraph
