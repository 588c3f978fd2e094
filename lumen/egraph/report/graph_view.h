// GraphView: an e-graph as reports show it: every row, base value and container as a named node of a named class.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lumen/egraph/extract/flatten.h"

namespace lumen::egraph {

struct GraphView {
  struct Node {
    enum class Kind : uint8_t {
      term,       // a row of a constructor
      fact,       // a row of a relation: alone in its class
      entry,      // a row of a function: in the class of its value
      base,       // alone in its class, unless it is the value of entries
      container,  // likewise; its children are the elements
      missing,    // stands for a class without nodes, because something uses it
    };
    Kind kind = Kind::term;
    std::string id;  // function-0-Add, primitive-i64-7, dummy-M-3
    std::string op;  // Add, 7, vec-of, [...]
    uint32_t owner = 0;
    std::vector<uint32_t> children;  // classes
    Cost cost = 1;
    bool subsumed = false;
    bool extractable = false;
  };
  struct Class {
    std::string id;    // M-3, i64-7
    std::string type;  // the sort's name
    bool has_base_sort = false;
    std::vector<uint32_t> nodes;
    std::vector<std::string> names;  // of globals
  };
  std::vector<Node> nodes;
  std::vector<Class> classes;
  std::vector<uint32_t> roots;  // classes

  // What can be extracted, with the nodes and classes of the view in their order; what cannot costs kInfinite.
  FlatGraph flat() const;
};

struct ViewOptions {
  std::vector<TypedValue> roots = {};
  std::vector<std::pair<std::string, TypedValue>> names = {};  // of globals
};

// Of a rebuilt e-graph.
GraphView view_graph(EGraph& egraph, const ViewOptions& options);

}  // namespace lumen::egraph
