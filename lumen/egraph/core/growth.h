// Growth: how large tables become while the matches of a rule are applied, from how far its search has come. Tables
// that know it grow their slots once, not again and again.
#pragma once

#include <vector>

#include "lumen/egraph/core/head.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

class Growth {
 public:
  Growth(EGraph::State& state, const Head& head) : state_(state) {
    for (const Head::Step& step : head.steps) {
      if (step.kind == Action::Kind::make) tables_.push_back({step.target, state.tables[step.target].rows()});
    }
  }
  ~Growth() {
    for (const Grown& grown : tables_) state_.tables[grown.table].expect(0);
  }
  Growth(const Growth&) = delete;
  Growth& operator=(const Growth&) = delete;

  // What `visited` candidates of the search gave is applied; the others will give as much.
  void expect(size_t visited, size_t candidates) {
    for (const Grown& grown : tables_) {
      Table& table = state_.tables[grown.table];
      const uint64_t added = table.rows() - grown.before;
      if (added > 0) table.expect(table.live() + added * (candidates - visited) / visited);
    }
  }

 private:
  struct Grown {
    TableId table;
    Row before;  // its rows when the search began
  };
  EGraph::State& state_;
  std::vector<Grown> tables_;
};

}  // namespace lumen::egraph
