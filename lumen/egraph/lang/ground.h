// Terms without variables, evaluated straight into the e-graph: the fast path for what stands at the top level of a
// program, where expressions can have 100,000 nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/lang/ast.h"
#include "lumen/egraph/lang/scope.h"

namespace lumen::egraph {

// A program for a stack of values: every step takes its arguments from the top and leaves its result there.
class GroundCode {
 public:
  GroundCode(EGraph& graph, const Scope& scope);

  // Adds an expression; its sort, or nothing when it is wrong or its overloads cannot be told apart from the arguments
  // up: then the Typer has to look at it.
  std::optional<SortId> add(const Expr& expr);

  // The values of the expressions added, in order. Nothing was made before; a failure leaves what was made until then.
  Expected<std::vector<Value>> run();

 private:
  struct Step {
    enum class Kind : uint8_t { value, global, make, read, call };
    Kind kind = Kind::value;
    uint32_t id = 0;  // the Value, index of the global, TableId, PrimitiveId
    uint32_t arguments = 0;
    const Expr* expr = nullptr;
  };
  std::optional<SortId> add_table(TableId table, const Expr& expr);
  std::optional<SortId> add_primitive(const Expr& expr);
  Expected<Value> run_step(const Step& step, std::span<const Value> args);

  EGraph& graph_;
  const Scope& scope_;
  std::vector<Step> steps_;
  const bool traced_;  // then values are the ids that terms were made for, which explanations speak of
};

}  // namespace lumen::egraph
