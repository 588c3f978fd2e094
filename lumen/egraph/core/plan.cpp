#include "lumen/egraph/core/plan.h"

#include <algorithm>

#include "lumen/base/check.h"

namespace lumen::egraph {

namespace {

bool test(const std::vector<uint64_t>& bits, size_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }

}  // namespace

Plan::Plan(const Query& query) : query_(&query), registers_(query.variables) {
  for (const Atom& atom : query.atoms) {
    std::vector<uint32_t>& columns = atom_registers_.emplace_back();
    for (const Slot& slot : atom.slots) columns.push_back(register_of(slot));
    if (atom.fact) columns.back() = kNone;
  }
  for (const PrimitiveCall& call : query.calls) {
    BoundCall& bound = calls_.emplace_back();
    bound.primitive = call.primitive;
    for (const Slot& slot : call.args) bound.args.push_back(register_of(slot));
    bound.result = register_of(call.result);
  }
  std::vector<bool> bound(registers_, false);
  for (const Constant& constant : constants_) bound[constant.reg] = true;
  std::vector<bool> done(calls_.size(), false);
  root_calls_ = ready_calls(bound, done);
  root_ = node_for(std::vector<uint64_t>(atoms() / 64 + 1, 0), bound);
}

uint32_t Plan::register_of(const Slot& slot) {
  if (slot.is_variable()) return slot.index;
  for (const Constant& constant : constants_) {
    if (constant.slot == slot) return constant.reg;
  }
  constants_.push_back({static_cast<uint32_t>(registers_), slot});
  return static_cast<uint32_t>(registers_++);
}

const Node& Plan::make_next(const Node& node, const Step& step) const {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> joined = node.joined;
  joined[step.atom / 64] |= uint64_t{1} << (step.atom % 64);
  std::vector<bool> bound = node.bound;
  for (const Step::ColumnRegister& bind : step.binds) bound[bind.reg] = true;
  for (const BoundCall& call : step.calls) bound[call.result] = true;
  const Node* result = node_for(std::move(joined), std::move(bound));
  step.next.store(result, std::memory_order_release);
  return *result;
}

const Node* Plan::node_for(std::vector<uint64_t> joined, std::vector<bool> bound) const {
  std::unique_ptr<Node>& node = nodes_[joined];
  if (node == nullptr) {
    node = std::make_unique<Node>();
    node->joined = std::move(joined);
    node->bound = std::move(bound);
    add_steps(*node);
  }
  return node.get();
}

void Plan::add_steps(Node& node) const {
  std::vector<uint32_t> connected, others;
  for (uint32_t a = 0; a < atoms(); ++a) {
    if (test(node.joined, a)) continue;
    const std::span<const uint32_t> columns = atom_registers_[a];
    const auto is_bound = [&](uint32_t reg) { return reg != kNone && node.bound[reg]; };
    if (std::all_of(columns.begin(), columns.end() - 1, is_bound)) return add_step(node, a);
    (std::any_of(columns.begin(), columns.end(), is_bound) ? connected : others).push_back(a);
  }
  for (uint32_t a : connected) add_step(node, a);
  if (!connected.empty() && !is_beginning(node)) return;
  for (uint32_t a : others) add_step(node, a);
}

// Whether nothing is joined but terms without variables, such as (Nil). What they are connected to may be much, so that
// all atoms are still possible.
bool Plan::is_beginning(const Node& node) const {
  if (root_ == nullptr) return true;
  std::vector<bool> bound = root_->bound;
  std::vector<uint64_t> left = node.joined;
  for (bool found = true; found;) {
    found = false;
    for (uint32_t a = 0; a < atoms(); ++a) {
      const std::span<const uint32_t> columns = atom_registers_[a];
      const auto is_bound = [&](uint32_t reg) { return reg != kNone && bound[reg]; };
      if (!test(left, a) || !std::all_of(columns.begin(), columns.end() - 1, is_bound)) continue;
      left[a / 64] &= ~(uint64_t{1} << (a % 64));
      if (columns.back() != kNone) bound[columns.back()] = true;
      found = true;
    }
  }
  return std::ranges::all_of(left, [](uint64_t word) { return word == 0; });
}

void Plan::add_step(Node& node, uint32_t atom) const {
  Step& step = node.steps.emplace_back();
  step.atom = atom;
  step.table = query_->atoms[atom].table;
  const std::vector<uint32_t>& columns = atom_registers_[atom];
  std::vector<bool> bound = node.bound;
  step.lookup = true;
  for (uint32_t c = 0; c < columns.size(); ++c) {
    const uint32_t reg = columns[c];
    if (reg == kNone) continue;
    if (node.bound[reg]) {
      step.bound.push_back({c, reg});
      continue;
    }
    if (c + 1 < columns.size()) step.lookup = false;
    if (bound[reg]) {
      const auto first = std::find(columns.begin(), columns.end(), reg) - columns.begin();
      step.repeated.emplace_back(static_cast<uint32_t>(first), c);
    } else {
      step.binds.push_back({c, reg});
      bound[reg] = true;
    }
  }
  if (step.bound.size() > 1 && columns.size() <= 64) {
    for (const Step::ColumnRegister& b : step.bound) step.bound_columns |= uint64_t{1} << b.column;
  }
  std::vector<bool> done = done_calls(node.bound);
  step.calls = ready_calls(bound, done);
}

std::vector<bool> Plan::done_calls(const std::vector<bool>& bound) const {
  std::vector<bool> done;
  for (const BoundCall& call : calls_) {
    done.push_back(std::all_of(call.args.begin(), call.args.end(), [&](uint32_t reg) { return bool{bound[reg]}; }));
  }
  return done;
}

std::vector<BoundCall> Plan::ready_calls(std::vector<bool>& bound, std::vector<bool>& done) const {
  std::vector<BoundCall> ready;
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const BoundCall& call = calls_[i];
      if (done[i]) continue;
      if (!std::all_of(call.args.begin(), call.args.end(), [&](uint32_t reg) { return bool{bound[reg]}; })) continue;
      ready.push_back(call);
      ready.back().binds = !bound[call.result];
      bound[call.result] = true;
      done[i] = progress = true;
    }
  }
  return ready;
}

}  // namespace lumen::egraph
