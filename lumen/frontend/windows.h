// Sliding windows over the trailing dims, shared by convolution and pooling.
#pragma once

#include <string_view>
#include <vector>

#include "lumen/frontend/primitives.h"

namespace lumen {

// One value for each of `count` dims, from a list of as many or of one; each at least `least_value`.
std::vector<int64_t> per_dim(const std::vector<int64_t>& values, size_t count, std::string_view what,
                             int64_t least_value);

struct Window {
  Expr size;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  bool ceil_mode = false;

  Expr reach() const { return dilation * (size - 1) + 1; }
  // How many windows an axis of `length` holds, as PyTorch counts them: with ceil_mode a last window may run over
  // the end, but must begin inside the input or its left padding.
  Expr count(Expr length) const;
};

// x padded with `fill` and cut into windows over its last dims, one Window each: those dims become window numbers and
// the window dims follow at the end, in the same order.
Tensor windows_of(Tensor x, const std::vector<Window>& windows, Scalar fill);

}  // namespace lumen
