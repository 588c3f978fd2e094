// A graph under test: inputs with their values, run by the reference. Every graph it runs is verified and
// round-trips through text.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lumen/frontend/ops.h"
#include "lumen/ir/host_tensor.h"
#include "tests/support/error_of.h"

namespace lumen {

using tests::error_of;

// Whether a message is `with` and then a place in the source.
inline bool starts(const std::string& text, const std::string& with) { return text.find(with + " (") == 0; }

class Rig {
 public:
  Graph& graph() { return *graph_; }
  Expr dim(const std::string& name, int64_t value, int64_t lo = 1, int64_t hi = 64);
  // Values are rounded or truncated to the dtype.
  Tensor input(const Shape& shape, const std::vector<double>& values, DType dtype = DType::f32);
  // Fresh values in [-range, range), from a fixed seed.
  Tensor random(const Shape& shape, DType dtype = DType::f32, double range = 2.0);
  // The values given to an input.
  std::vector<double> values(Tensor input) const;

  HostTensor run(Tensor result);

 private:
  struct Given {
    Tensor tensor;
    HostTensor value;
  };
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::vector<Given> inputs_;
  DimValues dims_;
  std::mt19937 engine_{20240607};
  int outputs_ = 0;
};

std::vector<double> doubles(const HostTensor& tensor);

// NaN matches NaN; zeros and infinities must match exactly, signs of zeros too when `tolerance` is 0.
void expect_close(const HostTensor& got, const std::vector<double>& want, double tolerance = 0);

// The nodes of op `name` that the graph's values need.
int64_t count_ops(Tensor result, std::string_view name);

}  // namespace lumen
