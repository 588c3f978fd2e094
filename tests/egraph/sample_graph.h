// A small EGraph with every kind of node, for the tests of extraction and reports.
#pragma once

#include <vector>

#include "lumen/egraph/core/egraph.h"

namespace lumen::egraph {

// (datatype M (Num i64) (Add M M) (Neg M :cost 5) (Hidden :unextractable)), vectors of M, a function and a relation.
struct SampleGraph {
  EGraph graph;
  SortId m = graph.add_sort("M");
  SortId vec = graph.add_sort(*make_container_sort("V", "Vec", std::vector<SortId>{m}, graph.sorts()));
  TableId num = constructor("Num", {kI64}, m);
  TableId add = constructor("Add", {m, m}, m);
  TableId neg = constructor("Neg", {m}, m, 5);
  TableId hidden = constructor("Hidden", {}, m, 1, false);
  TableId wrap = constructor("Wrap", {vec}, m);
  TableId size = function("size", {m}, kI64);
  TableId seen = relation("seen", {kI64, m});

  TableId constructor(const char* name, std::vector<SortId> params, SortId result, uint64_t cost = 1,
                      bool extractable = true) {
    TableDecl decl;
    decl.name = name;
    decl.params = std::move(params);
    decl.result = result;
    decl.constructor = true;
    decl.cost = cost;
    decl.extractable = extractable;
    return graph.add_table(std::move(decl));
  }
  TableId function(const char* name, std::vector<SortId> params, SortId result) {
    TableDecl decl;
    decl.name = name;
    decl.params = std::move(params);
    decl.result = result;
    decl.merge = Merge::fresh;
    return graph.add_table(std::move(decl));
  }
  TableId relation(const char* name, std::vector<SortId> params) {
    TableDecl decl;
    decl.name = name;
    decl.params = std::move(params);
    decl.result = kUnit;
    decl.merge = Merge::old;
    decl.relation = true;
    return graph.add_table(std::move(decl));
  }

  Value i64(int64_t x) { return from_i64(graph.sorts()[kI64], x); }
  Value make(TableId table, std::vector<Value> args) { return graph.make(table, args); }
  Value number(int64_t x) { return make(num, {i64(x)}); }
  Value vector(std::vector<Value> elements) { return graph.sorts()[vec].sequences().intern(elements); }
};

}  // namespace lumen::egraph
