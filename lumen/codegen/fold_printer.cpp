#include "lumen/codegen/fold_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lumen/codegen/scalar.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kRowBuffer = 32 << 10;  // bytes for kept values, where no output can hold them
constexpr int kHeavy = 16;                // instructions for an element that hide the latency of one accumulator

constexpr int64_t kNearRow = 16384;  // elements that are still near when a loop reads them again

// Of a GPU's thread: registers for what it reads of a row and keeps of it, and elements, which are floats in registers
// as soon as they are computed with.
constexpr int64_t kMostHeld = 32, kMostHeldEarly = 48, kMostElements = 32, kMostTurns = 8;
// Where there are rows for all multiprocessors, each should have several of them on their way from memory at a time:
// fewer threads a row with more elements each, and registers for several blocks.
constexpr int64_t kFewThreads = 128;
constexpr int kDear = 48;  // instructions for an element that need more registers

int64_t compute_bytes(DType dtype) {
  if (is_bool(dtype)) return 1;
  return dtype == DType::f64 || dtype == DType::i64 || dtype == DType::u64 ? 8 : 4;
}

}  // namespace

FoldPrinter::FoldPrinter(const Graph& body, const FoldPlan& plan, FoldLayout layout, std::vector<NodeId> kept)
    : body_(body), plan_(plan), layout_(std::move(layout)) {
  begin_step();
  whole_ = writer_->rename(plan.whole);
  rows_ = writer_->rename(plan.rows);
  if (!columns()) {
    const Expr extent = layout_.loops.back().extent;
    width_ = group_width(body, extent);
    threads_ = threads_for(layout_.is_split() && layout_.loops.size() == 1 ? layout_.chunk : extent, width_);
  }
  for (const NodeId node : kept) buffers_.push_back({node, {}, {}});
  find_room();
  plan_turns();
}

// Registers for a group of everything that is as long as what is reduced.
int64_t FoldPrinter::held_by_group() const {
  const auto registers = [&](int64_t bytes) { return (width_ * bytes + 3) / 4; };
  int64_t all = 0;
  for (const NodeId id : body_.inputs()) {
    const TensorType& type = body_[id].type;
    const bool is_whole = bounds(type.shape.numel()).hi >= bounds(plan_.whole.numel()).hi;
    if (is_whole && !is_packed(type.dtype)) all += registers(info(type.dtype).bits / 8);
  }
  for (const Buffer& buffer : buffers_) all += registers(stored(buffer).bytes);
  return all;
}

// A row of known length that fits into the registers of a block is read once; on a CPU a short one is near after that.
void FoldPrinter::plan_turns() {
  const bool is_row = !columns() && !layout_.is_split() && layout_.loops.size() == 1;
  const std::optional<int64_t> length = is_row ? layout_.loops[0].extent.constant() : std::nullopt;
  if (length.value_or(0) == 0 || width_ == 1 || grain_of(body_) > 1) return;
  const auto row = std::ranges::find_if(layout_.row.rbegin(), layout_.row.rend(),
                                        [](Expr at) { return at.kind() == ExprKind::index; });
  if (*length <= kNearRow && row != layout_.row.rend()) writer_->keep_rows_near(*row);
  const int64_t groups = *length / width_, held = held_by_group();
  const auto fit = [&](int64_t turns, int64_t most) {
    return turns <= kMostTurns && turns * width_ <= kMostElements && turns * held <= most;
  };
  int64_t turns = (groups + threads_ - 1) / threads_;
  if (held == 0 || !fit(turns, kMostHeld)) return;
  const Interval rows = bounds(Shape(layout_.items).numel());
  while (rows.lo >= kManyRows && groups >= 2 * turns * kFewThreads && fit(2 * turns, layout_.held)) turns *= 2;
  turns_ = turns;
  threads_ = static_cast<int>((groups + kWarp * turns - 1) / (kWarp * turns) * kWarp);
  if (rows.hi >= kManyRows) blocks_ = blocks_for();
  const int64_t room = layout_.early ? kMostHeldEarly : kMostHeld;
  writer_->hold_rows({turns_, threads_, "from", "to", std::max(room, layout_.held)});
}

