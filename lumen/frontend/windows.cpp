#include "lumen/frontend/windows.h"

#include <fmt/format.h>

#include "lumen/frontend/movement.h"

namespace lumen {

std::vector<int64_t> per_dim(const std::vector<int64_t>& values, size_t count, std::string_view what,
                             int64_t least_value) {
  if (values.size() != count && values.size() != 1) {
    fail(fmt::format("{} has {} values for {} dims", what, values.size(), count));
  }
  for (int64_t value : values) {
    if (value < least_value) fail(fmt::format("{} must be at least {}, got {}", what, least_value, value));
  }
  return values.size() == count ? values : std::vector<int64_t>(count, values[0]);
}

Expr Window::count(Expr length) const {
  const Expr room = length + 2 * padding - reach();
  if (!ceil_mode) return floor_div(room, stride) + 1;
  const Expr all = ceil_div(room, stride) + 1;
  return all - ge((all - 1) * stride, length + padding);
}

Tensor windows_of(Tensor x, const std::vector<Window>& windows, Scalar fill) {
  const auto spatial = static_cast<int64_t>(windows.size());
  const int64_t first = x.rank() - spatial;
  Tensor result = x;
  for (int64_t k = 0; k < spatial; ++k) {
    const Window& window = windows[static_cast<size_t>(k)];
    const Expr length = x.shape()[first + k];
    if (refuted(ge(length + 2 * window.padding, window.reach()))) {
      fail(fmt::format("a window of {} elements does not fit axis {} of {} padded by {}", window.reach().str(),
                       first + k, x.type().str(), window.padding));
    }
    const Expr needed = (window.count(length) - 1) * window.stride + window.reach();
    const Expr after = window.ceil_mode ? needed - length - window.padding : Expr(window.padding);
    const auto cropped = after.constant() && *after.constant() < 0;
    result = padded(result, first + k, window.padding, cropped ? Expr(0) : after, fill);
    if (cropped) result = sliced(result, first + k, 0, needed);
    result = moved(result, [&](View v) { return unfold(v, first + k, window.size, window.stride, window.dilation); });
  }
  return result;
}

}  // namespace lumen
