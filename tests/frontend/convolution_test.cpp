#include <algorithm>
#include <cmath>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

struct Geometry {
  int64_t batch, in, out, height, width, kernel_h, kernel_w, stride, padding, dilation, groups;
  int64_t out_h() const { return (height + 2 * padding - dilation * (kernel_h - 1) - 1) / stride + 1; }
  int64_t out_w() const { return (width + 2 * padding - dilation * (kernel_w - 1) - 1) / stride + 1; }
};

size_t at(std::initializer_list<std::pair<int64_t, int64_t>> coords_and_dims) {
  int64_t flat = 0;
  for (const auto& [coord, dim] : coords_and_dims) flat = flat * dim + coord;
  return static_cast<size_t>(flat);
}

// Calls f(x index, weight index, output index) for every product of the convolution, weight [out, in/groups, …].
template <class F>
void for_each_product(const Geometry& g, F f) {
  const int64_t rows = g.out / g.groups;
  const int64_t columns = g.in / g.groups;
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t o = 0; o < g.out; ++o)
      for (int64_t y = 0; y < g.out_h(); ++y)
        for (int64_t x = 0; x < g.out_w(); ++x)
          for (int64_t c = 0; c < columns; ++c)
            for (int64_t i = 0; i < g.kernel_h; ++i)
              for (int64_t j = 0; j < g.kernel_w; ++j) {
                const int64_t yy = y * g.stride - g.padding + i * g.dilation;
                const int64_t xx = x * g.stride - g.padding + j * g.dilation;
                if (yy < 0 || yy >= g.height || xx < 0 || xx >= g.width) continue;
                f(at({{n, 0}, {o / rows * columns + c, g.in}, {yy, g.height}, {xx, g.width}}),
                  at({{o, 0}, {c, columns}, {i, g.kernel_h}, {j, g.kernel_w}}),
                  at({{n, 0}, {o, g.out}, {y, g.out_h()}, {x, g.out_w()}}));
              }
}

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> all = {
      {2, 3, 4, 5, 6, 3, 2, 1, 0, 1, 1}, {1, 4, 6, 7, 5, 3, 3, 2, 1, 1, 2}, {2, 2, 2, 6, 6, 2, 3, 1, 2, 2, 1},
      {1, 3, 3, 5, 5, 3, 3, 3, 1, 1, 3}, {2, 3, 2, 4, 4, 1, 1, 1, 0, 1, 1}, {1, 1, 1, 3, 3, 3, 3, 1, 1, 1, 1},
  };
  return all;
}

TEST(Convolution, Errors) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {1, 4, 8});
  const Tensor w = rig.graph().input("w", {6, 2, 3});
  EXPECT_TRUE(
      starts(error_of([&] { conv2d(x, w); }), "[conv2d] f32[1,4,8] with weight f32[6,2,3] is no 2-D convolution"));
  EXPECT_TRUE(starts(error_of([&] { conv1d(x, w); }),
                     "[conv1d] weight f32[6,2,3] does not fit the channels of f32[1,4,8] in 1 groups"));
  EXPECT_TRUE(starts(error_of([&] { conv1d(x, w, {}, {.groups = 3}); }),
                     "[conv1d] 4 input channels are no multiple of 3 groups"));
  EXPECT_TRUE(starts(error_of([&] { conv1d(x, w, {}, {.stride = {0}, .groups = 2}); }),
                     "[conv1d] stride must be at least 1, got 0"));
  EXPECT_TRUE(starts(error_of([&] { conv1d(x, w, {}, {.dilation = {4}, .groups = 2}); }),
                     "[conv1d] a window of 9 elements does not fit axis 2 of f32[1,4,8] padded by 0"));
  EXPECT_TRUE(starts(error_of([&] { conv1d(x, w, x, {.groups = 2}); }),
                     "[conv1d] bias f32[1,4,8] has not one value for each of 6 channels"));
  EXPECT_TRUE(starts(error_of([&] { max_pool(x, {.kernel = {2}, .padding = {2}}); }),
                     "[max_pool] padding 2 is more than half of kernel 2"));
  EXPECT_TRUE(
      starts(error_of([&] { adaptive_avg_pool(x, {0}); }), "[adaptive_avg_pool] output sizes must be positive, got 0"));
}

