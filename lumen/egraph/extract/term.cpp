#include "lumen/egraph/extract/term.h"

#include <algorithm>

#include "lumen/base/check.h"
#include "lumen/base/hash.h"

namespace lumen::egraph {

TermId Terms::atom(std::string_view text) { return add(text, {}, true); }

TermId Terms::call(std::string_view head, std::span<const TermId> arguments) { return add(head, arguments, false); }

bool Terms::matches(TermId term, uint32_t head, std::span<const TermId> args, bool atom) const {
  const Entry& entry = terms_[term];
  return entry.head == head && entry.atom == atom && std::ranges::equal(arguments(term), args);
}

TermId Terms::add(std::string_view head, std::span<const TermId> args, bool atom) {
  const auto [at, fresh] = head_ids_.try_emplace(std::string(head), static_cast<uint32_t>(heads_.size()));
  if (fresh) heads_.emplace_back(head);
  const uint32_t head_id = at->second;
  Hasher hasher;
  hasher.add(head_id).add(atom);
  for (const TermId argument : args) hasher.add(argument);
  std::vector<TermId>& bucket = by_hash_[hasher.value()];
  for (const TermId term : bucket) {
    if (matches(term, head_id, args, atom)) return term;
  }
  const TermId id = static_cast<TermId>(terms_.size());
  terms_.push_back({head_id, static_cast<uint32_t>(arguments_.size()), static_cast<uint32_t>(args.size()), atom});
  arguments_.insert(arguments_.end(), args.begin(), args.end());
  bucket.push_back(id);
  return id;
}

std::string Terms::text(TermId term, size_t limit) const {
  std::string out;
  struct Frame {
    TermId term;
    uint32_t next;
  };
  // No recursion: terms can be very deep.
  std::vector<Frame> stack{{term, 0}};
  while (!stack.empty()) {
    if (out.size() > limit) return out.substr(0, limit) + "...";
    Frame& top = stack.back();
    const auto args = arguments(top.term);
    if (top.next == 0) {
      if (!is_atom(top.term)) out += '(';
      out += head(top.term);
    }
    if (top.next < args.size()) {
      out += ' ';
      const TermId child = args[top.next++];
      stack.push_back({child, 0});
      continue;
    }
    if (!is_atom(top.term)) out += ')';
    stack.pop_back();
  }
  return out;
}

NodeNamer numbered_nodes() {
  return [](Terms& terms, NodeId n, std::span<const TermId> children) {
    return terms.call("n" + std::to_string(n), children);
  };
}

TermId TermBuilder::of_class(ClassId root) {
  std::vector<ClassId> stack{root};
  while (!stack.empty()) {
    const ClassId c = stack.back();
    CHECK(choice_[c] != kNone, "a term was asked for of a class that has none");
    const size_t before = stack.size();
    for (const ClassId child : graph_.children_of(choice_[c])) {
      if (made_[child] == kNone) stack.push_back(child);
    }
    if (stack.size() > before) continue;
    if (made_[c] == kNone) made_[c] = of_node(choice_[c]);
    stack.pop_back();
  }
  return made_[root];
}

TermId TermBuilder::of_node(NodeId n) {
  std::vector<TermId> children;
  for (const ClassId c : graph_.children_of(n)) children.push_back(made_[c] != kNone ? made_[c] : of_class(c));
  return name_(terms_, n, children);
}

}  // namespace lumen::egraph
