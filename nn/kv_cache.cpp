#include "nn/kv_cache.h"

#include "lumen/base/check.h"
#include "lumen/frontend/ops.h"

namespace lumen::nn {

namespace {

int64_t rows_of(const KvCacheSettings& s) {
  return s.kv_heads * (s.paging ? s.paging->pages * s.paging->page : s.batch * s.capacity);
}

}  // namespace

KvCache::KvCache(const Scope& scope, const KvCacheSettings& settings)
    : settings_(settings),
      key_(scope.state("key", {rows_of(settings), settings.head_dim})),
      value_(scope.state("value", {rows_of(settings), settings.head_dim})) {}

// [batch, kv_heads, seq]: the row of each head of each token.
Tensor KvCache::rows_to_write(const CacheStep& step) const {
  Graph& g = *step.positions.graph;
  const Shape heads{settings_.batch, settings_.kv_heads, 1};
  const Expr b = Expr::index(0, heads[0]), h = Expr::index(1, heads[1]);
  if (!settings_.paging) {
    return unsqueeze(step.positions, 1) + iota(g, heads, (b * settings_.kv_heads + h) * settings_.capacity);
  }
  const int64_t page = settings_.paging->page;
  const Tensor pages = take_along_axis(*step.page_table, floor_divide(step.positions, page), 1);
  const Tensor slots = pages * page + step.positions % page;
  return unsqueeze(slots, 1) * settings_.kv_heads + iota(g, heads, h);
}

// Of all rows, the context of every sequence and head.
Tensor KvCache::read(Tensor rows, const CacheStep& step) const {
  const KvCacheSettings& s = settings_;
  if (!s.paging) {
    return narrow(reshape(rows, {s.batch, s.kv_heads, s.capacity, s.head_dim}), 2, 0, step.context);
  }
  const int64_t page = s.paging->page;
  const Tensor pages = narrow(repeat_interleave(*step.page_table, page, 1), 1, 0, step.context);  // [batch, context]
  const Shape places{s.batch, s.kv_heads, step.context};
  const Expr h = Expr::index(1, places[1]), position = Expr::index(2, places[2]);
  const Tensor within = iota(*rows.graph, places, position % page * s.kv_heads + h);
  return index_select(rows, 0, unsqueeze(pages, 1) * (page * s.kv_heads) + within);
}

// The state with the entries in their rows.
Tensor KvCache::next(Tensor state, Tensor rows, Tensor entries) const {
  const std::string name = state.node().as<Input>().name.str();
  return index_copy(state, 0, rows, entries).output(name + ".next", state);
}

KvCache::Entries KvCache::update(Tensor keys, Tensor values, const CacheStep& step) const {
  CHECK(settings_.paging.has_value() == step.page_table.has_value(), "a page table is for a paged cache");
  const Tensor rows = rows_to_write(step);
  return {read(next(key_, rows, keys), step), read(next(value_, rows, values), step)};
}

}  // namespace lumen::nn