TEST(Convolution, MatchesLoops) {
  for (const Geometry& g : geometries()) {
    SCOPED_TRACE(&g - geometries().data());
    Rig rig;
    const Tensor x = rig.random({g.batch, g.in, g.height, g.width});
    const Tensor w = rig.random({g.out, g.in / g.groups, g.kernel_h, g.kernel_w});
    const Tensor b = rig.random({g.out});
    const auto xs = rig.values(x);
    const auto ws = rig.values(w);
    std::vector<double> want(static_cast<size_t>(g.batch * g.out * g.out_h() * g.out_w()));
    const size_t area = static_cast<size_t>(g.out_h() * g.out_w());
    for (size_t k = 0; k < want.size(); ++k) want[k] = rig.values(b)[k / area % static_cast<size_t>(g.out)];
    for_each_product(g, [&](size_t xi, size_t wi, size_t oi) { want[oi] += xs[xi] * ws[wi]; });
    const ConvOptions options{{g.stride}, {g.padding}, {g.dilation}, g.groups};
    expect_close(rig.run(conv2d(x, w, b, options)), want, 4e-6);
  }
}

// The transpose scatters what the convolution gathers: same products, x and output exchanged.
TEST(Convolution, TransposeMatchesLoops) {
  for (const Geometry& g : geometries()) {
    SCOPED_TRACE(&g - geometries().data());
    Rig rig;
    const Tensor y = rig.random({g.batch, g.out, g.out_h(), g.out_w()});
    const Tensor w = rig.random({g.out, g.in / g.groups, g.kernel_h, g.kernel_w});
    const auto ys = rig.values(y);
    const auto ws = rig.values(w);
    std::vector<double> want(static_cast<size_t>(g.batch * g.in * g.height * g.width), 0.0);
    for_each_product(g, [&](size_t xi, size_t wi, size_t oi) { want[xi] += ys[oi] * ws[wi]; });
    const auto extra = [&](int64_t size, int64_t kernel) {
      return (size + 2 * g.padding - g.dilation * (kernel - 1) - 1) % g.stride;
    };
    const ConvOptions options{{g.stride}, {g.padding}, {g.dilation}, g.groups};
    const TransposeOptions more{{extra(g.height, g.kernel_h), extra(g.width, g.kernel_w)}};
    expect_close(rig.run(conv_transpose2d(y, w, {}, options, more)), want, 4e-6);
  }
}

TEST(Convolution, SymbolicSizesAndNoBatch) {
  Rig rig;
  const Expr n = rig.dim("n", 5);
  const Tensor x = rig.input({1, n}, {1, 2, 3, 4, 5});
  const Tensor w = rig.input({1, 1, 3}, {1, 10, 100});
  expect_close(rig.run(conv1d(x, w, {}, {.stride = {2}, .padding = {1}})), {210, 432, 54});
  EXPECT_EQ(conv1d(x, w).shape(), Shape({1, n - 2}));
  const Tensor v = rig.random({1, 1, 3, 3, 3});
  expect_close(rig.run(conv3d(v, rig.input({1, 1, 3, 3, 3}, std::vector<double>(27, 1.0)))), doubles(rig.run(sum(v))),
               2e-6);
}

struct Pool {
  int64_t size, kernel, stride, padding, dilation;
  bool ceil_mode;
};

int64_t pool_count(const Pool& p) {
  const int64_t room = p.size + 2 * p.padding - p.dilation * (p.kernel - 1) - 1;
  int64_t count = (room + (p.ceil_mode ? p.stride - 1 : 0)) / p.stride + 1;
  if (p.ceil_mode && (count - 1) * p.stride >= p.size + p.padding) --count;
  return count;
}

const std::vector<Pool> kPools = {{7, 2, 2, 0, 1, false}, {7, 2, 2, 0, 1, true},  {6, 3, 2, 1, 1, true},
                                  {5, 1, 3, 0, 1, true},  {8, 3, 2, 1, 2, false}, {9, 3, 4, 1, 2, true}};

