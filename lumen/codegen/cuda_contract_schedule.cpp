#include <algorithm>
#include <array>
#include <cmath>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract.h"
#include "lumen/codegen/cuda_contract_blocks.h"
#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/codegen/cuda_contract_grouped.h"
#include "lumen/codegen/cuda_contract_mma.h"
#include "lumen/codegen/cuda_contract_sweep.h"
#include "lumen/codegen/schedule_text.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

using Schedule = CudaContractSchedule;
using Method = CudaContractMethod;

constexpr MethodWords<Method, 6> kCudaContractMethods = {std::pair{Method::tile, std::string_view("gpu-tile")},
                                                         std::pair{Method::dot, std::string_view("gpu-dot")},
                                                         std::pair{Method::blocks, std::string_view("gpu-blocks")},
                                                         std::pair{Method::sweep, std::string_view("gpu-sweep")},
                                                         std::pair{Method::mma, std::string_view("gpu-mma")},
                                                         std::pair{Method::grouped, std::string_view("gpu-grouped")}};

constexpr SizeNames<Schedule, 8> kCudaContractSizes = {std::pair{std::string_view("rows"), &Schedule::rows},
                                                       std::pair{std::string_view("columns"), &Schedule::columns},
                                                       std::pair{std::string_view("summed"), &Schedule::summed},
                                                       std::pair{std::string_view("threads"), &Schedule::threads},
                                                       std::pair{std::string_view("parts"), &Schedule::parts},
                                                       std::pair{std::string_view("lanes"), &Schedule::lanes},
                                                       std::pair{std::string_view("ahead"), &Schedule::ahead},
                                                       std::pair{std::string_view("wide"), &Schedule::wide}};

constexpr size_t kMostSchedules = 6;
constexpr int64_t kMostStages = 8;
constexpr int64_t kStagesOfOne = 192 << 10, kStagesOfTwo = 96 << 10;  // bytes of shared memory for stages

// A few tiles that fill the machine in different ways.
void add_tiles(const ContractRoles& roles, std::vector<Schedule>& schedules) {
  const auto sides = std::ssize(roles.columns);
  const int64_t rows = bounds(roles.extent(Role::row)).hi;
  Schedule s;
  s.method = Method::tile;
  s.summed = 16;
  s.threads = 256;
  s.rows = rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
  s.columns = sides > 2 ? 32 : 64;
  schedules.push_back(s);
  s.rows = std::min<int64_t>(s.rows, 32);
  s.columns = 32;
  schedules.push_back(s);
}

constexpr int64_t kRowsOfDots = 16;
constexpr int64_t kRowBytes = 64 << 10;  // of the rows in shared memory
constexpr int64_t kRowUnit = 512;        // a warp's wide loads of the narrowest elements
constexpr int64_t kWarpsToFill = 14;     // of a multiprocessor, so that memory is busy
constexpr int64_t kWarps = 8;            // of a block
constexpr int64_t kSumsBytes = 4 << 10;  // about what a block's sums take

int64_t length_in_shared(const ContractRoles& roles, int64_t rows) {
  const int64_t most = std::max(kRowUnit, kRowBytes / (rows * sum_bytes(roles.dtype)) / kRowUnit * kRowUnit);
  const int64_t limit = roles.extent(Role::summed).is_constant() ? 16384 : 2048;
  return even_piece(roles.extent(Role::summed), std::min(most, limit), kRowUnit);
}

Schedule dot_of(const ContractRoles& roles, const Target& target, int64_t columns_of_warp) {
  const auto sides = std::ssize(roles.columns);
  Schedule s;
  s.method = Method::dot;
  s.rows = std::max<int64_t>(1, bounds(roles.extent(Role::row)).hi);
  s.threads = kWarps * 32;
  s.lanes = columns_of_warp;
  s.ahead = std::clamp<int64_t>(8 / (sides * s.lanes), 1, 4);
  s.summed = length_in_shared(roles, s.rows);
  const int64_t columns = bounds(roles.extent(Role::batch) * roles.extent(Role::column)).hi;
  const int64_t depth = bounds(roles.extent(Role::summed)).hi;
  int64_t split = 1;
  while (split < kWarps && columns / s.lanes * split < target.multiprocessors * kWarpsToFill &&
         depth >= 2 * split * 256) {
    split *= 2;
  }
  s.columns = kWarps / split * s.lanes;
  return s;
}

