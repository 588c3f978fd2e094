// How the frontend makes nodes. Errors leave as lumen::Error and name the function the user called and the place of
// the call: `[matmul] inner dims 3 and 4 differ: f32[2,3] @ f32[4,5] (app.cpp:12)`.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

// Throws Error with the name and place of the outermost Call. A Diag of an op's inference loses its own "[op] ".
[[noreturn]] void fail(const std::string& message);
[[noreturn]] void fail_inference(Diag diag);

// Stands at the start of every public function. The outermost one on the thread names what the user called.
class Call {
 public:
  Call(std::string_view function, const SourceLocation& where);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // "[matmul] message (app.cpp:12)"; the message itself when no function runs.
  static std::string describe(std::string_view message);

 private:
  std::string_view function_;
  SourceLocation where_;
  const Call* outer_;
};

template <class T>
T unwrap(Expected<T> result) {
  if (!result.ok()) fail_inference(std::move(result).take_diag());
  return std::move(result).value();
}

// The op applied to at least one operand, all of one graph.
template <class Op>
Tensor emit(const Op& op, std::initializer_list<Tensor> operands);
// A leaf.
template <class Op>
Tensor emit(Graph& g, const Op& op) {
  return {&g, unwrap(g.add(op, {}))};
}

// The view through which x reads `source`; x itself through the identity when x is no View.
struct Seen {
  Tensor source;
  View view;
};
Seen see(Tensor x);
// `source` read through `view`; the source itself when the view changes nothing.
Tensor look(Tensor source, View view);
// x read through `outer`: one View when composing can, else two.
Tensor look_through(Tensor x, View outer);

// x moved by `change`, a function of View to View that acts on what x reads.
template <class Change>
Tensor moved(Tensor x, Change change) {
  const Seen seen = see(x);
  return look(seen.source, change(seen.view));
}

// 0 <= axis < rank of x (+ extra, for a dim about to be inserted); negative axes count from the end.
int64_t checked_axis(Tensor x, int64_t axis, int64_t extra = 0);
// Checked and sorted; fails on an axis given twice. None means all. A scalar has the axis 0, as in PyTorch, but there
// is nothing in it to go along: the result is empty.
std::vector<int64_t> checked_axes(Tensor x, const std::vector<int64_t>& axes);

// Whether a condition is known to hold (to fail) for every value of its dims.
inline bool proven(Expr condition) { return condition == Expr(1); }
inline bool refuted(Expr condition) { return condition == Expr(0); }

// The shape with dim `axis` replaced, inserted or removed.
Shape with_dim(const Shape& shape, int64_t axis, Expr size);
Shape with_inserted(const Shape& shape, int64_t axis, Expr size);
Shape without(const Shape& shape, int64_t axis);

namespace detail {
Graph& common_graph(std::initializer_list<Tensor> operands);
}

template <class Op>
Tensor emit(const Op& op, std::initializer_list<Tensor> operands) {
  Graph& g = detail::common_graph(operands);
  std::vector<NodeId> ids;
  for (const Tensor& x : operands) ids.push_back(x.id);
  return {&g, unwrap(g.add(op, ids))};
}

}  // namespace lumen
