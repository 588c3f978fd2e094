#include "lumen/codegen/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lumen/codegen/element.h"
#include "lumen/codegen/map_tile.h"
#include "lumen/codegen/scalar.h"
#include "lumen/codegen/wide_store.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kFewMapRows = 64;
constexpr int64_t kChunk = 16384;  // elements of an inner loop, where there are few rows for the threads
// Of a block: 64 Mi elements of f32 take 126 us, by 256 threads 126 to 130, by 512 129 to 134.
constexpr int kMapThreads = 128;
constexpr int kFullBlocks = 2048 / kMapThreads;
constexpr int64_t kManyElements = 4 << 20;

class MapPrinter {
 public:
  // `chunk`: elements of the inner loop that are a row; 0: all.
  MapPrinter(const Graph& body, const MapLoops& loops, bool packed, const MapSchedule& schedule, int64_t chunk)
      : body_(body),
        loops_(loops),
        writer_(body, loops.outer.rank() == 0 ? 2 : 4),
        packed_(packed),
        schedule_(schedule),
        chunk_(chunk),
        width_(group_width(body, loops.inner.numel())) {
    const Expr inner = loops.inner.numel();
    std::vector<Expr> variables = loops.variables();
    if (chunk_ > 0) variables.back() = Expr::index(static_cast<int>(variables.size()), inner);  // after the chunk
    const std::vector<Expr> at = loops.at(variables);
    const Expr flat = writer_.rename(body[body.outputs()[0].value].type.shape).flat_index(at);
    const bool may_be_empty = bounds(inner).lo < 1;
    if (packed_) {
      writer_.open_loop(fmt::format("LUMEN_ORDERED_ROWS({})", name()), variables.back(), may_be_empty);
      for (size_t k = 0; k < body.outputs().size(); ++k) {
        writer_.line(store_statement(body_, k, writer_.index(flat), writer_.to_store(body_.outputs()[k].value, at)));
      }
      writer_.close();
      return;
    }
    WideStore stores(writer_, body, variables.back(), name(), width_);
    std::vector<size_t> outputs;
    for (size_t k = 0; k < body.outputs().size(); ++k) outputs.push_back(k);
    stores.open(loop_head(), may_be_empty, outputs);
    for (const size_t k : outputs) stores.store(k, flat, writer_.to_store(body_.outputs()[k].value, at));
    stores.close();
  }

  int divisions() const { return writer_.inner_divisions(); }
  const std::string& problem() const { return writer_.problem(); }
  const MapLoops& loops() const { return loops_; }
  int64_t piece() const { return kMapThreads * width_; }
  const std::vector<ElementWriter::Read>& reads() const { return writer_.reads(); }

  KernelText print(const std::string& name) {
    const bool flat = loops_.outer.rank() == 0;
    std::vector<Expr> rows(loops_.outer.begin(), loops_.outer.end());
    if (chunk_ > 0) rows.push_back(ceil_div(loops_.inner.numel(), chunk_));
    std::string text = kernel_head(body_, name, kMapThreads, schedule_.full ? kFullBlocks : 1, !schedule_.pieces);
    if (!flat) {
      text += fmt::format("  {}(row) {{\n", schedule_.pieces ? "LUMEN_ONE_ROW" : "LUMEN_ROWS") +
              row_coordinates(Shape(rows), 4);
    }
    text += writer_.text() + (flat ? "" : "  }\n") + "  LUMEN_RETURN;\n}\n";
    KernelStep step{name, flat ? loops_.inner.numel() : Shape(rows).numel(), grain_of(body_)};
    step.threads = kMapThreads;
    if (flat) step.block_rows = packed_ ? kMapThreads * 8 : piece();
    step.walks = !schedule_.pieces;
    return {text, {step}, writer_.faults()};
  }

 private:
  // Of the inner loop's variable.
  std::string name() const { return fmt::format("i{}", loops_.outer.rank() + (chunk_ > 0 ? 1 : 0)); }

  // Without outer dims the elements themselves are the rows.
  std::string loop_head() const {
    const auto groups = [&](const char* one, const char* many) {
      return fmt::format("{}({}, {}", schedule_.pieces ? one : many, name(), width_);
    };
    if (loops_.outer.rank() == 0) return groups("LUMEN_ONE_ROW_GROUP", "LUMEN_ROW_GROUPS") + ")";
    const std::string count = print_c(loops_.inner.numel()).text;
    const std::string head = groups("LUMEN_ONE_GROUP", "LUMEN_GROUPS");
    if (chunk_ == 0) return fmt::format("{}, 0, {})", head, count);
    return fmt::format("{0}, i{1} * {2}, lumen_min_i64(i{1} * {2} + {2}, {3}))", head, loops_.outer.rank(), chunk_,
                       count);
  }

  const Graph& body_;
  MapLoops loops_;
  ElementWriter writer_;
  bool packed_;  // elements share bytes
  MapSchedule schedule_;
  int64_t chunk_;
  int64_t width_;
};

}  // namespace

Expected<KernelText> print_map(const Graph& body, const std::string& name, const MapSchedule& schedule) {
  if (body.outputs().empty()) return error("a map kernel without outputs");
  const Shape shape = body[body.outputs()[0].value].type.shape;
  for (const Output& output : body.outputs()) {
    if (body[output.value].type.shape == shape) continue;
    return error(fmt::format("the outputs of a map kernel have one shape, but these are {} and {}", shape.str(),
                             body[output.value].type.shape.str()));
  }
  const bool packed = grain_of(body) > 1;
  const Shape renamed = ElementWriter(body, 0).rename(shape);
  // The longest inner loop whose indices divide least.
  std::optional<MapPrinter> best;
  for (int64_t split = 0; split == 0 || (split < shape.rank() && !packed); ++split) {
    MapPrinter printer(body, MapLoops(renamed, split), packed, schedule, 0);
    if (!printer.problem().empty()) return error(printer.problem());
    if (!best || printer.divisions() < best->divisions()) best.emplace(std::move(printer));
    if (best->divisions() == 0) break;
  }
  const auto tiling = packed ? std::nullopt : find_tiling(body, best->loops(), best->reads());
  if (tiling && schedule.full) return error("a map in tiles has the registers it needs");
  if (tiling) return print_tiled_map(body, best->loops(), *tiling, name);
  const MapLoops& loops = best->loops();
  const int64_t longest = loops.outer.rank() > 0 ? bounds(loops.inner.numel()).hi : 0;
  const bool few = bounds(loops.outer.numel()).hi < kFewMapRows;
  int64_t chunk = 0;
  if (schedule.pieces && longest > best->piece()) chunk = best->piece();
  if (!schedule.pieces && few && longest >= 2 * kChunk) chunk = kChunk;
  if (chunk > 0) return MapPrinter(body, loops, packed, schedule, chunk).print(name);
  return best->print(name);
}

Expected<KernelText> print_cuda_full_map(const Graph& body, const std::string& name) {
  if (!body.outputs().empty() && bounds(body[body.outputs()[0].value].type.shape.numel()).lo < kManyElements) {
    return error("the elements of this map are few");
  }
  return print_map(body, name, {.pieces = true, .full = true});
}

}  // namespace lumen