// How many blocks the registers of a multiprocessor are for: as many as leave a thread 64.
int FoldPrinter::blocks_for() const {
  int cost = 0;
  for (const NodeId id : body_.order()) {
    const TensorType& type = body_[id].type;
    if (compute_bytes(type.dtype) > 4) return 1;
    if (type.shape == plan_.whole) cost += op_cost(body_, id);
  }
  if (cost > kDear || threads_ < kFewThreads) return 1;
  return *std::ranges::find_if(kKernelBlocks, [&](int blocks) { return blocks * threads_ <= 1024; });
}

// An output of the same type holds what it will be computed from; or a row on the stack does.
void FoldPrinter::find_room() {
  std::set<size_t> taken;
  int64_t left = kRowBuffer;
  for (Buffer& buffer : buffers_) {
    const bool found = layout_.stack_first ? keep_on_stack(buffer, left) || keep_in_output(buffer, taken)
                                           : keep_in_output(buffer, taken) || keep_on_stack(buffer, left);
    has_room_ = has_room_ && found;
    if (!found) return;
  }
}

bool FoldPrinter::keep_in_output(Buffer& buffer, std::set<size_t>& taken) const {
  const TensorType type = body_[buffer.node].type;
  for (size_t k = 0; k < body_.outputs().size(); ++k) {
    const TensorType given = body_[body_.outputs()[k].value].type;
    if (given != type || storage_type(type.dtype) != compute_type(type.dtype) || !taken.insert(k).second) continue;
    buffer.array = fmt::format("r{}", k);
    buffer.index = whole_.flat_index(layout_.element);
    return true;
  }
  return false;
}

bool FoldPrinter::keep_on_stack(Buffer& buffer, int64_t& left) {
  const DType dtype = body_[buffer.node].type.dtype;
  Expr length = 1, index = 0;
  for (const FoldLoop& loop : layout_.loops) {
    index = index * loop.extent + loop.variable;
    length *= loop.extent;
  }
  const int64_t most = bounds(length).hi;
  if (columns() || layout_.is_split() || most > left / compute_bytes(dtype)) return false;
  left -= most * compute_bytes(dtype);
  buffer.index = index;
  buffer.array = fmt::format("q{}", declarations_.size());
  declarations_.push_back(
      fmt::format("LUMEN_ROW_BUFFER({}, {}, {});", compute_type(dtype), buffer.array, std::max<int64_t>(most, 1)));
  return true;
}

std::string FoldPrinter::turns_text() const { return fmt::format("{}, {}, {}", width_, turns_, threads_); }

ElementWriter::Stored FoldPrinter::stored(const Buffer& buffer) const {
  const DType dtype = body_[buffer.node].type.dtype;
  return {compute_type(dtype), compute_bytes(dtype)};
}

FoldPrinter::Level FoldPrinter::level(int number) const {
  Level found;
  for (const FoldReduction& each : plan_.reductions) {
    if (each.level == number) found.push_back(&each);
  }
  return found;
}

// What is computed for an element that is reduced.
std::set<NodeId> FoldPrinter::elements_of(const Level& reductions) const {
  std::set<NodeId> found;
  std::vector<NodeId> todo;
  for (const FoldReduction* each : reductions) todo.push_back(each->operand);
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    const auto is_kept = [&](const Buffer& buffer) { return buffer.node == id && buffer.is_filled; };
    if (std::any_of(buffers_.begin(), buffers_.end(), is_kept)) continue;
    if (!(body_[id].type.shape == plan_.whole) || body_[id].is<hlir::View>()) continue;
    if (!found.insert(id).second) continue;
    todo.insert(todo.end(), body_[id].operands.begin(), body_[id].operands.end());
  }
  return found;
}

int FoldPrinter::cost_of(const Level& reductions) const {
  int cost = 0;
  for (const NodeId id : elements_of(reductions)) cost += op_cost(body_, id);
  return cost;
}

// Enough accumulators to hide the latency of a step, but no more than a row has elements.
int64_t FoldPrinter::lanes_of(const Level& reductions) const {
  int64_t widest = 4;
  for (const FoldReduction* each : reductions) widest = std::max(widest, compute_bytes(each->dtype));
  const int64_t bytes = cost_of(reductions) >= kHeavy || reductions.size() > 2 ? 64 : 256;
  const int64_t most = std::clamp<int64_t>(bounds(layout_.loops.back().extent).hi, 1, bytes / widest);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
}

