#include "lumen/codegen/cuda_contract_blocks_plan.h"

#include <algorithm>

#include "lumen/codegen/contract_runs.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

constexpr int64_t kWhole = 16;       // bytes that are copied at once
constexpr int64_t kWholePiece = 16;  // elements: every run has whole ones
constexpr int64_t kMostUnit = 128;   // elements of a lane

// By how much an expression grows with a variable, wherever it is.
std::optional<int64_t> growth(Expr e, Expr variable) {
  const std::optional<Expr> step = step_along(e, variable);
  return step ? step->constant() : std::nullopt;
}

// Byte coordinates of everything that is read, as they grow: the same for all of it.
struct Growth {
  int64_t batch = 0, column = 0, stage = 0, matrix = 0;
  bool operator==(const Growth&) const = default;
};

// The factor inside of a Gather whose index is the same for all of a batch; the factor itself where there is none.
struct Inside {
  Spot spot;
  std::optional<ChosenMatrix> chosen;
};
Inside inside_gather(const Graph& graph, const Spot& factor) {
  const std::optional<Spot> shown = under_views(graph, factor);
  if (!shown || !graph[shown->node].is<hlir::Gather>()) return {factor, {}};
  const Node& node = graph[shown->node];
  const auto axis = node.as<hlir::Gather>().axis;
  const int64_t rank = graph[node.operands[1]].type.shape.rank();
  const TensorType source = graph[node.operands[0]].type;
  const std::vector<Expr> at(shown->at.begin() + axis, shown->at.begin() + axis + rank);
  for (const Expr& e : at) {
    for (const Expr& v : variables(e)) {
      const bool is_batch = v.kind() != ExprKind::index || v.index_number() == static_cast<int>(Role::batch);
      if (!is_batch) return {factor, {}};
    }
  }
  const Expr extent = source.shape[axis];
  if (!extent.is_constant()) return {factor, {}};
  Spot inside{node.operands[0], {shown->at.begin(), shown->at.begin() + axis}};
  inside.at.push_back(chosen_matrix(extent));
  inside.at.insert(inside.at.end(), shown->at.begin() + axis + rank, shown->at.end());
  return {inside, ChosenMatrix{{node.operands[1], at},
                               extent,
                               "[Gather] an index is outside axis " + std::to_string(axis) + " of " + source.str()}};
}

class Planner {
 public:
  Planner(const ContractRoles& roles, const FactorIn& factor, int64_t length, int64_t turns)
      : roles_(roles), factor_(factor), runs_(runs_of(roles, length, turns)) {
    const Expr extent = roles.extent(Role::summed);
    units_ = bounds(extent).hi / (length * turns);
    whole_ = Expr::index(4, extent / (length * turns));
    within_ = Expr::index(4, std::min(units_, kWarp));
  }

  std::optional<BlocksPlan> plan() {
    BlocksPlan made;
    made.length = runs_.length;
    for (const std::vector<Expr>& at : runs_.turns) {
      const Inside inside = inside_gather(*factor_.graph, {factor_.node, at});
      made.node = inside.spot.node;
      made.chosen = inside.chosen;
      matrix_ = inside.chosen ? chosen_matrix(inside.chosen->extent) : Expr(0);
      if (!see(inside.spot)) return std::nullopt;
      made.turns.push_back(local(inside.spot.at));
    }
    if (!input_ || !growth_) return std::nullopt;
    const Graph& graph = *factor_.graph;
    if (info(graph[*input_].type.dtype).bits != 8) return std::nullopt;
    made.input = static_cast<size_t>(std::ranges::find(graph.inputs(), *input_) - graph.inputs().begin());
    made.offset = first_ / kWhole * kWhole;
    made.elements = kWarp * made.unit();
    made.column = column_end_ - made.offset;
    made.bytes = units_ > kWarp ? growth_->stage : made.column;
    made.first = index_of(Role::batch) * growth_->batch + index_of(Role::column) * growth_->column +
                 matrix_ * growth_->matrix + made.offset;
    const bool whole = made.column % kWhole == 0 && made.bytes % kWhole == 0 && growth_->batch % kWhole == 0 &&
                       growth_->column % kWhole == 0 && growth_->matrix % kWhole == 0;
    if (!whole || made.bytes <= 0 || stage_end_ - made.offset > made.bytes) return std::nullopt;
    return made;
  }

 private:
  Expr index_of(Role role) const { return Expr::index(static_cast<int>(role), roles_.extent(role)); }

  std::vector<Expr> local(const std::vector<Expr>& at, bool in_stage = true) const {
    std::vector<std::pair<Expr, Expr>> places;
    for (const Role role : {Role::batch, Role::column}) {
      if (!index_of(role).is_constant()) places.emplace_back(index_of(role), Expr(0));
    }
    if (!matrix_.is_constant()) places.emplace_back(matrix_, Expr(0));
    if (in_stage && !whole_.is_constant()) places.emplace_back(whole_, within_);
    std::vector<Expr> made;
    for (const Expr& e : at) made.push_back(substitute(e, places));
    return made;
  }

  // How an index grows, in its own units; nothing when that depends on where it is.
  std::optional<Growth> growth_of(Expr e) const {
    const std::optional<int64_t> batch = growth(e, index_of(Role::batch)), column = growth(e, index_of(Role::column));
    std::optional<int64_t> stage = 0;
    if (units_ > kWarp) {
      const Expr stages = Expr::dim("stages", 0, INT32_MAX);
      const std::pair<Expr, Expr> split[] = {{whole_, within_ + stages * kWarp}};
      stage = growth(substitute(e, split), stages);
    }
    const std::optional<int64_t> matrix = growth(e, matrix_);
    if (!batch || !column || !stage || !matrix) return std::nullopt;
    return Growth{*batch, *column, *stage, *matrix};
  }

