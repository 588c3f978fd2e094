#include "lumen/egraph/core/stale_rows.h"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lumen::egraph {

namespace {

void find_one_by_one(const Table& table, std::span<const IdColumn> columns, Row from, Row to, GrowArray<Row>& found) {
  for (Row r = from; r < to; ++r) {
    const Value* row = table.row(r);
    if (row[table.params] == kNone) continue;
    for (const IdColumn& column : columns) {
      if (column.ids->is_root(row[column.column])) continue;
      found.push_back(r);
      break;
    }
  }
}

#if defined(__x86_64__)

// Where all columns are of one sort the rows are an array of ids: eight at a time.
[[gnu::target("avx2")]] void find_eight(const Table& table, const UnionFind& ids, Row from, Row to,
                                        GrowArray<Row>& found) {
  const size_t columns = table.columns();
  const Value* values = table.row(0);
  const int* words = reinterpret_cast<const int*>(ids.stale_bits());
  const __m256i none = _mm256_set1_epi32(-1);
  const size_t end = size_t{to} * columns;
  Row last = kNone;
  size_t at = size_t{from} * columns;
  for (; at + 8 <= end; at += 8) {
    const __m256i id = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + at));
    const __m256i is_id = _mm256_xor_si256(_mm256_cmpeq_epi32(id, none), none);
    const __m256i word = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), words, _mm256_srli_epi32(id, 5), is_id, 4);
    // The bit of the id comes to the sign; shifts take the lowest five bits only when told to.
    const __m256i up = _mm256_andnot_si256(id, _mm256_set1_epi32(31));
    int stale = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sllv_epi32(word, up)));
    for (; stale != 0; stale &= stale - 1) {
      const Row r =
          static_cast<Row>((at + static_cast<size_t>(std::countr_zero(static_cast<unsigned>(stale)))) / columns);
      if (r == last || table.dead(r)) continue;
      found.push_back(r);
      last = r;
    }
  }
  Row rest = static_cast<Row>(at / columns);
  if (rest == last) ++rest;
  std::vector<IdColumn> all;
  for (uint32_t c = 0; c < columns; ++c) all.push_back({c, &ids});
  find_one_by_one(table, all, rest, to, found);
}

#endif

}  // namespace

void find_stale_rows(const Table& table, std::span<const IdColumn> columns, Row from, Row to, GrowArray<Row>& found) {
#if defined(__x86_64__)
  const auto same = [&](const IdColumn& column) { return column.ids == columns.front().ids; };
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide && columns.size() == table.columns() && std::all_of(columns.begin(), columns.end(), same)) {
    return find_eight(table, *columns.front().ids, from, to, found);
  }
#endif
  find_one_by_one(table, columns, from, to, found);
}

}  // namespace lumen::egraph
