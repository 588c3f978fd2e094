#include "lumen/egraph/lang/function_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "lumen/egraph/lang/typecheck.h"

namespace lumen::egraph {

namespace {

struct Callee {
  bool is_primitive = false;
  uint32_t id = 0;
  std::vector<SortId> params;
  SortId result = 0;
};

std::vector<Callee> callees(const EGraph& graph, const Scope& scope, std::string_view name, size_t arguments) {
  std::vector<Callee> found;
  if (const std::optional<TableId> table = scope.table(name)) {
    const TableDecl& decl = graph.table(*table);
    if (decl.params.size() == arguments) found.push_back({false, *table, decl.params, result_sort(graph, *table)});
  }
  for (const PrimitiveId id : scope.primitives(name)) {
    const Primitive& primitive = graph.primitives()[id];
    std::vector<SortId> params = primitive.params;
    if (primitive.variadic && arguments + 1 >= params.size()) params.resize(arguments, params.back());
    if (params.size() == arguments) found.push_back({true, id, std::move(params), primitive.result});
  }
  return found;
}

// Whether the callee, after its first `given` arguments, is a function of that sort; a parameter of any sort becomes
// the sort it has there.
bool bind(Callee& callee, size_t given, const Sort& sort) {
  SortId any = kAnySort;
  for (size_t i = 0; i < sort.elements.size(); ++i) {
    const bool result = i + 1 == sort.elements.size();
    const SortId own = result ? callee.result : callee.params[given + i];
    if (own == kAnySort && any == kAnySort) any = sort.elements[i];
    if ((own == kAnySort ? any : own) != sort.elements[i]) return false;
  }
  std::replace(callee.params.begin(), callee.params.end(), kAnySort, any);
  return true;
}

Primitive maker(std::string name, const Callee& callee, size_t given, SortId sort) {
  Primitive primitive;
  primitive.name = std::move(name);
  primitive.params.assign(callee.params.begin(), callee.params.begin() + static_cast<ptrdiff_t>(given));
  primitive.result = sort;
  primitive.apply = [is_primitive = callee.is_primitive, id = callee.id, params = primitive.params, sort](
                        PrimitiveContext& context, std::span<const Value> args) -> std::optional<Value> {
    const FunctionValue value{is_primitive, id, params, {args.begin(), args.end()}};
    return context.sort(sort).sequences().intern(value.pack());
  };
  return primitive;
}

}  // namespace

std::vector<PrimitiveId> function_value_primitives(EGraph& graph, Scope& scope, std::string_view callee, size_t given) {
  std::vector<PrimitiveId> found;
  for (SortId sort = 0; sort < graph.sorts().size(); ++sort) {
    const Sort& function = graph.sorts()[sort];
    if (function.kind != SortKind::container || function.container != ContainerKind::function) continue;
    for (Callee& candidate : callees(graph, scope, callee, given + function.elements.size() - 1)) {
      if (!bind(candidate, given, function)) continue;
      std::string name = fmt::format("unstable-fn {} {} {} {}", function.name, callee, candidate.id, given);
      if (scope.primitives(name).empty()) {
        graph.add_primitive(maker(name, candidate, given, sort));
        scope.update(graph);
      }
      found.push_back(scope.primitives(name)[0]);
    }
  }
  return found;
}

}  // namespace lumen::egraph
