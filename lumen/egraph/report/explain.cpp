#include "lumen/egraph/report/explain.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/report/proof_forest.h"
#include "lumen/egraph/report/proof_terms.h"
#include "lumen/egraph/report/rule_instance.h"

namespace lumen::egraph {

namespace {

// A proof grows with the product of its congruences; a person reads no more than this.
constexpr size_t kMostSteps = 10000;
constexpr size_t kMostText = 20000;  // of one term
constexpr size_t kDeepest = 2000;    // proofs inside proofs
constexpr int kMostNested = 8;       // of the same firing; more only when an id inside it was guessed wrong

class Explainer {
 public:
  Explainer(EGraph& graph, std::span<const GivenUnion> given)
      : graph_(graph), given_(given), terms_(graph), forest_(graph, [this](SortId sort, Value left, Value right) {
          const GivenUnion* written = find_given(sort, left, right);
          return written == nullptr ? 0 : written->firings;
        }) {}

  Expected<NodeIndex> node_of(const WrittenTerm& term);
  std::string text(NodeIndex node) { return terms_.terms().text(terms_[node].term, kMostText); }
  // Adds the steps that turn `from` into `to`, where it stands in the whole term. False: `problem` says why not.
  bool connect(NodeIndex from, NodeIndex to);
  bool same_class(NodeIndex a, NodeIndex b) const {
    return terms_[a].sort == terms_[b].sort &&
           graph_.find(terms_[a].sort, terms_[a].value) == graph_.find(terms_[b].sort, terms_[b].value);
  }

  std::vector<ExplainStep> steps;
  std::string problem;

