#include "lumen/codegen/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lumen/codegen/element.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/codegen/scalar.h"
#include "lumen/codegen/single_op.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

// Every part of the axis reads all indices, so there are few of them where slices are short.
constexpr int64_t kParts = 32, kPartsOfShort = 4, kShort = 16;

class ScatterPrinter {
 public:
  ScatterPrinter(const Graph& body, NodeId scatter)
      : body_(body), scatter_(scatter), in_place_(input_of_x(body, scatter)), writer_(body, 4) {
    const Node& node = body[scatter];
    axis_ = node.as<hlir::Scatter>().axis;
    mode_ = node.as<hlir::Scatter>().mode;
    dtype_ = node.type.dtype;
    shape_ = writer_.rename(node.type.shape);
    indices_ = writer_.rename(body[node.operands[1]].type.shape);
    packed_ = is_packed(dtype_);
    const bool sums = mode_ == hlir::ScatterMode::add || mode_ == hlir::ScatterMode::mul;
    carries_ = sums && rounds(dtype_);
    lay_out();
    turns_ = find_turns();
  }

  Expected<KernelText> print(const std::string& name) {
    copy();
    scatter();
    if (carries_) settle();
    if (!writer_.problem().empty()) return error(writer_.problem());
    std::string text = kernel_head(body_, name);
    if (carries_) text += "  float* LUMEN_RESTRICT carried = (float*)LUMEN_OUT(1);\n";
    text += "  LUMEN_ROWS(row) {\n" + row_coordinates(Shape(items_), 4);
    text += fmt::format("    const int64_t low = i{} * {};\n", items_.size() - 1, print_c(part_).text);
    text += fmt::format("    const int64_t high = lumen_min_i64(low + {}, {});\n", print_c(part_).text,
                        print_c(shape_[axis_]).text);
    text += writer_.text() + "  }\n  LUMEN_RETURN;\n}\n";
    const int64_t grain = packed_ ? int64_t{1} << 40 : 1;  // elements of any two items may share a byte
    const Expr scratch = carries_ ? shape_.numel() * 4 : Expr(0);
    return KernelText{text, {{name, Shape(items_).numel(), grain}}, writer_.faults(), scratch, in_place_};
  }

 private:
  // i0, i1, …: the dims before the axis, the part of the axis; then the place along it, the number of the index, and
  // the element of a slice.
  void lay_out() {
    items_.assign(shape_.begin(), shape_.begin() + axis_);
    inner_ = Shape(std::vector<Expr>(shape_.begin() + axis_ + 1, shape_.end()));
    const int64_t parts = packed_ ? 1 : bounds(inner_.numel()).hi < kShort ? kPartsOfShort : kParts;
    part_ = max(ceil_div(shape_[axis_], parts), 1);
    outer_ = Shape(items_).coordinates();
    items_.push_back(ceil_div(shape_[axis_], part_));
    const auto next = static_cast<int>(items_.size());
    along_ = Expr::index(next, shape_[axis_]);
    which_ = Expr::index(next + 1, indices_.numel());
    within_ = Expr::index(next + 2, inner_.numel());
  }

  std::vector<Expr> at(std::span<const Expr> middle, Expr within) const {
    std::vector<Expr> all = outer_;
    all.insert(all.end(), middle.begin(), middle.end());
    const std::vector<Expr> inside = unflatten(within, inner_);
    all.insert(all.end(), inside.begin(), inside.end());
    return all;
  }
  std::vector<Expr> at_place(Expr place, Expr within) const { return at({&place, 1}, within); }

  static std::string name_of(Expr variable, const char* one) {
    return variable.is_constant() ? one : fmt::format("i{}", variable.index_number());
  }

  // Two where pairs are exchanged, as keys with rope are, whose indices are divided by two: loops with divisions are no
  // vectors.
  int64_t find_turns() const {
    const std::optional<int64_t> size = inner_.numel().constant();
    if (!size || *size < 4 || *size % 2 != 0 || packed_) return 1;
    std::vector<Expr> number;
    for (int64_t k = 0; k < indices_.rank(); ++k) {
      number.push_back(Expr::index(within_.index_number() + 1 + static_cast<int>(k), indices_[k]));
    }
    const auto divisions = [&](Expr within) {
      ElementWriter writer(body_, 0);
      writer.value(body_[scatter_].operands[2], at(number, within));
      return writer.divisions();
    };
    const Expr pair = Expr::index(within_.index_number(), *size / 2);
    return divisions(within_) > 0 && divisions(pair * 2) + divisions(pair * 2 + 1) == 0 ? 2 : 1;
  }

  // The elements of a slice, so many in a turn: a GPU's thread has the same ones in all loops.
  void each_of_slice(const std::function<void(Expr within)>& element) {
    const char* const kind = packed_ ? "LUMEN_IN_ORDER" : "LUMEN_RANGE";
    const Expr count = inner_.numel() / turns_;
    const Expr turn = turns_ == 1 ? within_ : Expr::index(within_.index_number(), count);
    writer_.open_loop(fmt::format("{}({}, 0, {})", kind, name_of(turn, "c_one"), print_c(count).text), turn,
                      bounds(count).lo < 1);
    for (int64_t k = 0; k < turns_; ++k) element(turn * turns_ + k);
    writer_.close();
  }