  bool see(const Spot& spot) {
    ElementWriter writer(*factor_.graph, 0);
    writer.value(spot.node, spot.at);
    if (!writer.problem().empty() || !writer.faults().empty()) return false;
    for (const ElementWriter::Access& access : writer.accesses()) {
      if (!see(access)) return false;
    }
    // What else is computed of coordinates is the same in every stage.
    return std::ranges::all_of(writer.indices(), [&](Expr index) {
      const auto is_place = [&](const ElementWriter::Access& access) { return access.place.node() == index.node(); };
      if (std::ranges::any_of(writer.accesses(), is_place)) return true;
      const std::optional<Growth> grows = growth_of(index);
      return grows && *grows == Growth{};
    });
  }

  bool see(const ElementWriter::Access& access) {
    if (input_ && *input_ != access.input) return false;
    input_ = access.input;
    const std::optional<Growth> units = growth_of(access.place);
    if (!units) return false;
    Growth bytes;
    for (int64_t Growth::*each : {&Growth::batch, &Growth::column, &Growth::stage, &Growth::matrix}) {
      if ((*units).*each * access.bits % 8 != 0) return false;
      bytes.*each = (*units).*each * access.bits / 8;
    }
    if (growth_ && !(*growth_ == bytes)) return false;
    growth_ = bytes;
    const auto end = [&](Expr e) { return (bounds(e).hi + 1) * access.bits / 8; };
    const Expr in_stage = local({access.place})[0], in_column = local({access.place}, false)[0];
    first_ = std::min(first_, bounds(in_stage).lo * access.bits / 8);
    stage_end_ = std::max(stage_end_, end(in_stage));
    column_end_ = std::max(column_end_, end(in_column));
    return bounds(in_stage).lo >= 0;
  }

  const ContractRoles& roles_;
  const FactorIn& factor_;
  SummedRuns runs_;
  int64_t units_ = 0;
  Expr whole_, within_;  // i4: over the column, over a stage
  Expr matrix_ = 0;      // that is chosen
  std::optional<NodeId> input_;
  std::optional<Growth> growth_;
  int64_t first_ = INT64_MAX, stage_end_ = 0, column_end_ = 0;
};

// Whether all neighbouring bytes of a plan are read as words of 4 bytes.
bool reads_words(const BlocksPlan& plan, const FactorIn& factor) {
  return std::ranges::all_of(plan.turns, [&](const std::vector<Expr>& at) {
    ElementWriter probe(*factor.graph, 0);
    probe.value(plan.node, at);
    return std::ranges::all_of(probe.byte_reads(), [&](const ElementWriter::Read& read) {
      const std::optional<WordRead> words = word_read(read, plan.length, kWholePiece);
      return !words || words->align >= 4;
    });
  });
}

}  // namespace

Expr chosen_matrix(Expr extent) { return Expr::dim("chosen", 0, std::max<int64_t>(0, bounds(extent).hi - 1)); }

std::optional<BlocksPlan> blocks_plan(const ContractRoles& roles, const FactorIn& factor) {
  const std::optional<SummedRuns> runs = summed_runs(roles, *factor.graph, factor.node);
  const Expr extent = roles.extent(Role::summed);
  if (!runs || !extent.is_constant()) return std::nullopt;
  std::optional<BlocksPlan> found;
  for (int64_t turns = std::ssize(runs->turns); turns * runs->length <= kMostUnit; turns *= 2) {
    if (!(extent % (turns * runs->length) == Expr(0))) break;
    std::optional<BlocksPlan> plan = Planner(roles, factor, runs->length, turns).plan();
    if (!plan) continue;
    if (reads_words(*plan, factor)) return plan;
    if (!found) found = std::move(plan);
  }
  return found;
}

std::optional<WordRead> word_read(const ElementWriter::Read& read, int64_t length, int64_t piece) {
  const Expr along = Expr::index(5, length);
  if (growth(read.flat, along) != 1) return std::nullopt;
  const std::pair<Expr, Expr> pieces[] = {{along, Expr::dim("piece", 0, INT32_MAX) * piece}};
  const Expr begin = substitute(read.flat, pieces);
  for (const int64_t align : {16, 8, 4, 2}) {
    const Expr skipped = begin % align;
    if (skipped == Expr(0)) return WordRead{read, align, 0};
    if (align == 4 && skipped.is_constant()) return WordRead{read, align, *skipped.constant()};
  }
  return std::nullopt;
}

std::optional<StoredIntegers> stored_integers(const Graph& graph, const Spot& integer) {
  const Node& node = graph[integer.node];
  const NodeId input = node.is<hlir::Bitcast>() ? node.operands[0] : integer.node;
  if (!graph[input].is<Input>()) return std::nullopt;
  const DType dtype = node.type.dtype;
  const Expr flat = ElementWriter(graph, 0).rename(node.type.shape).flat_index(integer.at);
  const int64_t bits = info(dtype).bits;
  if (bits == 8) return StoredIntegers{{input, flat}, 8, 0, !is_unsigned(dtype)};
  if (bits != 4) return std::nullopt;
  const Expr byte = floor_div(flat, 2), which = flat - byte * 2;
  if (!which.is_constant()) return std::nullopt;
  return StoredIntegers{{input, byte}, 4, *which.constant() * 4, !is_unsigned(dtype)};
}

}  // namespace lumen
