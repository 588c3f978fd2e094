#include "lumen/egraph/report/proof_terms.h"

#include <boost/functional/hash.hpp>
#include <utility>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/extract/flatten.h"

namespace lumen::egraph {

ProofTerms::ProofTerms(EGraph& graph) : graph_(graph), trace_(*graph.state().trace) {
  for (SortId sort = 0; sort < trace_.sorts.size(); ++sort) {
    for (Value id = 0; id < trace_.sorts[sort].origins.size(); ++id) {
      const Trace::Origin* made = origin(sort, id);
      if (made == nullptr) continue;
      const TableDecl& decl = graph.table(made->table);
      Key key{made->table};
      for (size_t i = 0; i < decl.params.size(); ++i) key.push_back(graph.find(decl.params[i], origin_arg(*made, i)));
      made_[std::move(key)].push_back(id);
    }
  }
}

const Trace::Origin* ProofTerms::origin(SortId sort, Value id) const {
  if (sort >= trace_.sorts.size() || id >= trace_.sorts[sort].origins.size()) return nullptr;
  const Trace::Origin& made = trace_.sorts[sort].origins[id];
  return made.table == kNone ? nullptr : &made;
}

std::span<const Value> ProofTerms::made_for(TableId table, std::span<const NodeIndex> args) {
  Key key{table};
  for (const NodeIndex arg : args) key.push_back(graph_.find(nodes_[arg].sort, nodes_[arg].value));
  const auto at = made_.find(key);
  return at == made_.end() ? std::span<const Value>() : std::span<const Value>(at->second);
}

std::vector<std::pair<SortId, Value>> ProofTerms::parts(SortId sort, Value value) const {
  std::vector<std::pair<SortId, Value>> found;
  const Sort& declared = graph_.sorts()[sort];
  if (declared.kind == SortKind::container) {
    for (const ContainerTerm::Element& e : container_term(declared, value).elements)
      found.emplace_back(e.sort, e.value);
  } else if (const Trace::Origin* made = declared.kind == SortKind::eq ? origin(sort, value) : nullptr) {
    const std::vector<SortId>& params = graph_.table(made->table).params;
    for (size_t i = 0; i < params.size(); ++i) found.emplace_back(params[i], origin_arg(*made, i));
  }
  return found;
}

void ProofTerms::build(SortId sort, Value value, std::span<const std::pair<SortId, Value>> parts) {
  const Sort& declared = graph_.sorts()[sort];
  ProofNode node{sort, value, kNone, {}, 0};
  std::vector<TermId> texts;
  for (const auto& [part_sort, part] : parts) {
    node.args.push_back(known_.at(place(part_sort, part)));
    texts.push_back(nodes_[node.args.back()].term);
  }
  const Trace::Origin* made = declared.kind == SortKind::eq ? origin(sort, value) : nullptr;
  if (made != nullptr) {
    node.table = made->table;
    node.term = terms_.call(graph_.table(made->table).name, texts);
  } else if (declared.kind == SortKind::container) {
    node.term = container_term_of(terms_, graph_, sort, value, texts);
  } else if (declared.kind == SortKind::base) {
    node.term = terms_.atom(print_base_value(declared, sort, value));
  } else {
    node.term = terms_.atom(declared.name + "#" + std::to_string(value));
  }
  known_.emplace(place(sort, value), static_cast<NodeIndex>(nodes_.size()));
  nodes_.push_back(std::move(node));
}

NodeIndex ProofTerms::of(SortId sort, Value value) {
  // No recursion: terms can be very deep.
  std::vector<std::pair<SortId, Value>> waiting{{sort, value}};
  while (!waiting.empty()) {
    const auto [s, v] = waiting.back();
    if (known_.contains(place(s, v))) {
      waiting.pop_back();
      continue;
    }
    const std::vector<std::pair<SortId, Value>> needed = parts(s, v);
    const size_t before = waiting.size();
    for (const auto& part : needed) {
      if (!known_.contains(place(part.first, part.second))) waiting.push_back(part);
    }
    if (waiting.size() == before) build(s, v, needed);
  }
  return known_.at(place(sort, value));
}

NodeIndex ProofTerms::call(TableId table, std::vector<NodeIndex> args, Value id) {
  const TableDecl& decl = graph_.table(table);
  std::vector<TermId> texts;
  for (const NodeIndex arg : args) texts.push_back(nodes_[arg].term);
  nodes_.push_back({decl.result, id, table, std::move(args), terms_.call(decl.name, texts)});
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

NodeIndex ProofTerms::relabel(NodeIndex node, Value id) {
  ProofNode copy = nodes_[node];
  copy.value = id;
  nodes_.push_back(std::move(copy));
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

}  // namespace lumen::egraph
