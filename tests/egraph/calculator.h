// Evaluates expressions of primitives and literals without an e-graph, and prints the result: "(+ 1 2)" gives "3".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/egraph/core/primitive.h"

namespace lumen::egraph {

class Calculator : public PrimitiveContext {
 public:
  Calculator();

  // A container sort with its primitives; or an eq sort, whose values are written as (E 7).
  SortId add_sort(std::string name, std::string_view presort, std::vector<SortId> arguments);
  SortId add_eq_sort(std::string name);
  // A table for (unstable-fn "name"): what call_table finds, filled by set().
  TableId add_table(std::string name, std::vector<SortId> params, SortId result);

  // "fails" when a primitive gives no result, "?" when no primitive fits. An expression in front of which @Sort stands
  // is of that sort; needed for what has no arguments.
  std::string operator()(std::string_view expression);

  std::optional<Value> call_table(TableId table, std::span<const Value> args) override;
  std::optional<Value> call_primitive(PrimitiveId primitive, std::span<const Value> args) override;
  bool unite(SortId sort, Value a, Value b) override;
  bool set(TableId table, std::span<const Value> args, Value value) override;
  bool erase(TableId table, std::span<const Value> args) override;
  int64_t count_rows(std::span<const std::string> tables) override;

  std::vector<std::pair<Value, Value>> united;
  const std::vector<Primitive>& primitives() const { return primitives_; }

 private:
  struct Typed {
    SortId sort;
    Value value;
  };
  struct Table {
    std::string name;
    std::vector<SortId> params;
    SortId result;
    std::map<std::vector<Value>, Value> rows;
  };
  enum class Failure { partial, no_fit };

  Typed evaluate(std::string_view& text);  // throws Failure
  Typed literal(std::string_view word);
  Typed call(std::string_view head, const std::vector<Typed>& args, std::optional<SortId> wanted);
  Typed function(const std::vector<Typed>& args, std::optional<SortId> wanted);
  std::string print(Typed value) const;
  SortId sort_named(std::string_view name) const;

  std::vector<Sort> sorts_;
  std::vector<Primitive> primitives_;
  std::vector<Table> tables_;
};

}  // namespace lumen::egraph