  void each_place(const std::function<void(std::span<const Expr> place)>& element) {
    writer_.open_loop(fmt::format("for (int64_t {0} = low; {0} < high; ++{0})", name_of(along_, "k_one")), along_,
                      bounds(shape_[axis_]).lo < 1);
    each_of_slice([&](Expr within) { element(at_place(along_, within)); });
    writer_.close();
  }

  std::string load(const std::string& index) const {
    if (carries_) return fmt::format("carried[{}]", index);
    return fmt::format(fmt::runtime(packed_ ? "{}(r0, {})" : "{}(r0[{}])"), load_function(dtype_), index);
  }
  void store(const std::string& index, const std::string& value) {
    writer_.line(carries_ ? fmt::format("carried[{}] = {};", index, value) : store_statement(body_, 0, index, value));
  }

  void copy() {
    if (in_place_ && !carries_) writer_.open(fmt::format("if (LUMEN_IN({}) != LUMEN_OUT(0))", *in_place_));
    each_place([&](std::span<const Expr> place) {
      const std::string x = writer_.value(body_[scatter_].operands[0], place);
      store(writer_.index(shape_.flat_index(place)), x);
    });
    if (in_place_ && !carries_) writer_.close();
  }

  void scatter() {
    const Node& node = body_[scatter_];
    writer_.open_loop(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", name_of(which_, "w_one"),
                                  print_c(indices_.numel()).text),
                      which_, bounds(indices_.numel()).lo < 1);
    const std::vector<Expr> number = unflatten(which_, indices_);
    const std::string found = writer_.value(node.operands[1], number);
    const Expr place = writer_.checked(
        "(int64_t)" + found, shape_[axis_],
        fmt::format("[Scatter] an index is outside axis {} of {}", axis_, body_[node.operands[0]].type.str()));
    writer_.open(fmt::format("if ({0} >= low && {0} < high)", print_c(place).text));
    int turn = 0;
    each_of_slice([&](Expr within) {
      const std::string given = writer_.value(node.operands[2], at(number, within));
      const std::string index = writer_.index(shape_.flat_index(at_place(place, within)));
      const std::string old = fmt::format("old{}", turn++);
      writer_.line(fmt::format("const {} {} = {};", compute_type(dtype_), old, load(index)));
      store(index, combined(old, given));
    });
    writer_.close();
    writer_.close();
  }

  void settle() {
    each_place([&](std::span<const Expr> place) {
      const std::string index = writer_.index(shape_.flat_index(place));
      writer_.line(store_statement(body_, 0, index, load(index)));
    });
  }

  std::string combined(const std::string& old, const std::string& given) const {
    const std::string_view suffix = compute_suffix(dtype_);
    switch (mode_) {
      case hlir::ScatterMode::set:
        return given;
      case hlir::ScatterMode::add:
        return fmt::format("lumen_add_{}({}, {})", suffix, old, given);
      case hlir::ScatterMode::mul:
        return fmt::format("lumen_mul_{}({}, {})", suffix, old, given);
      case hlir::ScatterMode::max:
        return fmt::format("lumen_max_{}({}, {})", suffix, old, given);
      case hlir::ScatterMode::min:
        break;
    }
    if (!is_float(dtype_)) return fmt::format("({0} < {1} ? {0} : {1})", given, old);
    return fmt::format("(({1} == {1}) & (({0} != {0}) | ({0} < {1})) ? {0} : {1})", given, old);
  }

  const Graph& body_;
  NodeId scatter_;
  std::optional<uint32_t> in_place_;
  ElementWriter writer_;
  int64_t axis_ = 0;
  hlir::ScatterMode mode_ = hlir::ScatterMode::set;
  DType dtype_ = DType::f32;
  bool packed_ = false;
  bool carries_ = false;  // in f32, and rounded at the end
  Shape shape_, indices_, inner_;
  std::vector<Expr> items_, outer_;
  Expr part_, along_, which_, within_;
  int64_t turns_ = 1;  // elements of a slice that a loop has at a time
};

// A view that only says other dims for the same elements.
bool is_whole(const Graph& body, NodeId id) {
  const View& view = body[id].as<hlir::View>().view;
  return is_identity(view) && body[body[id].operands[0]].type.shape.numel() == view.shape().numel();
}

}  // namespace

std::optional<uint32_t> input_of_x(const Graph& body, NodeId scatter) {
  const auto readers = [&](NodeId id) {
    int64_t count = 0;
    for (const NodeId reader : body.order()) count += std::ranges::count(body[reader].operands, id);
    return count;
  };
  NodeId x = body[scatter].operands[0];
  while (readers(x) == 1 && body[x].is<hlir::View>() && is_whole(body, x)) x = body[x].operands[0];
  if (readers(x) != 1 || !body[x].is<Input>()) return std::nullopt;
  return static_cast<uint32_t>(std::ranges::find(body.inputs(), x) - body.inputs().begin());
}

Expected<NodeId> find_scatter(const Graph& body) {
  const NodeId scatter = LUMEN_TRY(find_single(body, op_def<hlir::Scatter>(), "scatter"));
  if (body.outputs().size() == 1 && body.outputs()[0].value == scatter) return scatter;
  return error("the output of a scatter kernel is its Scatter");
}

Expected<KernelText> print_scatter(const Graph& body, const std::string& name) {
  const NodeId scatter = LUMEN_TRY(find_scatter(body));
  return ScatterPrinter(body, scatter).print(name);
}

}  // namespace lumen
