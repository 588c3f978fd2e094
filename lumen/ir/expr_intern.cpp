// The interner: one object per distinct expression, for the life of the program.
//
// It is process-wide on purpose. Interning is a pure function of content, so sharing it is invisible except that
// handles from different graphs can be compared. Nothing orders by address: hashes and compare() see content only.
#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "lumen/base/arena.h"
#include "lumen/base/check.h"
#include "lumen/base/hash.h"
#include "lumen/ir/expr_node.h"

namespace lumen {
namespace {

constexpr size_t kShards = 16;

bool same(const Term& a, const Term& b) {
  return a.coefficient == b.coefficient && std::ranges::equal(a.atoms, b.atoms);
}

// Equal content, given that children are interned. An atom's own term is not content.
bool same(const ExprNode& a, const ExprNode& b) {
  if (a.hash != b.hash || a.kind != b.kind || a.constant != b.constant || a.number != b.number) return false;
  if (!std::ranges::equal(a.args, b.args) || a.name != b.name) return false;
  if (a.kind == ExprKind::dim) return a.bounds == b.bounds;
  if (a.kind != ExprKind::sum) return true;
  return std::ranges::equal(a.terms, b.terms, [](const Term& x, const Term& y) { return same(x, y); });
}

uint64_t content_hash(const ExprNode& n) {
  uint64_t h = hash_combine(static_cast<uint64_t>(n.kind), static_cast<uint64_t>(n.constant));
  const auto add = [&h](uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  };
  for (const ExprNode* a : n.args) add(a->hash);
  switch (n.kind) {
    case ExprKind::dim:
      return Hasher(h).add(n.name).add(n.bounds.lo).add(n.bounds.hi).value();
    case ExprKind::index:
      return hash_combine(h, static_cast<uint64_t>(n.number));
    case ExprKind::sum:
      for (const Term& t : n.terms) {
        add(static_cast<uint64_t>(t.coefficient));
        for (const ExprNode* a : t.atoms) add(a->hash);
      }
      break;
    default:
      break;
  }
  return hash_mix(h);
}

class Table {
 public:
  const ExprNode* find(const ExprNode& key) {
    Shard& shard = shards_[key.hash % kShards];
    const std::lock_guard lock(shard.mutex);
    return shard.slots.empty() ? nullptr : shard.slots[shard.locate(key)];
  }

  // The node equal to `key`, copied into the table if there is none yet.
  const ExprNode* insert(const ExprNode& key) {
    Shard& shard = shards_[key.hash % kShards];
    const std::lock_guard lock(shard.mutex);
    if (2 * (shard.count + 1) > shard.slots.size()) shard.grow();
    const ExprNode*& slot = shard.slots[shard.locate(key)];
    if (slot == nullptr) {
      slot = shard.copy(key);
      ++shard.count;
    }
    return slot;
  }

 private:
  struct Shard {
    std::mutex mutex;
    Arena arena;
    std::vector<const ExprNode*> slots;  // open addressing, a power of two
    size_t count = 0;

    size_t locate(const ExprNode& key) const {
      size_t at = (key.hash / kShards) & (slots.size() - 1);
      while (slots[at] != nullptr && !same(*slots[at], key)) at = (at + 1) & (slots.size() - 1);
      return at;
    }
    void grow() {
      std::vector<const ExprNode*> old(slots.empty() ? 64 : 2 * slots.size(), nullptr);
      old.swap(slots);
      for (const ExprNode* n : old) {
        if (n != nullptr) slots[locate(*n)] = n;
      }
    }
    const ExprNode* copy(const ExprNode& key) {
      auto* n = arena.make<ExprNode>(key);
      n->args = arena.copy(key.args);
      n->name = arena.copy(key.name);
      if (n->kind == ExprKind::sum) {
        const std::span<Term> terms = arena.copy(key.terms);
        for (Term& t : terms) t.atoms = arena.copy(t.atoms);
        n->terms = terms;
      } else if (n->kind != ExprKind::constant) {
        const ExprNode* self = n;
        n->terms = {arena.make<Term>(Term{1, arena.copy(Atoms(&self, 1))}), 1};
      }
      return n;
    }
  };
  std::array<Shard, kShards> shards_;
};

Table& table() {
  static Table* const t = new Table;  // never destroyed: handles in other statics stay valid
  return *t;
}

uint32_t tree_size(const ExprNode& n) {
  uint64_t size = 1;
  for (const ExprNode* a : n.args) size += a->size;
  if (n.kind == ExprKind::sum) {
    for (const Term& t : n.terms) {
      for (const ExprNode* a : t.atoms) size += a->size;
    }
  }
  return static_cast<uint32_t>(std::min<uint64_t>(size, kMaxExprSize + 1));
}

// Bounds are computed outside the lock, because they may build further expressions.
const ExprNode* intern_node(ExprNode& key) {
  key.hash = content_hash(key);
  if (const ExprNode* known = table().find(key)) return known;
  key.size = tree_size(key);
  if (key.size > kMaxExprSize) return Expr::undefined().node();
  if (key.kind != ExprKind::dim) key.bounds = compute_bounds(key);
  return table().insert(key);
}

struct MemoKey {
  MemoOp what;
  const ExprNode* a;
  const ExprNode* b;
  bool operator==(const MemoKey&) const = default;
  uint64_t hash() const { return Hasher().add(what).add(a->hash).add(b->hash).value(); }
};

class Memo {
 public:
  const ExprNode* find(const MemoKey& key) {
    Shard& shard = shards_[key.hash() % kShards];
    const std::lock_guard lock(shard.mutex);
    return shard.slots.empty() ? nullptr : shard.slots[shard.locate(key)].result;
  }
  void insert(const MemoKey& key, const ExprNode* result) {
    Shard& shard = shards_[key.hash() % kShards];
    const std::lock_guard lock(shard.mutex);
    if (2 * (shard.count + 1) > shard.slots.size()) shard.grow();
    Entry& slot = shard.slots[shard.locate(key)];
    if (slot.result == nullptr) ++shard.count;
    slot = {key, result};
  }

