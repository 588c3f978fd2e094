#include "lumen/codegen/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lumen/codegen/element.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/codegen/scalar.h"
#include "lumen/hlir/lanes.h"
#include "lumen/hlir/reduce.h"

namespace lumen {

namespace {

// A reduction, as the prelude does it.
struct Folding {
  std::string_view function;
  std::string start;
};

std::optional<int64_t> axis_of(const Node& node) {
  if (node.is<hlir::SumReduce>()) return node.as<hlir::SumReduce>().axis;
  if (node.is<hlir::MaxReduce>()) return node.as<hlir::MaxReduce>().axis;
  if (node.is<hlir::ProdReduce>()) return node.as<hlir::ProdReduce>().axis;
  if (node.is<hlir::ArgMax>()) return node.as<hlir::ArgMax>().axis;
  return std::nullopt;
}

std::string lowest_of(DType dtype) { return literal(Scalar{dtype, hlir::lowest(dtype)}); }

Folding folding_of(const Node& node, DType dtype) {
  if (node.is<hlir::SumReduce>()) return {"add", "0"};
  if (node.is<hlir::ProdReduce>()) return {"mul", "1"};
  return {"max", lowest_of(dtype)};
}

class FoldPrinter {
 public:
  explicit FoldPrinter(const Graph& body) : body_(body), writer_(body, 4) {}

  Expected<KernelText> print(const std::string& name) {
    LUMEN_TRY(find_rows());
    for (const auto& [level, reductions] : by_level()) fold_level(reductions);
    LUMEN_TRY(store_outputs());
    if (!writer_.problem().empty()) return error(writer_.problem());
    std::string text = kernel_head(body_, name) + "  LUMEN_ROWS(row) {\n" + row_coordinates(rows_, 4);
    text += writer_.text() + "  }\n  LUMEN_RETURN;\n}\n";
    return KernelText{text, {{name, rows_.numel(), grain_of(body_)}}, writer_.faults()};
  }

 private:
  Expected<void> find_rows() {
    for (const NodeId id : body_.order()) {
      const std::optional<int64_t> axis = axis_of(body_[id]);
      if (!axis) continue;
      const Shape whole = body_[body_[id].operands[0]].type.shape;
      if (reductions_.empty()) {
        whole_ = whole;
        axis_ = *axis;
      } else if (!(whole == whole_) || *axis != axis_) {
        return error(
            fmt::format("the reductions of a fold kernel are over the same rows, but these are over axis {} of {} "
                        "and axis {} of {}",
                        axis_, whole_.str(), *axis, whole.str()));
      }
      reductions_.push_back(id);
    }
    if (reductions_.empty()) return error("a fold kernel without a reduction");
    rows_ = writer_.rename(body_[reductions_[0]].type.shape);
    length_ = writer_.rename(whole_[axis_]);
    row_ = rows_.coordinates();
    element_ = row_;
    element_.insert(element_.begin() + axis_, Expr::index(static_cast<int>(rows_.rank()), length_));
    return {};
  }

  // By how many reductions one needs before it.
  std::map<int, std::vector<NodeId>> by_level() const {
    std::map<int, std::vector<NodeId>> levels;
    std::map<NodeId, int> depth;
    for (const NodeId id : body_.order()) {
      int deepest = 0;
      for (const NodeId operand : body_[id].operands) deepest = std::max(deepest, depth[operand]);
      const bool reduces = std::find(reductions_.begin(), reductions_.end(), id) != reductions_.end();
      depth[id] = deepest + (reduces ? 1 : 0);
      if (reduces) levels[depth[id]].push_back(id);
    }
    return levels;
  }

  std::string loop(std::string_view kind, std::string_view clauses) {
    const std::string i = "i" + std::to_string(rows_.rank());
    const std::string count = writer_.index(length_);
    return clauses.empty() ? fmt::format("{}({}, {})", kind, i, count)
                           : fmt::format("{}({}, {}, {})", kind, i, count, clauses);
  }

  // One loop that does several reductions, which do not need each other; a second one for positions of maxima.
  void fold_level(const std::vector<NodeId>& reductions) {
    std::vector<std::string> accumulators;
    std::string clauses = "reduction(max : fault)";
    for (const NodeId id : reductions) {
      const DType dtype = body_[body_[id].operands[0]].type.dtype;
      const Folding folding = folding_of(body_[id], dtype);
      accumulators.push_back(fmt::format("s{}", count_++));
      writer_.line(fmt::format("{} {} = {};", compute_type(dtype), accumulators.back(), folding.start));
      clauses += fmt::format(" reduction({} : {})", reduction_of(folding.function, dtype), accumulators.back());
    }
    writer_.open(loop("LUMEN_FOLD", clauses));
    for (size_t k = 0; k < reductions.size(); ++k) {
      const NodeId operand = body_[reductions[k]].operands[0];
      const DType dtype = body_[operand].type.dtype;
      const std::string value = writer_.value(operand, element_);
      writer_.line(fmt::format("{0} = lumen_{1}_{2}({0}, {3});", accumulators[k],
                               folding_of(body_[reductions[k]], dtype).function, compute_suffix(dtype), value));
    }
    writer_.close();
    for (size_t k = 0; k < reductions.size(); ++k) finish(reductions[k], accumulators[k]);
  }

