// A GPU to print kernels for, where there is none.
#pragma once

#include "lumen/kernel/target.h"

namespace lumen::tests {

inline Target gpu_target() {
  Target target;
  target.cuda = true;
  target.sm = 90;
  target.multiprocessors = 132;
  target.shared_bytes = 227 << 10;
  return target;
}

}  // namespace lumen::tests
