#include <fmt/format.h>

#include "bench/suite/patterns.h"
#include "lumen/frontend/ops.h"

namespace lumen::bench {

namespace {

struct Rows {
  int64_t rows, columns;
  bool quick = false;
};
constexpr Rows kSmall[] = {{128, 128}, {512, 512, true}, {2048, 128}};
constexpr Rows kLarge = {4096, 4096};

using Make = void (*)(Graph&, int64_t rows, int64_t columns, DType);

struct Family {
  const char* group;
  double flops;  // of one element
  Make make;
};

Case rows_case(const Family& family, const Rows& size, DType dtype) {
  Case c{.group = family.group, .size = fmt::format("{}x{}", size.rows, size.columns), .dtype = dtype};
  c.fused = true;
  c.quick = size.quick && dtype == f32;
  c.flops = family.flops * static_cast<double>(size.rows * size.columns);
  c.build = [=, make = family.make](Graph& g) { make(g, size.rows, size.columns, dtype); };
  return c;
}

Tensor row_weight(Graph& g, const char* name, int64_t columns, DType dtype) {
  return g.input(name, {columns}, dtype, InputKind::weight);
}

void make_softmax(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  softmax(g.input("x", {rows, columns}, dtype)).output("out");
}
void make_layer_norm(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  const Tensor x = g.input("x", {rows, columns}, dtype);
  layer_norm(x, 1, row_weight(g, "weight", columns, dtype), row_weight(g, "bias", columns, dtype)).output("out");
}
void make_rms_norm(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  rms_norm(g.input("x", {rows, columns}, dtype), row_weight(g, "weight", columns, dtype)).output("out");
}
// The sum is wanted too: it is the residual that goes on.
void make_add_rms_norm(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  const Tensor sum = g.input("x", {rows, columns}, dtype) + g.input("residual", {rows, columns}, dtype);
  sum.output("sum");
  rms_norm(sum, row_weight(g, "weight", columns, dtype)).output("out");
}
void make_gelu(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  gelu(g.input("x", {rows, columns}, dtype)).output("out");
}
void make_swiglu(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  const Tensor gate = g.input("gate", {rows, columns}, dtype);
  (silu(gate) * g.input("up", {rows, columns}, dtype)).output("out");
}
void make_scale_shift_relu(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  const Tensor x = g.input("x", {rows, columns}, dtype);
  const Tensor y = x * row_weight(g, "scale", columns, dtype) + row_weight(g, "shift", columns, dtype);
  (relu(y) + x).output("out");
}
// Ten steps that a library without fusion does one by one.
void make_long_chain(Graph& g, int64_t rows, int64_t columns, DType dtype) {
  const Tensor x = g.input("x", {rows, columns}, dtype);
  const Tensor y = g.input("y", {rows, columns}, dtype);
  const Tensor a = tanh(x * y + 0.5);
  const Tensor b = sigmoid(x - y) * a;
  (sqrt(b * b + 1.0) - maximum(a, b)).output("out");
}

constexpr Family kFamilies[] = {
    {"softmax", 5, make_softmax},
    {"layer_norm", 8, make_layer_norm},
    {"rms_norm", 4, make_rms_norm},
    {"add_rms_norm", 5, make_add_rms_norm},
    {"gelu", 5, make_gelu},
    {"swiglu", 5, make_swiglu},
    {"scale_shift_relu", 4, make_scale_shift_relu},
    {"chain", 13, make_long_chain},
};

}  // namespace

void add_rows(std::vector<Case>& cases) {
  for (const Family& family : kFamilies) {
    for (const Rows& size : kSmall) cases.push_back(rows_case(family, size, f32));
    cases.push_back(rows_case(family, kLarge, f32));
    cases.push_back(rows_case(family, kSmall[1], bf16));
  }
  cases.push_back(rows_case(kFamilies[0], kSmall[1], f16));
}

void add_large_rows(std::vector<Case>& cases) {
  for (const Family& family : kFamilies) {
    for (const DType dtype : {f32, bf16}) cases.push_back(rows_case(family, {8192, 8192}, dtype));
  }
}

}  // namespace lumen::bench
