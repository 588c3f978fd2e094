// KvCache: the keys and values of past tokens, as state of the graph.
//
// A cache is rows of one head's elements. Contiguous, the rows are [batch, kv_heads, capacity]; paged, they are
// [pages, page, kv_heads], and a table [batch, ceil(capacity / page)] says which page holds which positions of a
// sequence.
#pragma once

#include <optional>

#include "nn/scope.h"

namespace lumen::nn {

struct Paging {
  int64_t page = 16;  // positions of one page
  int64_t pages = 0;  // of all sequences together
};

// What every layer of one step shares.
struct CacheStep {
  Tensor positions;                  // of the tokens: i64 [batch, seq]; below the capacity
  Expr context;                      // how many positions are read, from the first; at most the capacity
  std::optional<Tensor> page_table;  // i64 [batch, ceil(capacity / page)], when paged
};

struct KvCacheSettings {
  int64_t batch = 1;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t capacity = 0;
  std::optional<Paging> paging = {};
};

// State: key and value; the outputs that update them are `<name>.next`.
class KvCache {
 public:
  KvCache(const Scope& scope, const KvCacheSettings& settings);

  struct Entries {
    Tensor keys, values;  // [batch, kv_heads, context, head_dim]
  };
  // Writes keys and values [batch, kv_heads, seq, head_dim] at the step's positions and reads the context. Of several
  // tokens of a sequence at one position the last is kept. Once for each graph.
  Entries update(Tensor keys, Tensor values, const CacheStep& step) const;

 private:
  Tensor rows_to_write(const CacheStep& step) const;
  Tensor read(Tensor rows, const CacheStep& step) const;
  Tensor next(Tensor state, Tensor rows, Tensor entries) const;

  KvCacheSettings settings_;
  Tensor key_, value_;  // [rows, head_dim]
};

}  // namespace lumen::nn