// Tiles of which every multiprocessor has about as many, all at once: the widest share of busy ones, as warps with few
// columns read rows more often than those with many.
Schedule even_dot_of(const ContractRoles& roles, const Target& target) {
  constexpr int64_t kFewestWarps = 12, kMostWarps = 32;
  const int64_t columns = bounds(roles.extent(Role::batch) * roles.extent(Role::column)).hi;
  const int64_t multiprocessors = std::max(1, target.multiprocessors);
  Schedule best = dot_of(roles, target, 2);
  double busiest = 0;
  for (const int64_t lanes : {5, 4, 7, 3}) {
    for (const int64_t groups : {4, 2, 8, 1}) {
      for (const int64_t warps : {16, 4, 8}) {
        if (groups > warps) continue;
        const int64_t tiles = (columns + lanes * groups - 1) / (lanes * groups);
        const int64_t each = (tiles + multiprocessors - 1) / multiprocessors;
        const double busy = static_cast<double>(tiles) / static_cast<double>(each * multiprocessors);
        if (each * warps < kFewestWarps || each * warps > kMostWarps || busy <= busiest + 0.01) continue;
        busiest = busy;
        best.lanes = lanes;
        best.columns = lanes * groups;
        best.threads = warps * 32;
        best.ahead = lanes > 4 ? 1 : 2;
      }
    }
  }
  return best;
}

void add_dots(const ContractRoles& roles, const Target& target, std::vector<Schedule>& schedules) {
  const auto sides = std::ssize(roles.columns);
  const int64_t rows = std::max<int64_t>(1, bounds(roles.extent(Role::row)).hi);
  const bool wide = has_rounded_columns(roles);
  const int64_t columns = bounds(roles.extent(Role::batch) * roles.extent(Role::column)).hi;
  const bool many = columns / 2 >= target.multiprocessors * kWarpsToFill * 7 / 8;
  std::vector<Schedule> found;
  for (const int64_t width : many&& sides == 1 ? std::array<int64_t, 2>{2, 1} : std::array<int64_t, 2>{1, 2}) {
    found.push_back(dot_of(roles, target, width));
  }
  if (sides == 1) found.push_back(even_dot_of(roles, target));
  // Few columns of a block, with more loads under way: the last ones of a block are soon done.
  Schedule narrow = dot_of(roles, target, sides == 1 ? 4 : 1);
  narrow.columns = sides == 1 ? 8 : 4;
  narrow.ahead = sides == 1 ? 4 : 8;
  found.push_back(narrow);
  for (Schedule& s : found) {
    if (sides * rows * s.lanes > 64) continue;
    s.wide = wide ? 1 : 0;
    schedules.push_back(s);
  }
}

// Copies of a multiprocessor's warps that are under way, whose columns are quantised blocks: the more columns a warp
// has, the less it reads of the rows, and the fewer warps there is room for.
void add_blocks(const ContractRoles& roles, const Target& target, std::vector<Schedule>& schedules) {
  const auto sides = std::ssize(roles.columns);
  Schedule s;
  s.method = Method::blocks;
  s.wide = has_rounded_columns(roles) ? 1 : 0;
  const std::optional<BlocksStage> stage = blocks_stage(roles, s.wide != 0);
  if (!stage) return;
  s.rows = std::max<int64_t>(1, bounds(roles.extent(Role::row)).hi);
  const Expr depth = roles.extent(Role::summed);
  const int64_t most = kRowBytes / (s.rows * sum_bytes(roles.dtype)) / stage->elements * stage->elements;
  s.summed = even_piece(depth, std::max(stage->elements, most), stage->elements);
  const int64_t columns = bounds(roles.extent(Role::batch) * roles.extent(Role::column)).hi;
  for (const int64_t together : {int64_t{2}, int64_t{1}, int64_t{4}}) {
    s.lanes = together / sides;
    if (s.lanes * sides != together || together * s.rows > 64) continue;
    const int64_t wanted = std::max<int64_t>(kWarps, 32 / together);  // warps of a multiprocessor
    int64_t found = 0;
    Schedule best = s;
    for (const int64_t warps : {kWarps, 2 * kWarps}) {
      for (const int64_t ahead : {int64_t{2}, int64_t{3}, int64_t{4}}) {
        const int64_t rows = s.rows * s.summed * sum_bytes(roles.dtype) * 33 / 32 + kSumsBytes;
        const int64_t shared = rows + warps * ahead * s.lanes * stage->bytes;
        if (shared > target.shared_bytes) continue;
        const int64_t here = std::min(wanted, warps * blocks_at_once(target, shared, warps * 32));
        if (here < found || (here == found && warps * 32 != best.threads)) continue;
        found = here;
        best.threads = warps * 32;
        best.ahead = ahead;
      }
    }
    if (found < kWarps) continue;
    int64_t split = 1;
    while (split < kWarps && columns / s.lanes * split < target.multiprocessors * found * 7 / 8 &&
           bounds(depth).hi >= 2 * split * stage->elements) {
      split *= 2;
    }
    best.columns = best.threads / 32 / split * best.lanes;
    schedules.push_back(best);
  }
}

