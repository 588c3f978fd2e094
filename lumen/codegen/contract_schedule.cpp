#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lumen/codegen/contract.h"
#include "lumen/codegen/contract_skinny.h"
#include "lumen/codegen/contract_store.h"
#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/contract_windows.h"
#include "lumen/codegen/schedule_text.h"

namespace lumen {

namespace {

constexpr MethodWords<ContractMethod, 6> kContractMethods = {
    std::pair{ContractMethod::gemm, std::string_view("gemm")},
    std::pair{ContractMethod::amx, std::string_view("amx")},
    std::pair{ContractMethod::quads, std::string_view("quads")},
    std::pair{ContractMethod::windows, std::string_view("windows")},
    std::pair{ContractMethod::dot, std::string_view("dot")},
    std::pair{ContractMethod::sweep, std::string_view("sweep")}};

constexpr SizeNames<ContractSchedule, 12> kContractSizes = {
    std::pair{std::string_view("mr"), &ContractSchedule::mr},
    std::pair{std::string_view("nr"), &ContractSchedule::nr},
    std::pair{std::string_view("kc"), &ContractSchedule::kc},
    std::pair{std::string_view("kr"), &ContractSchedule::kr},
    std::pair{std::string_view("mc"), &ContractSchedule::mc},
    std::pair{std::string_view("nc"), &ContractSchedule::nc},
    std::pair{std::string_view("direct"), &ContractSchedule::direct},
    std::pair{std::string_view("own"), &ContractSchedule::own},
    std::pair{std::string_view("swap"), &ContractSchedule::swap},
    std::pair{std::string_view("wide"), &ContractSchedule::wide},
    std::pair{std::string_view("blocks"), &ContractSchedule::blocks},
    std::pair{std::string_view("past"), &ContractSchedule::past}};

}  // namespace

std::string ContractSchedule::str() const { return schedule_text(*this, kContractMethods, kContractSizes); }

Expected<ContractSchedule> ContractSchedule::parse(std::string_view text) {
  return parse_schedule<ContractSchedule>(text, kContractMethods, kContractSizes, "a Contract");
}

namespace {

// Rows and vectors of columns of the largest tile whose sums stay in registers.
struct TileSize {
  int64_t rows, vectors;
};
TileSize tile_size(const Target& target, int64_t lanes) {
  if (target.vector_bytes == 64) return lanes == 16 ? TileSize{14, 2} : TileSize{8, 3};
  if (target.vector_bytes == 32) return lanes == 8 ? TileSize{6, 2} : TileSize{4, 3};
  return target.vector_registers == 32 ? TileSize{8, 3} : TileSize{4, 2};
}

ContractSchedule blocked(ContractSchedule s, const ContractRoles& roles, int64_t depth, int64_t rows, int64_t columns,
                         int64_t summed) {
  s.kc = even_piece(roles.extent(Role::summed), summed, depth);
  s.mc = even_piece(roles.extent(Role::row), rows / s.mr * s.mr, s.mr);
  s.nc = even_piece(roles.extent(Role::column), columns / s.nr * s.nr, s.nr);
  return s;
}

// Large blocks read memory least, small ones are more pieces for many threads; which is better is measured.
std::vector<ContractSchedule> vector_schedules(const ContractRoles& roles, const Target& target) {
  const TileTypes types = vector_types(roles.dtype);
  const int64_t lanes = target.vector_bytes / types.sum_bytes;
  const TileSize size = tile_size(target, lanes);
  ContractSchedule s;
  s.mr = even_piece(roles.extent(Role::row), size.rows, 1);
  s.nr = even_piece(roles.extent(Role::column), size.vectors * lanes, lanes);
  std::vector<ContractSchedule> all{blocked(s, roles, types.depth, 56, 512, 512),
                                    blocked(s, roles, types.depth, 112, 512, 1024),
                                    blocked(s, roles, types.depth, 448, 1024, 512)};
  constexpr int64_t kManyProducts = int64_t{1} << 29;
  const Expr products = roles.extent(Role::row) * roles.extent(Role::column) * roles.extent(Role::summed);
  if (products.constant().value_or(0) >= kManyProducts) std::ranges::reverse(all);
  std::vector<ContractSchedule> different;
  for (const ContractSchedule& each : all) {
    if (std::ranges::find(different, each) == different.end()) different.push_back(each);
  }
  return different;
}

std::vector<ContractSchedule> quad_schedules(const ContractRoles& roles, const TileTypes& types, const Target& target) {
  const int64_t lanes = target.vector_bytes / types.sum_bytes;
  ContractSchedule s;
  s.method = ContractMethod::quads;
  s.mr = even_piece(roles.extent(Role::row), 8, tile_rows(types, lanes));
  s.nr = even_piece(roles.extent(Role::column), 3 * lanes, lanes);
  std::vector<ContractSchedule> all{blocked(s, roles, types.depth, 128, 512, 2048),
                                    blocked(s, roles, types.depth, 64, 256, 2048)};
  if (all[0] == all[1]) all.pop_back();
  return all;
}

// Summed elements whose pieces take as many bytes as `words` of 32 bits, in whole depths.
int64_t summed_in(int64_t words, const TileTypes& types, int64_t pieces) {
  return words * types.group / pieces / types.depth * types.depth;
}

ContractSchedule matrix_schedule(const ContractRoles& roles, const TileTypes& types) {
  ContractSchedule s;
  s.method = ContractMethod::amx;
  s.mr = even_piece(roles.extent(Role::row), 32, 16);
  s.nr = even_piece(roles.extent(Role::column), 32, 16);
  s = blocked(s, roles, types.depth, 256, 512, summed_in(1024, types, types.row_pieces));
  // 32 columns of as much as stays in the nearest cache while the rows of a block pass by.
  const int64_t near = even_piece(roles.extent(Role::summed), summed_in(256, types, types.column_pieces), types.depth);
  if (near < s.kc) s.kr = near;
  return s;
}

// The fewest and the most that an axis can have.
std::pair<int64_t, int64_t> axis_bounds(Expr extent) {
  if (const auto constant = extent.constant()) return {*constant, *constant};
  if (extent.kind() == ExprKind::dim) return extent.dim_bounds();
  return {0, INT64_MAX};
}

constexpr int64_t kFewRows = 16;

void add_skinny(const ContractRoles& roles, std::vector<ContractSchedule>& schedules) {
  const auto [fewest, most] = axis_bounds(roles.extent(Role::row));
  if (fewest > kFewRows) return;
  ContractSchedule s;
  s.mr = most <= 8 ? std::max<int64_t>(most, 1) : 4;
  if (held_factor(roles, roles.columns[0], Role::column, false).along_summed) {
    s.method = ContractMethod::dot;
    s.nr = s.mr <= 2 ? 4 : 2;
    s.nc = 32;
    s.wide = has_rounded_columns(roles) ? 1 : 0;
    s.blocks = best_blocks(roles, s);
    if (s.blocks == 0 && s.wide == 1) {
      schedules.push_back(s);
      s.wide = 0;
    }
    if (s.mr <= 2) {  // one column at a time is what some processors fetch fastest
      schedules.push_back(s);
      s.nr = 1;
    }
  } else {
    s.method = ContractMethod::sweep;
    s.nc = 2048;
    if (s.mr <= 2) {  // lines of many rows that are a power of two apart have one place in some caches
      s.kc = 3;
      schedules.push_back(s);
    }
    s.kc = s.mr <= 2 ? 8 : 4;
    schedules.push_back(s);
    s.nc = 512;
  }
  schedules.push_back(s);
}

// The operand with many columns is read where it lies, as rows, and the few rows are what is packed.
void add_swapped(const Graph& body, const Target& target, const TileTypes& types,
                 std::vector<ContractSchedule>& schedules) {
  const Expected<ContractRoles> swapped = contract_roles(body, true);
  if (!swapped.ok()) return;
  ContractSchedule s;
  s.method = ContractMethod::amx;
  s.mr = 32;
  s.nr = 16;
  s.swap = 1;
  s.direct = 1;
  s = blocked(s, *swapped, types.depth, 64, 16, 2048 * types.group);
  if (print_contract(body, "k", s, target).ok()) schedules.push_back(s);
}

// What lies right is best read there, but columns that are many and far apart: at 1024 packing them is 2.8 times as
// fast.
void add_direct(const Graph& body, const ContractRoles& roles, const Target& target,
                std::vector<ContractSchedule>& schedules, const ContractSchedule& packed) {
  constexpr int64_t kMostNear = 1 << 18;
  const Expr elements = roles.extent(Role::column) * roles.extent(Role::summed);
  const bool near = elements.constant().value_or(kMostNear + 1) <= kMostNear;
  for (int64_t direct = near ? 3 : 1; direct >= 1; --direct) {
    ContractSchedule s = packed;
    s.direct = direct;
    if (print_contract(body, "k", s, target).ok()) schedules.push_back(s);
  }
  schedules.push_back(packed);
}

// The first ones with results that go past the caches, where whole lines of them do: before the others when no cache
// holds the results, behind them when another core's might.
void add_past(const Graph& body, const ContractRoles& roles, const Target& target,
              std::vector<ContractSchedule>& schedules, size_t from, size_t count) {
  constexpr int64_t kLineBytes = 64, kSome = 2 << 20, kMore = 8 << 20;
  const Interval bytes = result_bytes(body);
  const std::optional<Expr> down = step_of(roles, roles.result.flat_index(roles.at_result()), Role::row);
  if (target.vector_bytes < 32 || bytes.hi < kSome || !down || !has_lines(body, roles)) return;
  std::vector<ContractSchedule> past(schedules.begin() + static_cast<std::ptrdiff_t>(from), schedules.end());
  past.resize(std::min(past.size(), count));
  for (const Output& output : body.outputs()) {
    const int64_t size = storage_bytes(body[output.value].type.dtype, 1);
    const bool lines = down->is_constant() && *down->constant() * size % kLineBytes == 0;
    std::erase_if(past, [&](const ContractSchedule& s) { return !lines || s.nr * size % kLineBytes != 0; });
  }
  for (ContractSchedule& s : past) s.past = 1;
  const size_t at = bytes.lo >= kMore ? from : std::min(schedules.size(), from + count);
  schedules.insert(schedules.begin() + static_cast<std::ptrdiff_t>(at), past.begin(), past.end());
}

// One block has all rows: then packing columns for each block is packing them once, and they stay near. Rows are packed
// once as well where a block sums all its products in one go.
void add_own(const Graph& body, const ContractRoles& roles, const Target& target,
             std::vector<ContractSchedule>& schedules, ContractSchedule s, int64_t depth = 1, int64_t pieces = 1) {
  const int64_t rows = axis_bounds(roles.extent(Role::row)).second;
  constexpr int64_t kMostRows = 512, kInOneGo = 1024;
  if (rows > kMostRows) return;
  s.own = 1;
  s.kr = 0;
  s.mc = round_up(std::max<int64_t>(rows, 1), s.mr);
  s.nc = even_piece(roles.extent(Role::column), std::max<int64_t>(128 / s.nr, 1) * s.nr, s.nr);
  const int64_t summed = axis_bounds(roles.extent(Role::summed)).second;
  if (summed <= kInOneGo) s.kc = round_up(std::max(summed, s.kc), depth);
  // What rows take in pieces stays in the second cache.
  constexpr int64_t kRowBytes = 5 << 18;
  const int64_t near = kRowBytes / (s.kc * pieces * 2) / s.mr * s.mr;
  if (pieces > 1 && s.mc > near) s.mc = even_piece(roles.extent(Role::row), std::max(near, s.mr), s.mr);
  for (int64_t direct = 1; direct >= 0; --direct) {
    s.direct = direct;
    if (print_contract(body, "k", s, target).ok()) schedules.push_back(s);
  }
}

// Windows over an image of each block, of few columns or many, or of all; rows for as much as stays in the second
// cache.
void add_windows(const Graph& body, const ContractRoles& roles, const Target& target,
                 std::vector<ContractSchedule>& schedules) {
  if (!find_windows(roles)) return;
  const TileTypes types = vector_types(roles.dtype);
  const int64_t lanes = target.vector_bytes / types.sum_bytes;
  const TileSize size = tile_size(target, lanes);
  ContractSchedule s;
  s.method = ContractMethod::windows;
  s.mr = even_piece(roles.extent(Role::row), size.rows, 1);
  s.nr = size.vectors * lanes;
  s.kc = *roles.extent(Role::summed).constant();
  constexpr int64_t kRowElements = 1 << 17;
  s.mc = even_piece(roles.extent(Role::row), std::max<int64_t>(kRowElements / s.kc / s.mr, 1) * s.mr, s.mr);
  for (const int64_t panels : {16, 64, 4}) {
    s.nc = panels * s.nr;
    s.own = panels > 4 ? 1 : 0;
    for (s.direct = 1; s.direct >= 0; --s.direct) {
      if (print_contract(body, "k", s, target).ok()) schedules.push_back(s);
    }
  }
}

}  // namespace

std::vector<ContractSchedule> contract_schedules(const Graph& body, const Target& target) {
  const Expected<ContractRoles> roles = contract_roles(body);
  if (!roles.ok()) return {};
  std::vector<ContractSchedule> schedules;
  const bool few = axis_bounds(roles->extent(Role::row)).second <= kFewRows;
  const bool one = roles->extent(Role::row) == Expr(1);
  std::optional<TileTypes> types = matrix_types(*roles, target);
  const bool whole = types.has_value();  // a product of the matrix unit is one of the Contract
  if (!whole) types = piece_types(*roles, target);
  if (few && types && !one) add_swapped(body, target, *types, schedules);
  if (few) add_skinny(*roles, schedules);
  if (one && !find_windows(*roles)) return schedules;  // there is nothing to do but to read each element once
  if (types) {
    const ContractSchedule s = matrix_schedule(*roles, *types);
    add_own(body, *roles, target, schedules, s, types->depth, types->row_pieces);
    const size_t first = schedules.size();
    add_direct(body, *roles, target, schedules, s);
    // More rows that pass by, where few products of each are many rows in the second cache.
    const ContractSchedule large =
        blocked(s, *roles, types->depth, 512, 512, summed_in(1024, *types, types->row_pieces));
    if (s.kr == 0 && !(large == s)) add_direct(body, *roles, target, schedules, large);
    add_past(body, *roles, target, schedules, first, 2);
  }
  if (const std::optional<TileTypes> quads = quad_types(*roles, target)) {
    const std::vector<ContractSchedule> all = quad_schedules(*roles, *quads, target);
    add_own(body, *roles, target, schedules, all[0], quads->depth);
    schedules.insert(schedules.end(), all.begin(), all.end());
  }
  add_windows(body, *roles, target, schedules);
  // Beside the matrix unit vectors win where there is little to sum, if at all: one of 95 products of a model.
  constexpr int64_t kLittle = 128;
  if (whole && !few && axis_bounds(roles->extent(Role::summed)).first > kLittle) return schedules;
  const std::vector<ContractSchedule> vectors = vector_schedules(*roles, target);
  add_own(body, *roles, target, schedules, vectors[0]);
  const size_t first = schedules.size();
  for (const ContractSchedule& s : vectors) add_direct(body, *roles, target, schedules, s);
  add_past(body, *roles, target, schedules, first, 2);
  if (!few) add_skinny(*roles, schedules);
  return schedules;
}

}  // namespace lumen
