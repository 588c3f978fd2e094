// Convolution and pooling over the trailing 1, 2 or 3 dims of [batch, channels, …].
#pragma once

#include <optional>
#include <vector>

#include "lumen/frontend/reduction.h"

namespace lumen {

// One entry per spatial dim, or a single one for all.
struct ConvOptions {
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;
};
// weight: [out, in/groups, kernel…]
Tensor conv1d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias = {},
              const ConvOptions& options = {});
Tensor conv2d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias = {},
              const ConvOptions& options = {});
Tensor conv3d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias = {},
              const ConvOptions& options = {});
// weight: [in, out/groups, kernel…]
struct TransposeOptions {
  std::vector<int64_t> output_padding = {0};
};
Tensor conv_transpose1d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias = {},
                        const ConvOptions& options = {}, const TransposeOptions& transpose = {});
Tensor conv_transpose2d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias = {},
                        const ConvOptions& options = {}, const TransposeOptions& transpose = {});

struct PoolOptions {
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride = {};  // empty: the kernel
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};  // max pooling only
  bool count_include_pad = true;        // average pooling only
  bool ceil_mode = false;
};
// The number of spatial dims is the kernel's length; a kernel of one entry means 1-D.
Tensor max_pool(const Operand& x, const PoolOptions& options);
Tensor avg_pool(const Operand& x, const PoolOptions& options);
Tensor adaptive_avg_pool(const Operand& x, const std::vector<int64_t>& output);
Tensor adaptive_max_pool(const Operand& x, const std::vector<int64_t>& output);

}  // namespace lumen
