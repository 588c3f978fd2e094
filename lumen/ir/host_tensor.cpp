#include "lumen/ir/host_tensor.h"

#include <limits>

#include "lumen/base/check.h"

namespace lumen {

HostTensor HostTensor::poisoned(DType dtype, std::vector<int64_t> dims) {
  size_t count = 1;
  bool overflow = false, empty = false;
  for (const int64_t dim : dims) {
    CHECK(dim >= 0, "a dim is negative");
    empty = empty || dim == 0;
    overflow = __builtin_mul_overflow(count, static_cast<size_t>(dim), &count) || overflow;
  }
  CHECK(empty || !overflow, "the element count does not fit in 64 bits");
  const Lane poison =
      is_float(dtype) ? Lane{.f = std::numeric_limits<double>::quiet_NaN()} : Lane{.i = 0x5bad5bad5bad5bad};
  return {dtype, std::move(dims), std::vector<Lane>(empty ? 0 : count, poison)};
}

}  // namespace lumen