  static std::string reduction_of(std::string_view function, DType dtype) {
    if (is_bool(dtype)) return "|";  // the only one there is for bools is the largest
    return fmt::format("lumen_{}_{}", function, compute_suffix(dtype));
  }

  void finish(NodeId id, const std::string& accumulator) {
    const Node& node = body_[id];
    const DType dtype = body_[node.operands[0]].type.dtype;
    std::string value = combined(folding_of(node, dtype).function, dtype, accumulator);
    const std::string name = fmt::format("t{}", count_++);
    if (!is_float(dtype) && !is_bool(dtype)) value = fmt::format("{}({})", wrap_function(dtype), value);
    writer_.line(fmt::format("const {} {} = {};", compute_type(dtype), name, value));
    if (node.is<hlir::ArgMax>()) {
      writer_.know(id, row_, position_of(node.operands[0], name));
    } else {
      writer_.know(id, row_, name);
    }
  }

  // Bools take the way of 32-bit numbers through a block's threads.
  static std::string combined(std::string_view function, DType dtype, const std::string& x) {
    if (is_bool(dtype)) return fmt::format("(uint8_t)LUMEN_COMBINE({}_u32, (uint32_t){})", function, x);
    return fmt::format("LUMEN_COMBINE({}_{}, {})", function, compute_suffix(dtype), x);
  }

  // The first place where the largest element is; a NaN is the largest. As the largest of the negated places.
  std::string position_of(NodeId operand, const std::string& largest) {
    const std::string place = fmt::format("s{}", count_++);
    const std::string i = "i" + std::to_string(rows_.rank());
    writer_.line(fmt::format("int64_t {} = {};", place, lowest_of(DType::i64)));
    writer_.open(loop("LUMEN_FOLD", fmt::format("reduction(max : fault) reduction(lumen_max_i64 : {})", place)));
    const std::string x = writer_.value(operand, element_);
    const std::string same = is_float(body_[operand].type.dtype)
                                 ? fmt::format("({0} == {1}) | (({0} != {0}) & ({1} != {1}))", x, largest)
                                 : fmt::format("{} == {}", x, largest);
    writer_.line(fmt::format("{0} = lumen_max_i64({0}, ({1}) ? -{2} : {3});", place, same, i, lowest_of(DType::i64)));
    writer_.close();
    const std::string name = fmt::format("t{}", count_++);
    writer_.line(fmt::format("const int64_t {} = -{};", name, combined("max", DType::i64, place)));
    return name;
  }

  Expected<void> store_outputs() {
    std::vector<size_t> by_element;
    for (size_t k = 0; k < body_.outputs().size(); ++k) {
      const Shape shape = writer_.rename(body_[body_.outputs()[k].value].type.shape);
      if (shape == rows_) {
        const std::string value = writer_.value(body_.outputs()[k].value, row_);
        writer_.line("LUMEN_ONCE " + store_statement(body_, k, writer_.index(rows_.flat_index(row_)), value));
      } else if (shape == writer_.rename(whole_)) {
        by_element.push_back(k);
      } else {
        return error(fmt::format("an output of a fold kernel is {} or {}, but this is {}",
                                 body_[reductions_[0]].type.shape.str(), whole_.str(),
                                 body_[body_.outputs()[k].value].type.shape.str()));
      }
    }
    if (by_element.empty()) return {};
    writer_.open(loop("LUMEN_ELEMENTS", ""));
    for (const size_t k : by_element) {
      const std::string value = writer_.value(body_.outputs()[k].value, element_);
      writer_.line(store_statement(body_, k, writer_.index(writer_.rename(whole_).flat_index(element_)), value));
    }
    writer_.close();
    return {};
  }

  const Graph& body_;
  ElementWriter writer_;
  std::vector<NodeId> reductions_;
  Shape whole_;  // what is reduced, and along which axis
  int64_t axis_ = 0;
  Shape rows_;
  Expr length_;
  std::vector<Expr> row_, element_;  // coordinates
  int count_ = 0;
};

}  // namespace

Expected<KernelText> print_fold(const Graph& body, const std::string& name) { return FoldPrinter(body).print(name); }

}  // namespace lumen
