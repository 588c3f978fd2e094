#include <fmt/format.h>

#include "lumen/frontend/convolution.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/windows.h"

namespace lumen {

namespace {

void check_spatial(Tensor x, size_t spatial) {
  if (spatial == 0 || x.rank() < static_cast<int64_t>(spatial)) {
    fail(fmt::format("{} has no {} spatial dims", x.type().str(), spatial));
  }
}

std::vector<Window> pool_windows(Tensor x, const PoolOptions& options, bool dilated) {
  const size_t n = options.kernel.size();
  check_spatial(x, n);
  const auto kernel = per_dim(options.kernel, n, "kernel", 1);
  const auto stride = options.stride.empty() ? kernel : per_dim(options.stride, n, "stride", 1);
  const auto padding = per_dim(options.padding, n, "padding", 0);
  const auto dilation = per_dim(options.dilation, n, "dilation", 1);
  std::vector<Window> windows;
  for (size_t k = 0; k < n; ++k) {
    if (padding[k] * 2 > kernel[k]) {
      fail(fmt::format("padding {} is more than half of kernel {}", padding[k], kernel[k]));
    }
    if (!dilated && dilation[k] != 1) fail("average pooling has no dilation");
    windows.push_back({kernel[k], stride[k], padding[k], dilation[k], options.ceil_mode});
  }
  return windows;
}

template <class F>
Tensor reduce_last(Tensor x, size_t dims, F reduce_axis) {
  for (size_t k = 0; k < dims; ++k) x = reduce_axis(x, x.rank() - 1);
  return x;
}

// What average pooling divides by, for each window.
Tensor divisors(Tensor x, const std::vector<Window>& windows, bool include_pad) {
  const auto first = x.rank() - static_cast<int64_t>(windows.size());
  std::vector<Expr> counts;
  Expr product = 1;
  for (size_t k = 0; k < windows.size(); ++k) {
    const Window& w = windows[k];
    const Expr length = x.shape()[first + static_cast<int64_t>(k)];
    counts.push_back(w.count(length));
    const Expr start = Expr::index(static_cast<int>(k), counts.back()) * w.stride - w.padding;
    const Expr padded_end = w.ceil_mode ? min(start + w.size, length + w.padding) : start + w.size;
    product *= include_pad ? padded_end - start : min(padded_end, length) - max(start, 0);
  }
  return iota_of(*x.graph, counts, product, x.dtype());
}

// Windows of [start, end) = [floor(i*n/out), ceil((i+1)*n/out)) along `axis`, as a last dim.
struct AdaptiveAxis {
  Expr length;
  Expr out;
  bool even() const { return length / out * out == length; }
  Expr start(Expr i) const { return even() ? i * (length / out) : floor_div(i * length, out); }
  Expr end(Expr i) const { return even() ? (i + 1) * (length / out) : ceil_div((i + 1) * length, out); }
  Expr longest() const { return even() ? length / out : min(ceil_div(length, out) + 1, length); }
};

std::vector<AdaptiveAxis> adaptive_axes(Tensor x, const std::vector<int64_t>& output) {
  check_spatial(x, output.size());
  std::vector<AdaptiveAxis> axes;
  for (size_t k = 0; k < output.size(); ++k) {
    if (output[k] < 1) fail(fmt::format("output sizes must be positive, got {}", output[k]));
    const int64_t axis = x.rank() - static_cast<int64_t>(output.size() - k);
    if (x.shape()[axis] == Expr(0)) fail(fmt::format("axis {} of {} is empty", axis, x.type().str()));
    axes.push_back({x.shape()[axis], output[k]});
  }
  return axes;
}

Tensor adaptive_windows(Tensor x, const std::vector<AdaptiveAxis>& axes, Scalar fill) {
  const int64_t first = x.rank() - static_cast<int64_t>(axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t axis = first + static_cast<int64_t>(k);
    const Shape to = with_inserted(with_dim(x.shape(), axis, axes[k].out), x.rank(), axes[k].longest());
    std::vector<Expr> coords = to.coordinates();
    const Expr i = coords[static_cast<size_t>(axis)];
    const Expr at = axes[k].start(i) + coords.back();
    coords.pop_back();
    coords[static_cast<size_t>(axis)] = at;
    const Expr inside = axes[k].even() ? Expr(1) : lt(at, axes[k].end(i));
    x = look_through(x, View(to, x.shape().flat_index(coords), inside, fill));
  }
  return x;
}

}  // namespace

Tensor max_pool(const Operand& x, const PoolOptions& options) {
  const Call call("max_pool", x.where());
  const Tensor v = x.tensor();
  const std::vector<Window> windows = pool_windows(v, options, true);
  return reduce_last(windows_of(v, windows, least(v.dtype())), windows.size(), max_reduce);
}

Tensor avg_pool(const Operand& x, const PoolOptions& options) {
  const Call call("avg_pool", x.where());
  return in_floats(x, [&](Tensor v) {
    const std::vector<Window> windows = pool_windows(v, options, false);
    const Tensor total = reduce_last(windows_of(v, windows, fill_of(v.dtype(), 0)), windows.size(), sum_reduce);
    return total / divisors(v, windows, options.count_include_pad);
  });
}

Tensor adaptive_avg_pool(const Operand& x, const std::vector<int64_t>& output) {
  const Call call("adaptive_avg_pool", x.where());
  return in_floats(x, [&](Tensor v) {
    const std::vector<AdaptiveAxis> axes = adaptive_axes(v, output);
    const Tensor total = reduce_last(adaptive_windows(v, axes, fill_of(v.dtype(), 0)), axes.size(), sum_reduce);
    Expr count = 1;
    for (size_t k = 0; k < axes.size(); ++k) {
      const Expr i = Expr::index(static_cast<int>(k), axes[k].out);
      count *= axes[k].end(i) - axes[k].start(i);
    }
    return total / iota_of(*v.graph, Shape(output), count, v.dtype());
  });
}

Tensor adaptive_max_pool(const Operand& x, const std::vector<int64_t>& output) {
  const Call call("adaptive_max_pool", x.where());
  const Tensor v = x.tensor();
  const std::vector<AdaptiveAxis> axes = adaptive_axes(v, output);
  return reduce_last(adaptive_windows(v, axes, least(v.dtype())), axes.size(), max_reduce);
}

}  // namespace lumen
