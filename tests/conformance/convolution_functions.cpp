#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

void read(const Call& c, std::string_view name, std::vector<int64_t>& into) {
  if (c.has(name)) into = c.integers(name);
}

ConvOptions conv_options(const Call& c) {
  ConvOptions options;
  read(c, "stride", options.stride);
  read(c, "padding", options.padding);
  read(c, "dilation", options.dilation);
  if (c.has("groups")) options.groups = c.integer("groups");
  return options;
}

PoolOptions pool_options(const Call& c) {
  PoolOptions options;
  read(c, "kernel", options.kernel);
  read(c, "stride", options.stride);
  read(c, "padding", options.padding);
  read(c, "dilation", options.dilation);
  if (c.has("count_include_pad")) options.count_include_pad = c.flag("count_include_pad");
  options.ceil_mode = c.flag("ceil_mode");
  return options;
}

auto conv(Tensor (*f)(const Operand&, const Operand&, const std::optional<Operand>&, const ConvOptions&)) {
  return [f](const Call& c) -> Results { return {f(c.x(), c.operand(1), c.optional_operand(2), conv_options(c))}; };
}

auto transposed(Tensor (*f)(const Operand&, const Operand&, const std::optional<Operand>&, const ConvOptions&,
                            const TransposeOptions&)) {
  return [f](const Call& c) -> Results {
    TransposeOptions transpose;
    read(c, "output_padding", transpose.output_padding);
    return {f(c.x(), c.operand(1), c.optional_operand(2), conv_options(c), transpose)};
  };
}

}  // namespace

std::span<const Function> convolution_functions() {
  static const std::vector<Function> table = {
      {"conv1d", conv(conv1d)},
      {"conv2d", conv(conv2d)},
      {"conv3d", conv(conv3d)},
      {"conv_transpose1d", transposed(conv_transpose1d)},
      {"conv_transpose2d", transposed(conv_transpose2d)},
      {"max_pool", [](const Call& c) -> Results { return {max_pool(c.x(), pool_options(c))}; }},
      {"avg_pool", [](const Call& c) -> Results { return {avg_pool(c.x(), pool_options(c))}; }},
      {"adaptive_avg_pool", [](const Call& c) -> Results { return {adaptive_avg_pool(c.x(), c.integers("output"))}; }},
      {"adaptive_max_pool", [](const Call& c) -> Results { return {adaptive_max_pool(c.x(), c.integers("output"))}; }},
  };
  return table;
}

}  // namespace lumen::conformance
