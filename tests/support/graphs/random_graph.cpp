#include "tests/support/graphs/random_graph.h"

#include <algorithm>
#include <random>

#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/loop.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/scan.h"
#include "lumen/hlir/select.h"
#include "lumen/hlir/sort.h"
#include "lumen/hlir/unary.h"
#include "lumen/hlir/view.h"

namespace lumen::testing {

namespace {

class Builder {
 public:
  Builder(uint64_t seed, bool exact) : random_(seed), exact_(exact) {}

  RandomGraph build() {
    n_ = graph_->dim("n", 1, 9);
    result_.dims.set("n", 1 + below(4));
    for (int64_t k = 2 + below(2); k > 0; --k) add_input();
    for (int64_t k = 8 + below(32); k > 0; --k) grow();
    graph_->add_output("last", nodes_.back()).value();
    for (int64_t k = 1 + below(4); k > 0; --k) graph_->add_output("y" + std::to_string(k), pick()).value();
    result_.graph = graph_;
    return std::move(result_);
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int64_t>(values.size())));
  }
  NodeId pick() { return nodes_[static_cast<size_t>(below(static_cast<int64_t>(nodes_.size())))]; }
  const TensorType& type(NodeId id) const { return (*graph_)[id].type; }

  template <class Op>
  void add(const Op& op, const std::vector<NodeId>& operands) {
    const Expected<NodeId> node = graph_->add(op, operands);
    if (node.ok()) nodes_.push_back(*node);
  }

  // Keeps whole numbers small.
  void shrink() {
    if (!exact_ || !is_float(type(nodes_.back()).dtype)) return;
    const NodeId x = nodes_.back();
    add(hlir::Constant{Scalar::of(type(x).dtype, 13.0)}, {});
    add(hlir::View{View(type(x).shape, 0)}, {nodes_.back()});
    add(hlir::Mod{}, {x, nodes_.back()});
  }

  void add_input() {
    const DType half = exact_ ? DType::f32 : DType::f16;
    const DType dtype =
        one_of({DType::f32, DType::f32, DType::f64, half, DType::i32, DType::i8, DType::u64, DType::bool_});
    std::vector<Expr> dims;
    for (int64_t rank = below(4); rank > 0; --rank)
      dims.push_back(one_of<Expr>({1, 2, 3, 5, n_, 2 * n_, below(8) == 0 ? 0 : 7}));
    const std::string name = "x" + std::to_string(nodes_.size());
    nodes_.push_back(graph_->add_input({name, InputKind::data, dtype, Shape(dims)}).value());
    HostTensor tensor = HostTensor::poisoned(dtype, Shape(dims).evaluate(result_.dims).value());
    for (Lane& lane : tensor.lanes) {
      const double value = below(16) == 0 ? one_of({0.0, -0.0, 1e5, -1e-7, HUGE_VAL, -HUGE_VAL, std::nan("")})
                                          : static_cast<double>(below(4000)) / 512 - 3;
      const bool whole = exact_ || !is_float(dtype);
      lane = whole ? Scalar::of(dtype, below(20) - 8).value : Scalar::of(dtype, value).value;
    }
    result_.inputs.push_back(std::move(tensor));
  }

