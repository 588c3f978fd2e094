// What people want to know about a tensor, and about the difference between two.
#pragma once

#include <string>

#include "lumen/ir/host_tensor.h"

namespace lumen::tools {

std::string type_text(const HostTensor& tensor);  // "f32[2,7]"

// The first values, the range, the mean and the counts of NaN and infinities; no trailing newline.
std::string summary(const HostTensor& tensor);

struct Difference {
  double max_abs = 0;  // infinite where one side is NaN or the infinities differ
  double mean_abs = 0;
  double max_rel = 0;  // |got - expected| / |expected|
  int64_t count = 0;
  int64_t mismatches = 0;  // beyond atol + rtol * |expected|
  double cosine = 1;       // of the finite pairs, as vectors
  int64_t nan_expected = 0, nan_got = 0, inf_expected = 0, inf_got = 0;
  std::vector<int64_t> worst;  // the position of the largest excess over what is allowed
  double worst_expected = 0, worst_got = 0;
};

// Of the same dims; dtypes may differ.
Difference compare(const HostTensor& expected, const HostTensor& got, double atol, double rtol);
std::string describe(const Difference& difference, double atol, double rtol);

}  // namespace lumen::tools