 private:
  struct Entry {
    MemoKey key{};
    const ExprNode* result = nullptr;
  };
  struct Shard {
    std::mutex mutex;
    std::vector<Entry> slots;
    size_t count = 0;

    size_t locate(const MemoKey& key) const {
      size_t at = (key.hash() / kShards) & (slots.size() - 1);
      while (slots[at].result != nullptr && !(slots[at].key == key)) at = (at + 1) & (slots.size() - 1);
      return at;
    }
    void grow() {
      std::vector<Entry> old(slots.empty() ? 64 : 2 * slots.size());
      old.swap(slots);
      for (const Entry& e : old) {
        if (e.result != nullptr) slots[locate(e.key)] = e;
      }
    }
  };
  std::array<Shard, kShards> shards_;
};

Memo& memo() {
  static Memo* const m = new Memo;
  return *m;
}

}  // namespace

const ExprNode* intern_constant(int64_t value) {
  const auto make = [](int64_t v) {
    ExprNode key{.kind = ExprKind::constant};
    key.constant = v;
    return intern_node(key);
  };
  // Most constants are small, and asking for one must not cost a lock.
  static constexpr int64_t kFirst = -64;
  static const auto small = [&] {
    std::array<const ExprNode*, 1024> nodes{};
    for (size_t k = 0; k < nodes.size(); ++k) nodes[k] = make(kFirst + static_cast<int64_t>(k));
    return nodes;
  }();
  const auto k = static_cast<uint64_t>(value) - static_cast<uint64_t>(kFirst);
  return k < small.size() ? small[k] : make(value);
}

const ExprNode* intern_dim(std::string_view name, Interval bounds) {
  ExprNode key{.kind = ExprKind::dim};
  key.name = name;
  key.bounds = bounds;
  return intern_node(key);
}

const ExprNode* intern_index(int k, const ExprNode* extent) {
  if (extent->kind == ExprKind::constant && extent->constant == 1) return intern_constant(0);
  ExprNode key{.kind = ExprKind::index};
  key.number = k;
  key.args = Atoms(&extent, 1);
  return intern_node(key);
}

const ExprNode* intern_atom(ExprKind kind, Atoms args) {
  ExprNode key{.kind = kind};
  key.args = args;
  const ExprNode* n = intern_node(key);
  return n->bounds.is_point() ? intern_constant(n->bounds.lo) : n;
}

const ExprNode* intern_sum(int64_t constant, std::span<const Term> terms) {
  if (terms.empty()) return intern_constant(constant);
  if (constant == 0 && terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1) {
    return terms[0].atoms[0];
  }
  ExprNode key{.kind = ExprKind::sum};
  key.constant = constant;
  key.terms = terms;
  return intern_node(key);
}

const ExprNode* recall(MemoOp what, const ExprNode* a, const ExprNode* b) { return memo().find({what, a, b}); }
void remember(MemoOp what, const ExprNode* a, const ExprNode* b, const ExprNode* result) {
  memo().insert({what, a, b}, result);
}

}  // namespace lumen