  void grow() {
    using Step = void (Builder::*)();
    const size_t before = nodes_.size();
    (this->*one_of<Step>({&Builder::unary, &Builder::binary, &Builder::binary, &Builder::compare, &Builder::cast,
                          &Builder::reduce, &Builder::scan, &Builder::move, &Builder::move, &Builder::cut,
                          &Builder::index, &Builder::sort, &Builder::matmul, &Builder::loop}))();
    // What is between may be large, so only the last is there to go on with.
    if (exact_ && nodes_.size() > before + 1) {
      nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(before), nodes_.end() - 1);
    }
  }

  void unary() {
    using namespace hlir;
    const NodeId x = pick();
    if (exact_) return add(Floor{}, {x});
    switch (below(5)) {
      case 0:
        return add(Tanh{}, {x});
      case 1:
        return add(Recip{}, {x});
      case 2:
        return add(Floor{}, {x});
      case 3:
        return add(Sin{}, {x});
      default:
        return add(Sqrt{}, {x});
    }
  }

  // A value of the type: another node, or `id` itself.
  NodeId like(NodeId id) {
    for (int tries = 0; tries < 8; ++tries) {
      const NodeId other = pick();
      if (type(other) == type(id)) return other;
    }
    return id;
  }

  void binary() {
    using namespace hlir;
    const NodeId a = pick();
    const NodeId b = like(a);
    switch (below(5)) {
      case 0:
        add(Add{}, {a, b});
        return shrink();
      case 1:
        add(Mul{}, {a, b});
        return shrink();
      case 2:
        return add(Maximum{}, {a, b});
      case 3:
        return add(BitXor{}, {a, b});
      default:
        if (exact_ && is_float(type(a).dtype)) return;
        return is_float(type(a).dtype) ? add(Div{}, {a, b}) : add(Shift{ShiftDirection::right}, {a, b});
    }
  }

  void compare() {
    const NodeId a = pick();
    const NodeId b = like(a);
    add(hlir::LessThan{}, {a, b});
    const NodeId condition = nodes_.back();
    add(hlir::Select{}, {condition, a, like(a)});
  }

  void cast() {
    const DType narrow = exact_ ? DType::f32 : DType::bf16;
    add(hlir::Cast{one_of({DType::f32, DType::f64, DType::i32, DType::u8, DType::bool_, narrow})}, {pick()});
    shrink();
  }

  int64_t axis_of(NodeId id) { return below(std::max<int64_t>(1, type(id).shape.rank())); }

  void reduce() {
    fold(pick());
    while (below(2) == 0) fold(nodes_.back());
    shrink();
  }

  void fold(NodeId x) {
    using namespace hlir;
    const int64_t axis = axis_of(x);
    const bool empty =
        type(x).shape.rank() > 0 && type(x).shape[axis] == Expr(0);  // the largest of nothing is infinite
    switch (exact_ && empty ? 0 : below(exact_ && is_float(type(x).dtype) ? 2 : 4)) {
      case 0:
        return add(SumReduce{axis}, {x});
      case 1:
        return add(MaxReduce{axis}, {x});
      case 2:
        return add(ProdReduce{axis}, {x});
      default:
        return add(ArgMax{axis}, {x});
    }
  }

  void scan() {
    const NodeId x = pick();
    add(hlir::Scan{axis_of(x), one_of({hlir::ScanKind::sum, hlir::ScanKind::max})}, {x});
    shrink();
  }

  // What lies beyond a slanted line is filled.
  void cut() {
    const NodeId x = pick();
    const Shape shape = type(x).shape;
    const std::vector<Expr> at = shape.coordinates();
    Expr condition = below(9) - 4;
    for (const Expr coordinate : at) condition += (below(7) - 3) * coordinate;
    add(hlir::View{View(shape, shape.flat_index(at), ge(condition, 0), Scalar::of(type(x).dtype, 1.0))}, {x});
  }

  void move() {
    const NodeId x = pick();
    View view = View::identity(type(x).shape);
    for (int64_t k = 1 + below(3); k > 0; --k) view = moved(view, type(x).dtype);
    add(hlir::View{view}, {x});
  }

  View moved(View view, DType dtype) {
    const Shape shape = view.shape();
    if (shape.rank() == 0) return expand(view, Shape{3});
    const int64_t axis = below(shape.rank());
    const Expr size = shape[axis];
    switch (below(7)) {
      case 0: {
        std::vector<int64_t> order;
        for (int64_t k = 0; k < shape.rank(); ++k) order.insert(order.begin() + below(k + 1), k);
        return permute(view, order);
      }
      case 1:
        return flip(view, axis);
      case 2:
        return roll(view, axis, size == Expr(0) ? Expr(0) : Expr(1));
      case 3:
        return repeat(view, axis, 2);
      case 4:
        return pad(view, axis, below(3), below(3), Scalar::of(dtype, 1.0)).value_or(view);
      case 5:
        return size == Expr(0) ? view : slice(view, axis, 0, ceil_div(size, 2), 1);
      default:
        return shape.rank() < 4 ? reshape(view, Shape{shape.numel()}) : view;
    }
  }

  // Indices that are always inside: an iota modulo the size.
  void index() {
    const NodeId x = pick();
    if (type(x).shape.rank() == 0) return;
    const int64_t axis = axis_of(x);
    const Expr size = type(x).shape[axis];
    const Shape shape{2, 3};
    const std::vector<Expr> at = shape.coordinates();
    if (size == Expr(0)) return;
    add(hlir::Iota{shape, (at[0] * 5 + at[1] * at[1]) % size, DType::i64}, {});
    const NodeId indices = nodes_.back();
    add(hlir::Gather{axis}, {x, indices});
    const NodeId source = nodes_.back();
    add(hlir::Scatter{axis, one_of({hlir::ScatterMode::set, hlir::ScatterMode::add, hlir::ScatterMode::min})},
        {x, indices, source});
    shrink();
  }

  void sort() {
    const NodeId x = pick();
    add(hlir::Sort{axis_of(x), below(2) == 0}, {x});
  }

  // x @ x', as views, a product and a sum.
  void matmul() {
    const NodeId x = pick();
    const Shape shape = type(x).shape;
    if (shape.rank() != 2) return;
    const Shape cube{shape[0], shape[0], shape[1]};
    const std::vector<Expr> at = cube.coordinates();
    add(hlir::View{View(cube, at[0] * shape[1] + at[2])}, {x});
    const NodeId left = nodes_.back();
    add(hlir::View{View(cube, at[1] * shape[1] + at[2])}, {x});
    add(hlir::Mul{}, {left, nodes_.back()});
    add(hlir::SumReduce{2}, {nodes_.back()});
    shrink();
  }

  // Running sums along the leading dim, and the last of them.
  void loop() {
    const NodeId x = pick();
    const TensorType whole = type(x);
    if (whole.shape.rank() == 0 || is_bool(whole.dtype) || (exact_ && is_float(whole.dtype))) return;
    const Shape part(std::vector<Expr>(whole.shape.begin() + 1, whole.shape.end()));
    auto body = std::make_shared<Graph>();
    body->dim("n", 1, 9);
    const NodeId c = body->add_input({"c", InputKind::data, whole.dtype, part}).value();
    const NodeId slice = body->add_input({"slice", InputKind::data, whole.dtype, part}).value();
    const NodeId sum = body->add(hlir::Add{}, std::vector{c, slice}).value();
    body->add_output("c", sum).value();
    body->add_output("all", body->add(hlir::Mul{}, std::vector{sum, slice}).value()).value();
    const Body adopted = graph_->adopt(body);
    add(hlir::MaxReduce{0}, {x});
    const std::vector<NodeId> operands{nodes_.back(), x};
    add(hlir::Loop{whole.shape[0], 1, 1, 0, adopted}, operands);
    add(hlir::Loop{whole.shape[0], 1, 1, 1, adopted}, operands);
  }

  std::mt19937_64 random_;
  bool exact_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  Expr n_;
  std::vector<NodeId> nodes_;
  RandomGraph result_;
};

}  // namespace

RandomGraph make_random_graph(uint64_t seed) { return Builder(seed, false).build(); }
RandomGraph make_exact_graph(uint64_t seed) { return Builder(seed, true).build(); }

}  // namespace lumen::testing
