// Plan: a Query made ready to run. There is no fixed join order: a Node is a set of atoms already joined, and at each
// Node the search (search.h) takes the atom with the fewest candidate rows at that moment. What is known before the
// values are (which columns are bound, which calls become possible) is worked out once per Node.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "lumen/egraph/core/primitive.h"
#include "lumen/egraph/core/rule.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

struct Node;

// A call, with registers instead of slots: variables first, then the constants of the query.
struct BoundCall {
  PrimitiveId primitive = 0;
  std::vector<uint32_t> args;
  uint32_t result = 0;
  bool binds = false;  // else its result is compared
};

// Joining one more atom.
struct Step {
  struct ColumnRegister {
    uint32_t column;
    uint32_t reg;
  };
  uint32_t atom = 0;
  TableId table = 0;
  bool lookup = false;                                  // all arguments are bound: at most one row
  std::vector<ColumnRegister> bound;                    // columns whose value is known
  uint64_t bound_columns = 0;                           // the same as bits when they are several, else 0
  std::vector<ColumnRegister> binds;                    // columns that bind a variable
  std::vector<std::pair<uint32_t, uint32_t>> repeated;  // columns that must be equal: x in edge(x, x)
  std::vector<BoundCall> calls;                         // possible from then on
  mutable std::atomic<const Node*> next{nullptr};

  Step() = default;
  Step(Step&& other) noexcept
      : atom(other.atom),
        table(other.table),
        lookup(other.lookup),
        bound(std::move(other.bound)),
        bound_columns(other.bound_columns),
        binds(std::move(other.binds)),
        repeated(std::move(other.repeated)),
        calls(std::move(other.calls)),
        next(other.next.load()) {}
};

struct Node {
  std::vector<uint64_t> joined;  // bits by atom
  std::vector<bool> bound;       // by register
  // One lookup if there is any: nothing is cheaper. Atoms with no bound column only at the beginning, or if there are
  // no others.
  std::vector<Step> steps;
};

class Plan {
 public:
  explicit Plan(const Query& query);

  const Node* root() const { return root_; }
  const Node& next(const Node& node, const Step& step) const {  // any thread
    const Node* known = step.next.load(std::memory_order_acquire);
    return known != nullptr ? *known : make_next(node, step);
  }

  size_t atoms() const { return query_->atoms.size(); }
  TableId table_of(size_t atom) const { return query_->atoms[atom].table; }
  size_t registers() const { return registers_; }
  struct Constant {
    uint32_t reg;
    Slot slot;
  };
  std::span<const Constant> constants() const { return constants_; }
  std::span<const BoundCall> root_calls() const { return root_calls_; }
  // The registers of atom `a`, by column; kNone for the result of a fact.
  std::span<const uint32_t> columns(size_t a) const { return atom_registers_[a]; }
  bool include_subsumed() const { return query_->include_subsumed; }

 private:
  uint32_t register_of(const Slot& slot);
  const Node& make_next(const Node& node, const Step& step) const;
  const Node* node_for(std::vector<uint64_t> joined, std::vector<bool> bound) const;
  void add_steps(Node& node) const;
  bool is_beginning(const Node& node) const;
  void add_step(Node& node, uint32_t atom) const;
  // The calls that become possible with `bound`, in an order that works; marks what they bind.
  std::vector<BoundCall> ready_calls(std::vector<bool>& bound, std::vector<bool>& done) const;
  std::vector<bool> done_calls(const std::vector<bool>& bound) const;

  const Query* query_;
  size_t registers_;
  std::vector<Constant> constants_;
  std::vector<std::vector<uint32_t>> atom_registers_;
  std::vector<BoundCall> calls_;  // `binds` is decided per Step
  std::vector<BoundCall> root_calls_;
  const Node* root_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<std::vector<uint64_t>, std::unique_ptr<Node>> nodes_;
};

}  // namespace lumen::egraph
