#include "lumen/codegen/fold.h"

#include <optional>
#include <set>

#include "lumen/codegen/fold_printer.h"
#include "lumen/codegen/scalar.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr size_t kMostKept = 4;
constexpr int kWorthKeeping = 10;  // instructions that cost more than to store and read a value
constexpr int64_t kCudaSplitFrom = 16384, kCudaChunk = 2048, kCudaMostChunks = 512, kCudaMostHeld = 48;

// Of an element: its op, and all that is elementwise before it.
int cost_before(const Graph& body, const FoldPlan& plan, NodeId id) {
  std::set<NodeId> seen;
  std::vector<NodeId> todo{id};
  int cost = 0;
  while (!todo.empty()) {
    const NodeId next = todo.back();
    const Node& node = body[next];
    todo.pop_back();
    if (node.is<Input>() || node.is<hlir::View>() || !(node.type.shape == plan.whole)) continue;
    if (!seen.insert(next).second) continue;
    cost += op_cost(body, next);
    todo.insert(todo.end(), node.operands.begin(), node.operands.end());
  }
  return cost;
}

// Of the values that more than one loop computes, the last one that is dear: later loops need nothing before it.
std::optional<NodeId> worth_keeping(const Graph& body, const FoldPlan& plan, const std::vector<NodeId>& repeated) {
  for (auto id = repeated.rbegin(); id != repeated.rend(); ++id) {
    if (cost_before(body, plan, *id) >= kWorthKeeping) return *id;
  }
  return std::nullopt;
}

struct Printed {
  KernelText text;
  int divisions;
};

// Keeps values one after another, as long as there are some and there is room.
Expected<Printed> print_with(const Graph& body, const FoldPlan& plan, const FoldLayout& layout,
                             const std::string& name) {
  std::vector<NodeId> kept;
  std::optional<Printed> best;
  while (true) {
    FoldPrinter printer(body, plan, layout, kept);
    if (!printer.has_room()) return *std::move(best);
    KernelText text = LUMEN_TRY(printer.print(name));
    best = Printed{std::move(text), printer.divisions()};
    const std::optional<NodeId> next = worth_keeping(body, plan, printer.repeated());
    if (!next || kept.size() == kMostKept) return *std::move(best);
    kept.push_back(*next);
  }
}

// A fold of many rows that is another one than without this schedule.
Expected<KernelText> print_many_rows(const Graph& body, const std::string& name, const FoldSchedule& schedule,
                                     const char* is_same) {
  // The search asks this of every group it thinks of: what needs no printing comes first.
  const FoldPlan plan = LUMEN_TRY(plan_fold(body));
  if (bounds(plan.rows.numel()).lo < kManyRows) return error("the rows of this fold are few");
  KernelText kernel = LUMEN_TRY(print_fold(body, name, schedule));
  if (kernel.text == LUMEN_TRY(print_fold(body, name)).text) return error(is_same);
  return kernel;
}

}  // namespace

Expected<KernelText> print_fold(const Graph& body, const std::string& name, const FoldSchedule& schedule) {
  const FoldPlan plan = LUMEN_TRY(plan_fold(body));
  const Shape whole = ElementWriter(body, 0).rename(plan.whole);
  FoldSchedule cut = schedule;
  if (grain_of(body) > 1) cut.split_below = 0;  // chunks may not end within a byte
  std::optional<Printed> best;
  for (unsigned choice = 0; choice < 8; ++choice) {
    const FoldMerges merges{(choice & 1) == 0, (choice & 2) == 0, (choice & 4) == 0};
    const FoldLayout layout = lay_out_fold(plan, whole, merges, cut);
    Printed printed = LUMEN_TRY(print_with(body, plan, layout, name));
    if (!best || printed.divisions < best->divisions) best = std::move(printed);
    if (best->divisions == 0) break;
  }
  return std::move(best->text);
}

// A step more takes longer than one block needs for kCudaSplitFrom elements; a chunk is a load or two of each thread.
Expected<KernelText> print_cuda_fold(const Graph& body, const std::string& name, const Target& target) {
  const FoldSchedule schedule{.split_below = target.multiprocessors / 2,
                              .split_from = kCudaSplitFrom,
                              .chunk_work = kCudaChunk,
                              .most_chunks = kCudaMostChunks,
                              .most_items = int64_t{4} * target.multiprocessors};
  KernelText kernel = LUMEN_TRY(print_fold(body, name, schedule));
  if (kernel.steps.size() == 1) return error("the rows of this fold are not cut into chunks: they are many, or short");
  return kernel;
}

Expected<KernelText> print_cuda_early_fold(const Graph& body, const std::string& name) {
  return print_many_rows(body, name, {.early = true}, "outputs read nothing beside the rows of this fold");
}

Expected<KernelText> print_cuda_held_fold(const Graph& body, const std::string& name) {
  return print_many_rows(body, name, {.held = kCudaMostHeld}, "no fewer threads could hold rows of this length");
}

}  // namespace lumen
