// Contracts whose columns are windows of an image, as those of a convolution are: an element depends on the sum of a
// column's place and a place in the window, y * stride + w. The image is computed with whatever the windows see beyond
// its border, by a first step or (`own=1`) by each block as far as its columns see, so that the columns of a tile are
// neighbours in it for every summed coordinate: nothing is packed for each place in the window.
//
//   image  [summed dims that are in no window][place % stride for each window][column dims, as far as windows reach]
//
// A column is a place in the last part, `reach` of which a line has; those behind the last window of a line are
// multiplied, too, and dropped. For a 3 x 3 window over lines of 56 that is 2 of 58.
#pragma once

#include "lumen/codegen/contract.h"
#include "lumen/codegen/contract_roles.h"

namespace lumen {

// One dim of the columns, and the summed dim whose windows begin there.
struct WindowDim {
  int64_t columns = 1, window = 1, stride = 1;
  size_t column_dim = 0;
  std::optional<size_t> summed_dim;

  // How many places in the image the windows see, for each place in the stride.
  int64_t reach() const { return columns + (window + stride - 1) / stride - 1; }
};

struct Windows {
  std::vector<WindowDim> dims;      // of the columns, in their order
  std::vector<size_t> summed_dims;  // all, in their order
};

// Nothing when no dim of the columns has a window, or an extent is not known.
std::optional<Windows> find_windows(const ContractRoles& roles);

Expected<KernelText> print_windows(const Graph& body, const ContractRoles& roles, const std::string& name,
                                   const ContractSchedule& schedule, const Target& target);

}  // namespace lumen