// Narrow tiles are many; wide ones read longer pieces of memory, and may need parts of the summed axis to be many.
void add_sweeps(const ContractRoles& roles, const Target& target, std::vector<Schedule>& schedules) {
  const int64_t at_once = sweep_columns(roles);
  const int64_t columns = bounds(roles.extent(Role::batch) * roles.extent(Role::column)).hi;
  const int64_t depth = bounds(roles.extent(Role::summed)).hi;
  Schedule s;
  s.method = Method::sweep;
  s.rows = std::max<int64_t>(1, bounds(roles.extent(Role::row)).hi);
  s.threads = kWarps * 32;
  s.ahead = std::ssize(roles.columns) * s.rows > 4 ? 2 : 4;
  s.summed = length_in_shared(roles, s.rows);
  for (const int64_t lanes : {int64_t{4}, int64_t{8}, int64_t{32}}) {
    s.lanes = at_once == 1 ? 32 : lanes;
    s.columns = s.lanes * at_once;
    const int64_t tiles = std::max<int64_t>(1, columns / s.columns);
    const int64_t wanted = 2 * target.multiprocessors / tiles;
    s.parts = 0;
    if (lanes != 4) s.parts = std::clamp<int64_t>(wanted, 0, std::min<int64_t>(16, depth / 256));
    if (s.parts > 1) {
      const int64_t length = depth / s.parts / kRowUnit * kRowUnit;
      s.summed = std::min(s.summed, std::max(kRowUnit, length));
    }
    schedules.push_back(s);
  }
}

// A tile of the tensor cores, and how much of their speed it is thought to reach where there are enough of them.
struct ProductTile {
  int64_t rows, columns, summed, threads, lanes, ahead;
  double speed;
};
constexpr ProductTile kProductTiles[] = {
    {128, 128, 32, 256, 2, 4, 1.0}, {128, 64, 64, 256, 4, 3, 0.85}, {64, 128, 64, 256, 2, 3, 0.85},
    {64, 64, 64, 128, 2, 4, 0.7},   {32, 64, 64, 128, 2, 4, 0.4},   {16, 64, 128, 128, 1, 4, 0.25},
    {16, 32, 128, 64, 1, 6, 0.15},
};