 private:
  // A call around the part at work: its arguments as they are written at this moment.
  struct Frame {
    std::string_view head;
    std::vector<TermId> args;
    size_t at;
  };
  bool fail(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool step(TermId part, std::string rule, bool backwards);
  bool connect_args(NodeIndex from, NodeIndex to);
  bool connect_ids(NodeIndex from, NodeIndex to);
  // Walks one merge: `at`, equal to `from`, becomes a term that its reason says is equal to `to`.
  bool cross(NodeIndex& at, Value from, Value to);
  const GivenUnion* find_given(SortId sort, Value left, Value right) const;
  std::pair<NodeIndex, NodeIndex> given(SortId sort, Value left, Value right);
  bool apply_rule(NodeIndex& at, Value from, Value to, const Reason& reason, bool backwards);

  EGraph& graph_;
  std::span<const GivenUnion> given_;
  ProofTerms terms_;
  ProofForest forest_;
  std::vector<Frame> frames_;
  std::map<uint32_t, int> firings_;  // how often each is being connected to what is around it
  size_t depth_ = 0;
};

Expected<NodeIndex> Explainer::node_of(const WrittenTerm& term) {
  if (term.table == kNone) return terms_.of(term.sort, term.value);
  std::vector<NodeIndex> args;
  for (const WrittenTerm& arg : term.args) args.push_back(LUMEN_TRY(node_of(arg)));
  const Trace::Origin* made = terms_.origin(term.sort, term.value);
  if (made != nullptr && made->table == term.table) return terms_.call(term.table, std::move(args), term.value);
  const std::span<const Value> ids = terms_.made_for(term.table, args);
  const NodeIndex node = terms_.call(term.table, std::move(args), ids.empty() ? 0 : ids[0]);
  if (ids.empty()) return error(text(node) + " was not made while the e-graph was traced");
  return node;
}

bool Explainer::step(TermId part, std::string rule, bool backwards) {
  if (steps.size() >= kMostSteps) {
    return fail("the explanation has more than " + std::to_string(kMostSteps) + " steps");
  }
  for (size_t i = frames_.size(); i > 0; --i) {
    Frame& frame = frames_[i - 1];
    frame.args[frame.at] = part;
    part = terms_.terms().call(frame.head, frame.args);
  }
  steps.push_back({terms_.terms().text(part, kMostText), std::move(rule), backwards});
  return true;
}

bool Explainer::connect(NodeIndex from, NodeIndex to) {
  if (terms_[from].term == terms_[to].term) return true;
  if (graph_.sorts()[terms_[from].sort].kind != SortKind::eq) return step(terms_[to].term, "equal elements", false);
  if (depth_ >= kDeepest) return fail("the explanation is nested too deeply");
  ++depth_;
  const bool done = terms_[from].value == terms_[to].value ? connect_args(from, to) : connect_ids(from, to);
  --depth_;
  return done;
}

// f(a, b) = f(c, d): first a to c, then b to d.
bool Explainer::connect_args(NodeIndex from, NodeIndex to) {
  const std::vector<NodeIndex> old_args = terms_[from].args;
  const std::vector<NodeIndex> new_args = terms_[to].args;
  if (terms_[from].table != terms_[to].table || old_args.size() != new_args.size()) {
    return fail("the trace does not tell why " + text(from) + " and " + text(to) + " are equal");
  }
  Frame frame{graph_.table(terms_[from].table).name, {}, 0};
  for (const NodeIndex arg : old_args) frame.args.push_back(terms_[arg].term);
  frames_.push_back(std::move(frame));
  bool done = true;
  for (size_t i = 0; i < old_args.size() && done; ++i) {
    frames_.back().at = i;
    done = connect(old_args[i], new_args[i]);
    frames_.back().args[i] = terms_[new_args[i]].term;
  }
  frames_.pop_back();
  return done;
}

bool Explainer::connect_ids(NodeIndex from, NodeIndex to) {
  const std::vector<Value> path = forest_.path(terms_[from].sort, terms_[from].value, terms_[to].value);
  if (path.empty()) return fail(text(from) + " and " + text(to) + " became equal before the e-graph was traced");
  NodeIndex at = from;
  for (size_t i = 1; i < path.size(); ++i) {
    if (!cross(at, path[i - 1], path[i])) return false;
  }
  return connect(at, to);
}

bool Explainer::cross(NodeIndex& at, Value from, Value to) {
  const SortId sort = terms_[at].sort;
  const auto [reason, backwards] = forest_.step(sort, from, to);
  if (reason->kind == Reason::Kind::congruence) {
    const NodeIndex made = terms_.of(sort, from);
    if (terms_[at].value != from && !connect(at, made)) return false;
    // Equal arguments: the term is congruent to both, and is rewritten only where the next step needs it.
    at = terms_.relabel(terms_[at].value == from ? at : made, to);
    return true;
  }
  if (reason->kind == Reason::Kind::rule && firings_[reason->firing] < kMostNested) {
    const size_t steps_before = steps.size();
    const std::vector<Frame> frames_before = frames_;
    const NodeIndex at_before = at;
    ++firings_[reason->firing];
    const bool done = apply_rule(at, from, to, *reason, backwards);
    --firings_[reason->firing];
    if (done) return true;
    steps.resize(steps_before);
    frames_ = frames_before;
    at = at_before;
  }
  const bool is_rule = reason->kind == Reason::Kind::rule;
  const std::string name = is_rule ? graph_.rule(reason->rule).name : "given";
  const auto [left, right] = given(sort, backwards ? to : from, backwards ? from : to);
  const NodeIndex after = backwards ? left : right;
  if (!connect(at, backwards ? right : left)) return false;
  at = after;
  return step(terms_[after].term, name, backwards);
}

const GivenUnion* Explainer::find_given(SortId sort, Value left, Value right) const {
  const auto same = [&](const GivenUnion& u) {
    return u.left.sort == sort && u.left.value == left && u.right.value == right;
  };
  const auto at = std::find_if(given_.begin(), given_.end(), same);
  return at == given_.end() ? nullptr : &*at;
}

// The sides of a union outside rules as they were written, else the terms that the ids were made for.
std::pair<NodeIndex, NodeIndex> Explainer::given(SortId sort, Value left, Value right) {
  if (const GivenUnion* written = find_given(sort, left, right)) {
    const Expected<NodeIndex> left_node = node_of(written->left);
    const Expected<NodeIndex> right_node = node_of(written->right);
    if (left_node.ok() && right_node.ok()) return {*left_node, *right_node};
  }
  return {terms_.of(sort, left), terms_.of(sort, right)};
}

bool Explainer::apply_rule(NodeIndex& at, Value from, Value to, const Reason& reason, bool backwards) {
  const SortId sort = terms_[at].sort;
  RuleInstance instance(graph_, terms_, forest_, reason.firing);
  const std::optional<RuleInstance::Sides> sides =
      backwards ? instance.merged(sort, to, from) : instance.merged(sort, from, to);
  if (!sides) return false;
  const NodeIndex before = backwards ? sides->right : sides->left;
  const NodeIndex after = backwards ? sides->left : sides->right;
  if (!connect(at, before) || !step(terms_[after].term, graph_.rule(reason.rule).name, backwards)) return false;
  at = after;
  return true;
}

}  // namespace

Expected<Explanation> explain(EGraph& graph, const WrittenTerm& from, const WrittenTerm& to,
                              std::span<const GivenUnion> given) {
  if (graph.state().trace == nullptr) return error("nothing was traced: tracing must be on before the first term");
  LUMEN_TRY(graph.rebuild());
  Explainer explainer(graph, given);
  const NodeIndex start = LUMEN_TRY(explainer.node_of(from));
  const NodeIndex end = LUMEN_TRY(explainer.node_of(to));
  if (!explainer.same_class(start, end)) {
    return error(explainer.text(start) + " and " + explainer.text(end) + " are not equal");
  }
  if (!explainer.connect(start, end)) return error(explainer.problem);
  return Explanation{explainer.text(start), std::move(explainer.steps)};
}

std::string Explanation::text() const {
  std::string text = start + "\n";
  for (const ExplainStep& step : steps) {
    text += "= " + step.term + "   by " + step.rule + (step.backwards ? ", from right to left\n" : "\n");
  }
  return text;
}

Value traced_id(EGraph& graph, TableId table, std::span<const Value> args) {
  EGraph::State& s = graph.state();
  std::vector<Value> key(args.begin(), args.end());
  s.canonicalize(s.tables[table].decl, key.data());
  const Row r = s.tables[table].find(key.data());
  return r == kNone || s.trace == nullptr ? kNone : s.trace->row_id(table, r);
}

Expected<Explanation> explain(EGraph& graph, SortId sort, Value from, Value to) {
  return explain(graph, WrittenTerm{sort, kNone, {}, from}, WrittenTerm{sort, kNone, {}, to});
}

}  // namespace lumen::egraph