TEST(Pooling, MatchesLoops) {
  for (const Pool& p : kPools) {
    for (const bool symbolic : {false, true}) {
      SCOPED_TRACE(::testing::Message() << (&p - kPools.data()) << (symbolic ? " symbolic" : ""));
      Rig rig;
      const Expr n = symbolic ? rig.dim("n", p.size, 5, 64) : Expr(p.size);
      const Tensor x = rig.random({2, n});
      const auto xs = rig.values(x);
      std::vector<double> largest;
      std::vector<double> with_pad;
      std::vector<double> without_pad;
      for (int64_t row = 0; row < 2; ++row) {
        for (int64_t o = 0; o < pool_count(p); ++o) {
          double top = -INFINITY;
          double total = 0;
          int64_t inside = 0;
          for (int64_t k = 0; k < p.kernel; ++k) {
            const int64_t i = o * p.stride - p.padding + k * p.dilation;
            if (i < 0 || i >= p.size) continue;
            const double value = xs[static_cast<size_t>(row * p.size + i)];
            top = std::max(top, value);
            total += value;
            ++inside;
          }
          const int64_t start = o * p.stride - p.padding;
          largest.push_back(top);
          with_pad.push_back(total / static_cast<double>(std::min(start + p.kernel, p.size + p.padding) - start));
          without_pad.push_back(total / static_cast<double>(inside));
        }
      }
      PoolOptions options{.kernel = {p.kernel},
                          .stride = {p.stride},
                          .padding = {p.padding},
                          .dilation = {p.dilation},
                          .ceil_mode = p.ceil_mode};
      expect_close(rig.run(max_pool(x, options)), largest);
      if (p.dilation != 1) continue;
      expect_close(rig.run(avg_pool(x, options)), with_pad, 1e-6);
      options.count_include_pad = false;
      expect_close(rig.run(avg_pool(x, options)), without_pad, 1e-6);
    }
  }
}

TEST(Pooling, AdaptiveOfAnySize) {
  for (int64_t size : {4, 5, 6, 7, 11}) {
    for (int64_t out : {1, 2, 3, 4, 6}) {
      for (const bool symbolic : {false, true}) {
        SCOPED_TRACE(::testing::Message() << size << " to " << out << (symbolic ? " symbolic" : ""));
        Rig rig;
        const Expr n = symbolic ? rig.dim("n", size, 4, 64) : Expr(size);
        const Tensor x = rig.random({2, n});
        const auto xs = rig.values(x);
        std::vector<double> means;
        std::vector<double> tops;
        for (int64_t row = 0; row < 2; ++row) {
          for (int64_t o = 0; o < out; ++o) {
            const int64_t begin = o * size / out;
            const int64_t end = ((o + 1) * size + out - 1) / out;
            double total = 0;
            double top = -INFINITY;
            for (int64_t i = begin; i < end; ++i) {
              total += xs[static_cast<size_t>(row * size + i)];
              top = std::max(top, xs[static_cast<size_t>(row * size + i)]);
            }
            means.push_back(total / static_cast<double>(end - begin));
            tops.push_back(top);
          }
        }
        expect_close(rig.run(adaptive_avg_pool(x, {out})), means, 1e-6);
        expect_close(rig.run(adaptive_max_pool(x, {out})), tops);
      }
    }
  }
}

TEST(Pooling, TwoDims) {
  Rig rig;
  const Tensor x = rig.input({1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_close(rig.run(max_pool(x, {.kernel = {2, 2}, .stride = {1}})), {5, 6, 8, 9});
  expect_close(rig.run(avg_pool(x, {.kernel = {2, 2}, .stride = {1}})), {3, 4, 6, 7});
  expect_close(rig.run(adaptive_avg_pool(x, {2, 2})), {3, 4, 6, 7});
  expect_close(rig.run(max_pool(rig.input({1, 2}, {-128, -127}, i8), {.kernel = {2}, .padding = {1}})), {-128, -127});
}

}  // namespace
}  // namespace lumen
