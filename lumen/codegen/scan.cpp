#include "lumen/codegen/scan.h"

#include <fmt/format.h>

#include "lumen/codegen/element.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/codegen/fold_layout.h"
#include "lumen/codegen/scalar.h"
#include "lumen/codegen/single_op.h"
#include "lumen/hlir/lanes.h"
#include "lumen/hlir/scan.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr int64_t kScanBlock = 256;  // elements: they stay in the nearest cache

class ScanPrinter {
 public:
  ScanPrinter(const Graph& body, NodeId scan, FoldLayout layout)
      : body_(body), scan_(scan), layout_(std::move(layout)), writer_(body, 4) {
    const hlir::Scan& op = body[scan].as<hlir::Scan>();
    const DType dtype = body[scan].type.dtype;
    function_ = op.kind == hlir::ScanKind::sum ? "add" : op.kind == hlir::ScanKind::prod ? "mul" : "max";
    carried_ = is_float(dtype) && op.kind != hlir::ScanKind::max ? DType::f64 : dtype;
    start_ = op.kind == hlir::ScanKind::sum    ? "0"
             : op.kind == hlir::ScanKind::prod ? "1"
                                               : literal(Scalar{dtype, hlir::lowest(dtype)});
    packed_ = grain_of(body) > 1;
  }

  int divisions() const { return writer_.inner_divisions(); }

  Expected<KernelText> print(const std::string& name) {
    columns() ? scan_columns() : scan_row();
    if (!writer_.problem().empty()) return error(writer_.problem());
    std::string text = kernel_head(body_, name) + "  LUMEN_ROWS(row) {\n" + row_coordinates(Shape(layout_.items), 4);
    text += writer_.text() + "  }\n  LUMEN_RETURN;\n}\n";
    const int64_t grain = packed_ ? (columns() ? int64_t{1} << 40 : 8) : 1;
    return KernelText{text, {{name, Shape(layout_.items).numel(), grain}}, writer_.faults()};
  }

 private:
  bool columns() const { return layout_.tile != 0; }

  // What is scanned so far is known inside only, so nothing leaves a loop that has no variable.
  void open_loop(const FoldLoop& loop, const std::string& head) {
    writer_.open_loop(head, loop.variable, bounds(loop.extent).lo < 1 || loop.variable.is_constant());
  }

  // Block by block: what is elementwise before the scan and after it is done in vectors.
  void scan_row() {
    const FoldLoop& loop = layout_.loops[0];
    const auto open_block = [&](const char* head) {
      open_loop(loop, head);
      writer_.line(fmt::format("const int64_t {} = b + l;", variable(loop)));
    };
    writer_.line(fmt::format("{} carried = {};", compute_type(carried_), start_));
    writer_.open_loop(fmt::format("for (int64_t b = 0; b < {}; b += {})", print_c(loop.extent).text, kScanBlock),
                      Expr(0), bounds(loop.extent).lo < 1 || loop.variable.is_constant());
    writer_.line(
        fmt::format("const int64_t count = lumen_min_i64({}, {} - b);", kScanBlock, print_c(loop.extent).text));
    writer_.line(fmt::format("LUMEN_ROW_BUFFER({}, run, {});", compute_type(carried_), kScanBlock));
    open_block("LUMEN_ELEMENTS(l, count)");
    writer_.line(fmt::format("run[l] = {};", writer_.value(body_[scan_].operands[0], layout_.element)));
    writer_.close();
    writer_.line("LUMEN_SYNC;");
    writer_.line(fmt::format("LUMEN_ONCE carried = lumen_scan_{}_{}(run, count, carried);", function_,
                             compute_suffix(carried_)));
    writer_.line("LUMEN_SYNC;");
    open_block(packed_ ? "LUMEN_IN_ORDER(l, 0, count)" : "LUMEN_ELEMENTS(l, count)");
    store("run[l]");
    writer_.close();
    writer_.line("LUMEN_SYNC;");
    writer_.close();
  }

  void scan_columns() {
    const FoldLoop& loop = layout_.loops[0];
    const FoldLoop& column = layout_.column;
    writer_.line(fmt::format("const int64_t first = i{} * {};", layout_.tile_number(), layout_.tile));
    writer_.line(
        fmt::format("const int64_t width = lumen_min_i64({}, {} - first);", layout_.tile, print_c(column.extent).text));
    writer_.line(fmt::format("{} carried[{}];", compute_type(carried_), layout_.tile));
    writer_.line(fmt::format("{}(l, width) carried[l] = {};", packed_ ? "LUMEN_BY_ONE" : "LUMEN_ELEMENTS", start_));
    open_loop(loop, fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", variable(loop), print_c(loop.extent).text));
    open_loop(column, packed_ ? "LUMEN_IN_ORDER(l, 0, width)" : "LUMEN_ELEMENTS(l, width)");
    writer_.line(fmt::format("const int64_t {} = first + l;", variable(column)));
    advance("carried[l]");
    writer_.close();
    writer_.close();
  }

  // One element further, and the outputs there.
  void advance(const std::string& carried) {
    const std::string x = writer_.value(body_[scan_].operands[0], layout_.element);
    writer_.line(fmt::format("{0} = lumen_{1}_{2}({0}, {3});", carried, function_, compute_suffix(carried_), x));
    store(carried);
  }

  void store(const std::string& scanned) {
    const DType dtype = body_[scan_].type.dtype;
    const std::string result = is_int(dtype) ? fmt::format("{}({})", wrap_function(dtype), scanned)
                                             : fmt::format("({})({})", compute_type(dtype), scanned);
    writer_.line(fmt::format("const {} scanned = {};", compute_type(dtype), result));
    writer_.know(scan_, layout_.element, "scanned");
    const Shape shape = writer_.rename(body_[scan_].type.shape);
    for (size_t k = 0; k < body_.outputs().size(); ++k) {
      const std::string value = writer_.to_store(body_.outputs()[k].value, layout_.element);
      writer_.line(store_statement(body_, k, writer_.index(shape.flat_index(layout_.element)), value));
    }
  }

  static std::string variable(const FoldLoop& loop) {
    return loop.variable.is_constant() ? "i_one" : fmt::format("i{}", loop.variable.index_number());
  }

  const Graph& body_;
  NodeId scan_;
  FoldLayout layout_;
  ElementWriter writer_;
  std::string_view function_;
  DType carried_ = DType::f64;
  std::string start_;
  bool packed_ = false;
};

}  // namespace

Expected<KernelText> print_scan(const Graph& body, const std::string& name) {
  const NodeId scan = LUMEN_TRY(find_single(body, op_def<hlir::Scan>(), "scan"));
  LUMEN_TRY(check_output_shapes(body, "scan", body[scan].type.shape));
  FoldPlan plan;
  plan.axes = {body[scan].as<hlir::Scan>().axis};
  const Shape whole = ElementWriter(body, 0).rename(body[scan].type.shape);
  std::optional<std::pair<int, KernelText>> best;
  for (unsigned choice = 0; choice < 4; ++choice) {
    const FoldMerges merges{(choice & 1) == 0, (choice & 2) == 0, true};
    ScanPrinter printer(body, scan, lay_out_fold(plan, whole, merges, {.split_below = 0}));
    KernelText text = LUMEN_TRY(printer.print(name));
    if (!best || printer.divisions() < best->first) best.emplace(printer.divisions(), std::move(text));
    if (best->first == 0) break;
  }
  return std::move(best->second);
}

}  // namespace lumen
