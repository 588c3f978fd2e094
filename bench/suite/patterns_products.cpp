#include <fmt/format.h>

#include "bench/suite/patterns.h"
#include "lumen/frontend/ops.h"

namespace lumen::bench {

namespace {

// Integers multiply and add in i32; floats give their own dtype.
Tensor product_operand(Tensor x) { return is_float(x.dtype()) ? x : cast(x, i32); }

Case matmul_case(int64_t m, int64_t n, int64_t k, DType dtype) {
  Case c{.group = "matmul", .size = fmt::format("{}x{}x{}", m, n, k), .dtype = dtype, .unit = Unit::matrix};
  c.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  c.build = [=](Graph& g) {
    const Tensor x = product_operand(g.input("x", {m, k}, dtype));
    matmul(x, product_operand(g.input("y", {k, n}, dtype))).output("out");
  };
  c.quick = m == 512 && dtype != f16;
  return c;
}

// A row times a weight that is stored as models store it, one row for each output.
Case gemv_case(int64_t n, int64_t k, DType dtype) {
  Case c{.group = "gemv", .size = fmt::format("1x{}x{}", n, k), .dtype = dtype};
  c.flops = 2.0 * static_cast<double>(n) * static_cast<double>(k);
  c.build = [=](Graph& g) {
    const Tensor x = product_operand(g.input("x", {1, k}, dtype));
    linear(x, product_operand(g.input("weight", {n, k}, dtype, InputKind::weight))).output("out");
  };
  c.quick = dtype == f32 || dtype == bf16;
  return c;
}

struct Conv {
  int64_t images, channels, side, out, window, stride, padding;
};

Case conv_case(const Conv& v, DType dtype) {
  const int64_t side_out = (v.side + 2 * v.padding - v.window) / v.stride + 1;
  const std::string size =
      fmt::format("{}x{}x{}x{}-{}x{}x{}s{}", v.images, v.channels, v.side, v.side, v.out, v.window, v.window, v.stride);
  Case c{.group = "conv2d", .size = size, .dtype = dtype, .unit = Unit::matrix};
  c.flops = 2.0 * static_cast<double>(v.images * v.out * side_out * side_out) *
            static_cast<double>(v.channels * v.window * v.window);
  c.parameters = {{"stride", v.stride}, {"padding", v.padding}};
  c.build = [=](Graph& g) {
    const Tensor x = g.input("x", {v.images, v.channels, v.side, v.side}, dtype);
    const Tensor weight = g.input("weight", {v.out, v.channels, v.window, v.window}, dtype, InputKind::weight);
    conv2d(x, weight, {}, {.stride = {v.stride}, .padding = {v.padding}}).output("out");
  };
  c.quick = v.channels == 64 && dtype == f32;
  return c;
}

}  // namespace

void add_products(std::vector<Case>& cases) {
  for (const DType dtype : {f32, bf16, f16, i8}) {
    for (const int64_t n : {128, 256, 512, 1024, 2048}) {
      if (dtype != f16 || n == 512 || n == 1024) cases.push_back(matmul_case(n, n, n, dtype));
    }
  }
  for (const DType dtype : {f32, bf16, f16, i8}) cases.push_back(gemv_case(4096, 4096, dtype));
  constexpr Conv kConvs[] = {{1, 64, 56, 64, 3, 1, 1}, {1, 3, 224, 64, 7, 2, 3}, {1, 128, 28, 256, 1, 1, 0}};
  for (const Conv& v : kConvs) cases.push_back(conv_case(v, f32));
  cases.push_back(conv_case(kConvs[0], bf16));
}

void add_large_products(std::vector<Case>& cases) {
  for (const DType dtype : {bf16, f16}) {
    for (const int64_t n : {4096, 8192}) cases.push_back(matmul_case(n, n, n, dtype));
  }
  cases.push_back(matmul_case(4096, 4096, 4096, f32));
  for (const DType dtype : {f32, bf16}) cases.push_back(gemv_case(16384, 16384, dtype));
}

}  // namespace lumen::bench
