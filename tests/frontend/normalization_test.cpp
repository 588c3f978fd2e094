#include <cmath>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Normalization, Errors) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {2, 3, 4});
  const Tensor w = rig.graph().input("w", {2});
  EXPECT_TRUE(starts(error_of([&] { layer_norm(x, 1, w); }),
                     "[layer_norm] weight f32[2] has not the shape [4] of the normalised dims"));
  EXPECT_TRUE(starts(error_of([&] { layer_norm(x, 4); }), "[layer_norm] f32[2,3,4] has no 4 trailing dims"));
  EXPECT_TRUE(starts(error_of([&] { rms_norm(x, w); }), "[rms_norm] weight f32[2] has not the last dim of f32[2,3,4]"));
  EXPECT_TRUE(starts(error_of([&] { group_norm(x, 2); }),
                     "[group_norm] axis 1 of f32[2,3,4] is not known to be a multiple of 2"));
  EXPECT_TRUE(starts(error_of([&] { batch_norm(x, w, w); }),
                     "[batch_norm] mean f32[2] has not one value per channel of f32[2,3,4]"));
  EXPECT_TRUE(starts(error_of([&] { instance_norm(w); }),
                     "[instance_norm] needs [batch, channels, …] with a spatial dim, got f32[2]"));
}

std::vector<double> standardize(const std::vector<double>& in, size_t row, double eps) {
  std::vector<double> out;
  for (size_t start = 0; start < in.size(); start += row) {
    double mean = 0;
    double var = 0;
    for (size_t k = 0; k < row; ++k) mean += in[start + k] / static_cast<double>(row);
    for (size_t k = 0; k < row; ++k) var += (in[start + k] - mean) * (in[start + k] - mean) / static_cast<double>(row);
    for (size_t k = 0; k < row; ++k) out.push_back((in[start + k] - mean) / std::sqrt(var + eps));
  }
  return out;
}

TEST(Normalization, RowsAreStandardized) {
  Rig rig;
  const Expr n = rig.dim("n", 2);
  const Tensor x = rig.random({n, 4, 6});
  const std::vector<double> in = rig.values(x);
  expect_close(rig.run(layer_norm(x)), standardize(in, 6, 1e-5), 2e-6);
  expect_close(rig.run(layer_norm(x, 2)), standardize(in, 24, 1e-5), 2e-6);
  expect_close(rig.run(group_norm(x, 2)), standardize(in, 12, 1e-5), 2e-6);
  expect_close(rig.run(instance_norm(x)), standardize(in, 6, 1e-5), 2e-6);
  expect_close(rig.run(rms_norm(x)), doubles(rig.run(std_norm(x, -1, 1e-6))));
  const Tensor w = rig.random({4});
  const Tensor b = rig.random({4});
  std::vector<double> want = standardize(in, 12, 1e-5);
  for (size_t k = 0; k < want.size(); ++k) want[k] = want[k] * rig.values(w)[k / 6 % 4] + rig.values(b)[k / 6 % 4];
  expect_close(rig.run(group_norm(x, 2, w, b)), want, 2e-6);
}

TEST(Normalization, BatchNormUsesItsStatistics) {
  Rig rig;
  const Tensor x = rig.input({1, 2, 2}, {1, 2, 3, 4});
  const Tensor mean = rig.input({2}, {1, 2});
  const Tensor var = rig.input({2}, {4, 0.25});
  expect_close(rig.run(batch_norm(x, mean, var, {}, {}, 0)), {0, 0.5, 2, 4}, 1e-6);
}

TEST(Normalization, Softmax) {
  Rig rig;
  const double inf = INFINITY;
  const Tensor x = rig.input({3, 2}, {1000, 1000, -inf, 0, -inf, -inf});
  expect_close(rig.run(softmax(x)), {0.5, 0.5, 0, 1, NAN, NAN});
  expect_close(rig.run(log_softmax(slice(x, 0, 0, 2))), {-std::log(2.0), -std::log(2.0), -inf, 0}, 1e-6);
  expect_close(rig.run(softmin(slice(x, 0, 0, 1))), {0.5, 0.5});
  expect_close(rig.run(softmax(rig.input({2, 2}, {0, 1, 0, 1}), 0)), {0.5, 0.5, 0.5, 0.5});
  expect_close(rig.run(normalize(rig.input({1, 2}, {3, 4}))), {0.6, 0.8}, 1e-6);
  EXPECT_EQ(softmax(rig.input({2}, {1, 2}, f16)).dtype(), f16);
}

}  // namespace
}  // namespace lumen
