#include "lumen/codegen/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lumen/codegen/element.h"
#include "lumen/codegen/map_tile.h"
#include "lumen/codegen/scalar.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

class MapPrinter {
 public:
  MapPrinter(const Graph& body, const MapLoops& loops, bool packed)
      : body_(body), loops_(loops), writer_(body, loops.outer.rank() == 0 ? 2 : 4), packed_(packed) {
    const std::vector<Expr> variables = loops.variables();
    const std::vector<Expr> at = loops.at(variables);
    const Shape shape = writer_.rename(body[body.outputs()[0].value].type.shape);
    writer_.open_loop(loop_head(), variables.back(), bounds(loops.inner.numel()).lo < 1);
    for (size_t k = 0; k < body.outputs().size(); ++k) {
      const std::string value = writer_.value(body_.outputs()[k].value, at);
      writer_.line(store_statement(body_, k, writer_.index(shape.flat_index(at)), value));
    }
    writer_.close();
  }

  int divisions() const { return writer_.inner_divisions(); }
  const std::string& problem() const { return writer_.problem(); }
  const MapLoops& loops() const { return loops_; }
  const std::vector<ElementWriter::Read>& reads() const { return writer_.reads(); }

  KernelText print(const std::string& name) {
    const bool flat = loops_.outer.rank() == 0;
    std::string text = kernel_head(body_, name);
    if (!flat) text += "  LUMEN_ROWS(row) {\n" + row_coordinates(loops_.outer, 4);
    text += writer_.text() + (flat ? "" : "  }\n") + "  LUMEN_RETURN;\n}\n";
    return {text, {{name, flat ? loops_.inner.numel() : loops_.outer.numel(), grain_of(body_)}}, writer_.faults()};
  }

 private:
  // Without outer dims the elements themselves are the rows.
  std::string loop_head() const {
    const std::string i = "i" + std::to_string(loops_.outer.rank());
    if (loops_.outer.rank() == 0)
      return fmt::format("{}({})", packed_ ? "LUMEN_ORDERED_ROWS" : "LUMEN_ELEMENT_ROWS", i);
    return fmt::format("LUMEN_ELEMENTS({}, {})", i, print_c(loops_.inner.numel()).text);
  }

  const Graph& body_;
  MapLoops loops_;
  ElementWriter writer_;
  bool packed_;  // elements share bytes
};

}  // namespace

Expected<KernelText> print_map(const Graph& body, const std::string& name) {
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
    MapPrinter printer(body, MapLoops(renamed, split), packed);
    if (!printer.problem().empty()) return error(printer.problem());
    if (!best || printer.divisions() < best->divisions()) best.emplace(std::move(printer));
    if (best->divisions() == 0) break;
  }
  const auto tiling = packed ? std::nullopt : find_tiling(body, best->loops(), best->reads());
  if (tiling) return print_tiled_map(body, best->loops(), *tiling, name);
  return best->print(name);
}

}  // namespace lumen
