// Random chains of movement ops, kept twice: as one View and as plainly materialised tensors, one per assignment of
// values to the symbolic dims.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "lumen/ir/view.h"

namespace lumen {

// For GoogleTest, which finds them by argument type.
inline void PrintTo(const Expr& e, std::ostream* out) { *out << e.str(); }
inline void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.str(); }
inline void PrintTo(const View& v, std::ostream* out) { *out << v.str(); }

}  // namespace lumen

namespace lumen::testing {

inline const Expr kB = Expr::dim("b", 1, 64);
inline const Expr kS = Expr::dim("s", 1, 8192);

// The same numbers on every machine and library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // lo <= result <= hi
  int64_t in(int64_t lo, int64_t hi) { return lo + static_cast<int64_t>(next() % static_cast<uint64_t>(hi - lo + 1)); }
  bool chance(int percent) { return in(0, 99) < percent; }

 private:
  uint64_t state_;
};

inline constexpr int64_t kFillMark = -7;
inline constexpr int64_t kPoison = INT64_MIN;
Scalar fill_mark();

// A dense row-major tensor of source positions (or kFillMark).
struct Dense {
  std::vector<int64_t> dims;
  std::vector<int64_t> data;

  static Dense positions(std::vector<int64_t> dims);  // element k is k
  static Dense poisoned(std::vector<int64_t> dims);
};

// What `v` reads, element by element; kFillMark where the guard is 0.
Dense materialise(View v, const DimValues& values);
// Element x of the result is inner's element outer(x).
Dense read_through(View outer, const Dense& inner, const DimValues& values);

enum class Moves { affine, unguarded, all };  // affine: permute, reshape, expand, slice

class Chain {
 public:
  // A source of random shape; symbolic ones mix dims and constants, checked under three assignments of the dims.
  Chain(Random& random, bool symbolic);
  // The same source shape and assignments as the result of `before`: a chain that can be composed onto it.
  static Chain onto(const Chain& before);
  // One random move, applied to the view and to each tensor. Some draws find nothing to do.
  void step(Random& random, Moves moves);

  View view() const { return view_; }
  Shape source() const { return source_; }
  const std::vector<DimValues>& assignments() const { return assignments_; }
  const std::vector<Dense>& tensors() const { return tensors_; }
  const std::string& log() const { return log_; }

 private:
  Chain() = default;
  void take(View next, std::string what);
  // The smallest value of e over the assignments.
  int64_t least(Expr e) const;
  bool is_affordable(Shape shape) const;
  void permute_step(Random&);
  void reshape_step(Random&);
  void expand_step(Random&);
  void slice_step(Random&);
  void pad_step(Random&);
  void flip_step(Random&);
  void roll_step(Random&);
  void repeat_step(Random&);
  void unfold_step(Random&);
  void diagonal_step(Random&);
  template <class At>
  void rebuild(Shape to, At at);

  Shape source_;
  View view_;
  std::vector<DimValues> assignments_;
  std::vector<Dense> tensors_;
  std::string log_;
};

}  // namespace lumen::testing