void FoldPrinter::begin_step() {
  writer_.emplace(body_, 4, made_.faults);
  blocked_ = false;
  ways_ = 1;
}

void FoldPrinter::end_step(const std::string& name, bool chunks) {
  made_.faults = writer_->faults();
  if (problem_.empty()) problem_ = writer_->problem();
  divisions_ += writer_->inner_divisions();
  // A step that only combines chunks has a thread for each.
  const bool combines = layout_.is_split() && !columns() && !chunks;
  const int threads = combines ? threads_for(layout_.chunks(), 1) : threads_;
  const bool walks = turns_ == 0 || threads_ < kFewThreads;
  std::string text = kernel_head(body_, name, threads, blocks_, walks) + fmt::format("  LUMEN_THREADS({});\n", threads);
  Expr offset = 0;
  const Expr size = Shape(layout_.items).numel() * (columns() ? layout_.tile : 1) * 8;
  const auto scratch = [&](std::string_view type, std::string_view array) {
    text += fmt::format("  {0}* LUMEN_RESTRICT {1} = ({0}*)((char*)LUMEN_OUT({2}) + {3});\n", type, array,
                        body_.outputs().size(), print_c(offset).text);
    offset += size;
  };
  for (const FoldReduction& each : plan_.reductions) {
    if (!layout_.is_split()) break;
    scratch(compute_type(each.dtype), "part" + number(each));
    if (each.finds) scratch(place_type(), "place" + number(each));
  }
  made_.scratch = offset;
  text += "  LUMEN_ROWS(row) {\n" + item_head(chunks) + writer_->text() + "  }\n  LUMEN_RETURN;\n}\n";
  made_.text += text;
  std::vector<Expr> items = layout_.items;
  if (!chunks) items.pop_back();
  // Elements that share bytes may lie in any two tiles of columns: then one thread does them all.
  const int64_t grain = grain_of(body_) == 1 ? 1 : columns() ? int64_t{1} << 40 : grain_of(body_);
  made_.steps.push_back({name, Shape(items).numel(), grain, threads});
  made_.steps.back().walks = walks;
}

// What an item is: its coordinates, its columns, its part of the outermost loop.
std::string FoldPrinter::item_head(bool chunks) const {
  std::vector<Expr> items = layout_.items;
  if (!chunks) items.pop_back();
  std::string text = row_coordinates(Shape(items), 4);
  if (columns()) {
    text +=
        fmt::format("    const int64_t first = i{} * {};\n    const int64_t width = lumen_min_i64({}, {} - first);\n",
                    layout_.tile_number(), layout_.tile, layout_.tile, extent(layout_.column));
  }
  if (layout_.is_split() && chunks) {
    text +=
        fmt::format("    const int64_t from = i{0} * {1};\n    const int64_t to = lumen_min_i64({2}, from + {1});\n",
                    layout_.chunk_number(), print_c(layout_.chunk).text, extent(layout_.loops[0]));
  } else {
    text += fmt::format("    const int64_t from = 0, to = {};\n", extent(layout_.loops[0]));
  }
  for (const std::string& declaration : declarations_) text += "    " + declaration + "\n";
  return text;
}

Expected<KernelText> FoldPrinter::print(const std::string& name) {
  bool by_element = false;
  for (const Output& output : body_.outputs()) by_element = by_element || body_[output.value].type.shape == plan_.whole;
  for (int k = 1; k <= plan_.levels; ++k) {
    fold_level(level(k));
    if (!layout_.is_split()) continue;
    end_step(fmt::format("{}_{}", name, k), true);
    begin_step();
    const bool chunks = by_element || k < plan_.levels;
    for (const FoldReduction& each : plan_.reductions) {
      if (each.level <= k) recall(each, chunks);
    }
  }
  LUMEN_TRY(store_outputs());
  end_step(name, by_element || !layout_.is_split());
  if (!problem_.empty()) return error(problem_);
  return made_;
}

std::vector<NodeId> FoldPrinter::repeated() const {
  std::vector<NodeId> found;
  for (const NodeId id : body_.order()) {
    const auto loops = computed_.find(id);
    if (loops != computed_.end() && loops->second > 1) found.push_back(id);
  }
  return found;
}

}  // namespace lumen
