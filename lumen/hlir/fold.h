// How a reduction's start, step and finish become a Fold; for reduce.h.
#pragma once

#include <type_traits>

#include "lumen/hlir/lanes.h"
#include "lumen/ir/op.h"

namespace lumen::hlir::folding {

// Calls f.operator()<T, is_f64>() for the operand's dtype.
template <class Op, class F>
void visit(DType dtype, F&& f) {
  visit_lanes<Op::kOperands>(dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      if (dtype == DType::f64) return f.template operator()<T, true>();
    }
    f.template operator()<T, false>();
  });
}

template <class Op>
void start(DType dtype, FoldLanes accumulators, int64_t count) {
  visit_lanes<Op::kOperands>(dtype, [&]<class T>() {
    const Lane value = lane_of(Op::template start<T>(dtype));
    for (int64_t k = 0; k < count; ++k) {
      accumulators.value[k] = value;
      accumulators.extra[k] = Lane{.i = 0};
    }
  });
}

template <class Op>
void fold_along(const FoldRun& run, FoldLanes accumulator) {
  visit<Op>(run.dtype, [&]<class T, bool is_f64>() {
    T value = lane_value<T>(*accumulator.value);
    Lane extra = *accumulator.extra;
    for (int64_t k = 0; k < run.count; ++k) {
      Op::template step<T, is_f64>(value, extra, lane_value<T>(run.in[k]), run.position + k);
    }
    *accumulator.value = lane_of(value);
    *accumulator.extra = extra;
  });
}

template <class Op>
void fold_across(const FoldRun& run, FoldLanes accumulators) {
  visit<Op>(run.dtype, [&]<class T, bool is_f64>() {
    for (int64_t k = 0; k < run.count; ++k) {
      T value = lane_value<T>(accumulators.value[k]);
      Op::template step<T, is_f64>(value, accumulators.extra[k], lane_value<T>(run.in[k]), run.position);
      accumulators.value[k] = lane_of(value);
    }
  });
}

template <class Op>
void finish(DType dtype, FoldLanes accumulators, int64_t count, Lane* out) {
  visit_lanes<Op::kOperands>(dtype, [&]<class T>() {
    for (int64_t k = 0; k < count; ++k) {
      out[k] = Op::template finish<T>(dtype, lane_value<T>(accumulators.value[k]), accumulators.extra[k]);
    }
  });
  settle(Op::kGivesIndex ? DType::i64 : dtype, out, count);
}

template <class Op>
const Fold& fold() {
  static constexpr Fold kFold{Op::kNeedsElements, [](const void* op) { return static_cast<const Op*>(op)->axis; },
                              start<Op>,          fold_along<Op>,
                              fold_across<Op>,    finish<Op>};
  return kFold;
}

}  // namespace lumen::hlir::folding