// The tiles that are expected to be fastest: whole waves of blocks, each as long as its products take.
void add_products(const ContractRoles& roles, const Target& target, std::vector<Schedule>& schedules) {
  if (!mma_dtype(roles)) return;
  constexpr int64_t kUnknown = 2048;
  const auto size = [&](Role role) {
    const int64_t most = bounds(roles.extent(role)).hi;
    return static_cast<double>(roles.extent(role).is_constant() ? most : std::min(most, kUnknown));
  };
  const double multiprocessors = std::max(1, target.multiprocessors), depth = size(Role::summed);
  std::vector<std::pair<double, Schedule>> found;
  for (const ProductTile& tile : kProductTiles) {
    Schedule s{Method::mma, tile.rows, tile.columns, tile.summed, tile.threads, 0, tile.lanes, tile.ahead, 0};
    const double tiles = size(Role::batch) * std::ceil(size(Role::row) / static_cast<double>(s.rows)) *
                         std::ceil(size(Role::column) / static_cast<double>(s.columns));
    const auto parts = static_cast<int64_t>(std::min(multiprocessors / std::max(1.0, tiles), depth / 1024));
    const int64_t stage = (s.rows + std::ssize(roles.columns) * s.columns) * s.summed * 2;
    const auto ahead_in = [&](int64_t bytes) { return std::clamp<int64_t>(bytes / stage, tile.ahead, kMostStages); };
    // Blocks that have a multiprocessor to themselves must keep its memory busy alone.
    s.ahead = ahead_in(tiles <= multiprocessors ? kStagesOfOne : kStagesOfTwo);
    const auto time = [&](int64_t cut) {
      const double blocks = tiles * static_cast<double>(cut);
      const double products = static_cast<double>(s.rows * s.columns) * depth / static_cast<double>(cut);
      return std::ceil(blocks / multiprocessors) * products / tile.speed;
    };
    found.emplace_back(time(1), s);
    if (parts <= 1) continue;
    s.parts = std::min<int64_t>(parts, 8);
    s.ahead = ahead_in(kStagesOfOne);
    found.emplace_back(time(s.parts) * 1.2, s);
  }
  std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
  for (size_t k = 0; k < std::min<size_t>(4, found.size()); ++k) schedules.push_back(found[k].second);
}

// For few rows of a group and for many: how many there will be is not known.
void add_grouped(const ContractRoles& roles, std::vector<Schedule>& schedules) {
  constexpr int64_t kFewest = 16;  // batches: of fewer, hardly two choose the same
  if (!mma_dtype(roles) || bounds(roles.extent(Role::batch)).hi < kFewest || !grouped_choice(roles)) return;
  for (const int64_t rows : {16, 64, 128}) {
    const ProductTile& tile = *std::ranges::find(kProductTiles, rows, &ProductTile::rows);
    Schedule s{Method::grouped, tile.rows, tile.columns, tile.summed, tile.threads, 0, tile.lanes, tile.ahead, 0};
    if (std::ssize(roles.columns) > 1) s.columns = std::min<int64_t>(s.columns, 64);
    schedules.push_back(s);
  }
}

// Whether neighbours along the summed axis are neighbours in memory.
bool lies_along_summed(const ContractRoles& roles) {
  ElementWriter probe(*roles.graph, 0);
  const std::optional<StoredFactor> stored = stored_factor(roles, *roles.graph, roles.columns[0], &probe);
  if (!stored) return held_factor(roles, roles.columns[0], Role::column, false).along_summed;
  const std::optional<Expr> step = step_of(roles, stored->index, Role::summed);
  return step && *step == Expr(1);
}

}  // namespace

std::string CudaContractSchedule::str() const { return schedule_text(*this, kCudaContractMethods, kCudaContractSizes); }

Expected<CudaContractSchedule> CudaContractSchedule::parse(std::string_view text) {
  return parse_schedule<CudaContractSchedule>(text, kCudaContractMethods, kCudaContractSizes, "a Contract on a GPU");
}

bool is_cuda_contract_schedule(std::string_view text) {
  return std::ranges::any_of(kCudaContractMethods,
                             [&](const auto& each) { return each.second == text.substr(0, text.find(' ')); });
}

std::vector<CudaContractSchedule> cuda_contract_schedules(const Graph& body, const Target& target) {
  const Expected<ContractRoles> roles = contract_roles(body);
  if (!roles.ok()) return {};
  std::vector<Schedule> all;
  const bool few = bounds(roles->extent(Role::row)).hi <= kRowsOfDots;
  const bool dots = lies_along_summed(*roles);
  if (const Expected<ContractRoles> grouped = grouped_roles(body); grouped.ok()) add_grouped(*grouped, all);
  if (few && dots) add_blocks(*roles, target, all);
  if (few && dots) add_dots(*roles, target, all);
  const bool sums = !roles->sums.empty();  // only few rows are summed
  if (few && !dots && !sums) add_sweeps(*roles, target, all);
  if (!sums) add_products(*roles, target, all);
  if (!sums) add_tiles(*roles, all);
  std::vector<Schedule> fitting;
  for (const Schedule& s : all) {
    const bool is_new = std::ranges::find(fitting, s) == fitting.end();
    if (is_new && fitting.size() < kMostSchedules && print_cuda_contract(body, "k", s, target).ok()) {
      fitting.push_back(s);
    }
  }
  return fitting;
}

}  // namespace lumen
