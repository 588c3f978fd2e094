#include "lumen/frontend/convolution.h"

#include <fmt/format.h>

#include "lumen/frontend/operators.h"
#include "lumen/frontend/windows.h"

namespace lumen {

namespace {

// x and weight in the dtype they multiply in; x always [batch, channels, …].
struct Problem {
  Tensor x, weight;
  DType dtype;     // of the result
  bool unbatched;  // the user gave [channels, …]
};

Problem problem_of(const Operand& x, const Operand& weight, int64_t spatial) {
  const Operand operands[] = {x.tensor(), weight.tensor()};
  const std::vector<Tensor> both = promote_only(operands);
  const DType dtype = both[0].dtype();
  const int64_t rank = both[0].rank();
  if ((rank != spatial + 1 && rank != spatial + 2) || both[1].rank() != spatial + 2 || is_bool(dtype)) {
    fail(fmt::format("{} with weight {} is no {}-D convolution", both[0].type().str(), both[1].type().str(), spatial));
  }
  const bool unbatched = rank == spatial + 1;
  const Tensor v = cast_to(both[0], wide(dtype));
  return {unbatched ? inserted(v, 0) : v, cast_to(both[1], wide(dtype)), dtype, unbatched};
}

// The result of [batch, channels/groups or rows, …]: bias added, rounded, and the batch dim dropped if it was ours.
Tensor finished(Tensor result, const std::optional<Operand>& bias, const Problem& p) {
  if (bias) {
    const Tensor b = bias->tensor();
    if (b.rank() != 1 || b.shape()[0] != result.shape()[1]) {
      fail(fmt::format("bias {} has not one value for each of {} channels", b.type().str(), result.shape()[1].str()));
    }
    std::vector<Expr> dims(static_cast<size_t>(result.rank()), Expr(1));
    dims[1] = b.shape()[0];
    result = result + Operand(cast_to(reshaped(b, dims), result.dtype()));
  }
  result = cast_to(result, p.dtype);
  return p.unbatched ? reshaped(result, without(result.shape(), 0)) : result;
}

Expr channels_per_group(Expr channels, int64_t groups, std::string_view what) {
  const Expr each = floor_div(channels, groups);
  if (each * groups != channels)
    fail(fmt::format("{} {} channels are no multiple of {} groups", channels.str(), what, groups));
  return each;
}

void append(std::vector<Expr>& dims, std::span<const Expr> more) { dims.insert(dims.end(), more.begin(), more.end()); }

// x without the dims `gone`, which are 1.
Tensor dropped(Tensor x, const std::vector<bool>& gone) {
  std::vector<Expr> dims;
  for (size_t k = 0; k < gone.size(); ++k) {
    if (!gone[k]) dims.push_back(x.shape().dims()[k]);
  }
  return reshaped(x, dims);
}

// windows [batch, channels, out…, kernel…] with weight [rows, channels/groups, kernel…] -> [batch, rows, out…]. Both
// are laid out as [batch, group, rows/group, out…, channels/group, kernel…] and the tail is summed.
Tensor contract_windows(Tensor windows, Tensor weight, int64_t groups, size_t spatial) {
  const auto tail = weight.shape().dims().subspan(1);
  const auto n = static_cast<int64_t>(spatial);
  std::vector<Expr> split{windows.shape()[0], groups, tail[0]};
  append(split, windows.shape().dims().subspan(2));
  std::vector<int64_t> order{0, 1};
  for (int64_t k = 0; k < n; ++k) order.push_back(3 + k);
  order.push_back(2);
  for (int64_t k = 0; k < n; ++k) order.push_back(3 + n + k);
  const Tensor x = inserted(permuted(reshaped(windows, split), order), 2);

  std::vector<Expr> laid{1, groups, floor_div(weight.shape()[0], groups)};
  laid.resize(laid.size() + spatial, Expr(1));
  append(laid, tail);
  // What is 1 on both sides needs neither a dim nor a sum.
  std::vector<bool> gone(laid.size(), false);
  gone[1] = groups == 1;
  size_t summed = 0;
  for (size_t k = 0; k < tail.size(); ++k) {
    gone[laid.size() - 1 - k] = tail[tail.size() - 1 - k] == Expr(1);
    if (tail[k] != Expr(1)) ++summed;
  }
  Tensor product = mul(dropped(x, gone), dropped(reshaped(weight, laid), gone));
  for (size_t k = 0; k < summed; ++k) product = sum_reduce(product, product.rank() - 1);

  std::vector<Expr> dims{windows.shape()[0], weight.shape()[0]};
  append(dims, windows.shape().dims().subspan(2, spatial));
  return reshaped(product, dims);
}

Tensor convolve(const Operand& x, const Operand& weight, const std::optional<Operand>& bias, const ConvOptions& options,
                size_t spatial) {
  const Problem p = problem_of(x, weight, static_cast<int64_t>(spatial));
  const auto stride = per_dim(options.stride, spatial, "stride", 1);
  const auto padding = per_dim(options.padding, spatial, "padding", 0);
  const auto dilation = per_dim(options.dilation, spatial, "dilation", 1);
  if (options.groups < 1) fail(fmt::format("groups must be at least 1, got {}", options.groups));
  channels_per_group(p.weight.shape()[0], options.groups, "output");
  if (channels_per_group(p.x.shape()[1], options.groups, "input") != p.weight.shape()[1]) {
    fail(fmt::format("weight {} does not fit the channels of {} in {} groups", p.weight.type().str(), p.x.type().str(),
                     options.groups));
  }
  std::vector<Window> windows;
  for (size_t k = 0; k < spatial; ++k) {
    const Expr kernel = p.weight.shape()[static_cast<int64_t>(k) + 2];
    windows.push_back({kernel, stride[k], padding[k], dilation[k]});
  }
  const Tensor cut = windows_of(p.x, windows, fill_of(p.x.dtype(), 0));
  return finished(contract_windows(cut, p.weight, options.groups, spatial), bias, p);
}

// Zeros between the elements along `axis`, so that they lie `stride` apart.
Tensor spread_out(Tensor x, int64_t axis, int64_t stride) {
  if (stride == 1) return x;
  const Shape to = with_dim(x.shape(), axis, (x.shape()[axis] - 1) * stride + 1);
  std::vector<Expr> coords = to.coordinates();
  Expr& at = coords[static_cast<size_t>(axis)];
  const Expr is_element = eq(mod(at, stride), 0);
  at = floor_div(at, stride);
  return look_through(x, View(to, x.shape().flat_index(coords), is_element, fill_of(x.dtype(), 0)));
}

// [in, rows/groups, kernel…] as the weight [rows, in/groups, kernel…] of the convolution that it undoes, flipped.
Tensor turned_weight(Tensor weight, Expr in_per_group, int64_t groups) {
  std::vector<Expr> split{groups, in_per_group};
  append(split, weight.shape().dims().subspan(1));
  std::vector<int64_t> order{0, 2, 1};
  for (int64_t k = 3; k <= weight.rank(); ++k) order.push_back(k);
  std::vector<Expr> dims{weight.shape()[1] * groups, in_per_group};
  append(dims, weight.shape().dims().subspan(2));
  const Tensor turned = reshaped(permuted(reshaped(weight, split), order), dims);
  Axes kernel;
  for (int64_t k = 2; k < weight.rank(); ++k) kernel.push_back(k);
  return flip(turned, kernel);
}

Tensor convolve_transposed(const Operand& x, const Operand& weight, const std::optional<Operand>& bias,
                           const ConvOptions& options, const TransposeOptions& transpose, size_t spatial) {
  const Problem p = problem_of(x, weight, static_cast<int64_t>(spatial));
  const auto stride = per_dim(options.stride, spatial, "stride", 1);
  const auto padding = per_dim(options.padding, spatial, "padding", 0);
  const auto dilation = per_dim(options.dilation, spatial, "dilation", 1);
  const auto extra = per_dim(transpose.output_padding, spatial, "output_padding", 0);
  if (options.groups < 1) fail(fmt::format("groups must be at least 1, got {}", options.groups));
  const Expr in_per_group = channels_per_group(p.x.shape()[1], options.groups, "input");
  if (p.x.shape()[1] != p.weight.shape()[0]) {
    fail(fmt::format("weight {} does not fit the channels of {}", p.weight.type().str(), p.x.type().str()));
  }
  Tensor spread = p.x;
  std::vector<Window> windows;
  for (size_t k = 0; k < spatial; ++k) {
    if (extra[k] >= std::max(stride[k], dilation[k])) {
      fail(fmt::format("output_padding {} must be less than stride {} or dilation {}", extra[k], stride[k],
                       dilation[k]));
    }
    const auto axis = static_cast<int64_t>(k) + 2;
    if (p.x.shape()[axis] == Expr(0)) fail(fmt::format("axis {} of {} is empty", axis, p.x.type().str()));
    const Expr kernel = p.weight.shape()[axis];
    const Expr around = dilation[k] * (kernel - 1) - padding[k];
    spread = pad_along(spread_out(spread, axis, stride[k]), axis, around, around + extra[k]);
    windows.push_back({kernel, 1, 0, dilation[k]});
  }
  const Tensor cut = windows_of(spread, windows, fill_of(spread.dtype(), 0));
  const Tensor turned = turned_weight(p.weight, in_per_group, options.groups);
  return finished(contract_windows(cut, turned, options.groups, spatial), bias, p);
}

}  // namespace

Tensor conv1d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias, const ConvOptions& options) {
  const Call call("conv1d", x.where());
  return convolve(x, weight, bias, options, 1);
}

Tensor conv2d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias, const ConvOptions& options) {
  const Call call("conv2d", x.where());
  return convolve(x, weight, bias, options, 2);
}

Tensor conv3d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias, const ConvOptions& options) {
  const Call call("conv3d", x.where());
  return convolve(x, weight, bias, options, 3);
}

Tensor conv_transpose1d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias,
                        const ConvOptions& options, const TransposeOptions& transpose) {
  const Call call("conv_transpose1d", x.where());
  return convolve_transposed(x, weight, bias, options, transpose, 1);
}

Tensor conv_transpose2d(const Operand& x, const Operand& weight, const std::optional<Operand>& bias,
                        const ConvOptions& options, const TransposeOptions& transpose) {
  const Call call("conv_transpose2d", x.where());
  return convolve_transposed(x, weight, bias, options, transpose, 2);
}

}  // namespace lumen
