// What the sources of the built-in primitives share. Internal to core/primitives.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lumen/egraph/core/primitive.h"
#include "lumen/egraph/core/typed_primitive.h"

namespace lumen::egraph {

inline constexpr int64_t kMinI64 = std::numeric_limits<int64_t>::min();

// Appends primitives over the built-in sorts: define("abs", [](double x) { ... }).
class Definer {
 public:
  Definer(const std::vector<Sort>& sorts, std::vector<Primitive>& primitives)
      : sorts_(&sorts), primitives_(&primitives) {}

  template <class F>
  void operator()(std::string name, F function) {
    primitives_->push_back(typed_primitive(std::move(name), *sorts_, std::move(function)));
  }
  void add(Primitive primitive) { primitives_->push_back(std::move(primitive)); }

  // < > <= >= as tests, min and max; `less` is a total order.
  template <class T, class Less>
  void order(Less less) {
    (*this)("<", [less](const T& a, const T& b) { return guard(less(a, b)); });
    (*this)(">", [less](const T& a, const T& b) { return guard(less(b, a)); });
    (*this)("<=", [less](const T& a, const T& b) { return guard(!less(b, a)); });
    (*this)(">=", [less](const T& a, const T& b) { return guard(!less(a, b)); });
    (*this)("min", [less](const T& a, const T& b) -> T { return less(b, a) ? b : a; });
    (*this)("max", [less](const T& a, const T& b) -> T { return less(b, a) ? a : b; });
  }
  // The comparisons that give a bool.
  template <class T>
  void bool_order() {
    (*this)("bool-=", [](const T& a, const T& b) { return a == b; });
    (*this)("bool-<", [](const T& a, const T& b) { return a < b; });
    (*this)("bool->", [](const T& a, const T& b) { return a > b; });
    (*this)("bool-<=", [](const T& a, const T& b) { return a <= b; });
    (*this)("bool->=", [](const T& a, const T& b) { return a >= b; });
  }

 private:
  const std::vector<Sort>* sorts_;
  std::vector<Primitive>* primitives_;
};

void define_any(Definer& define);
void define_string(Definer& define);
void define_bool(Definer& define);
void define_i64(Definer& define);
void define_f64(Definer& define);
void define_bigint(Definer& define);
void define_bigrat(Definer& define);
void define_rational(Definer& define);

Sort f64_sort();
Sort string_sort();
Sort rational_sort();
Sort bigint_sort();
Sort bigrat_sort();

template <class T>
Sort pooled_sort(std::string name, typename ValuePool<T>::Hash hash, typename ValuePool<T>::Printer print) {
  Sort sort;
  sort.name = std::move(name);
  sort.kind = SortKind::base;
  sort.holds_ids = false;
  sort.pool = std::make_shared<ValuePool<T>>(std::move(hash), std::move(print));
  return sort;
}

}  // namespace lumen::egraph
