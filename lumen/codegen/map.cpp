#include "lumen/codegen/map.h"

#include <fmt/format.h>

#include <optional>

#include "lumen/codegen/element.h"
#include "lumen/codegen/scalar.h"

namespace lumen {

namespace {

// The loops over the elements: the dims before `split` make up the rows, those from there on are one inner loop.
class MapPrinter {
 public:
  MapPrinter(const Graph& body, int64_t split) : body_(body), writer_(body, 6) {
    shape_ = writer_.rename(body[body.outputs()[0].value].type.shape);
    outer_.assign(shape_.begin(), shape_.begin() + split);
    const Shape inner(std::vector<Expr>(shape_.begin() + split, shape_.end()));
    inner_ = inner.numel();
    std::vector<Expr> at = Shape(outer_).coordinates();
    const std::vector<Expr> within = unflatten(Expr::index(static_cast<int>(outer_.size()), inner_), inner);
    at.insert(at.end(), within.begin(), within.end());
    for (size_t k = 0; k < body.outputs().size(); ++k) store(k, at);
  }

  int divisions() const { return writer_.divisions(); }
  const std::string& problem() const { return writer_.problem(); }
  KernelText print(const std::string& name) {
    // Without outer dims the elements themselves are the rows.
    const bool flat = outer_.empty();
    std::string text = kernel_head(body_, name);
    text += flat ? "  {\n" : "  LUMEN_ROWS(row) {\n" + row_coordinates(Shape(outer_), 4);
    const std::string i = "i" + std::to_string(outer_.size());
    const std::string loop = flat ? fmt::format("LUMEN_ELEMENT_ROWS({})", i)
                                  : fmt::format("LUMEN_ELEMENTS({}, {})", i, print_c(inner_).text);
    text += fmt::format("    {} {{\n{}    }}\n  }}\n  LUMEN_RETURN;\n}}\n", loop, writer_.text());
    return {text, {{name, flat ? inner_ : Shape(outer_).numel(), grain_of(body_)}}, writer_.faults()};
  }

 private:
  void store(size_t k, std::span<const Expr> at) {
    const NodeId id = body_.outputs()[k].value;
    const std::string value = writer_.value(id, at);
    writer_.line(store_statement(body_, k, writer_.index(shape_.flat_index(at)), value));
  }

  const Graph& body_;
  ElementWriter writer_;
  Shape shape_;
  std::vector<Expr> outer_;
  Expr inner_;
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
  // The longest inner loop whose indices divide least.
  std::optional<MapPrinter> best;
  for (int64_t split = 0; split == 0 || split < shape.rank(); ++split) {
    MapPrinter printer(body, split);
    if (!printer.problem().empty()) return error(printer.problem());
    if (!best || printer.divisions() < best->divisions()) best.emplace(std::move(printer));
    if (best->divisions() == 0) break;
  }
  return best->print(name);
}

}  // namespace lumen
