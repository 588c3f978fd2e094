#include "lumen/frontend/normalization.h"

#include <fmt/format.h>

#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"
#include "lumen/frontend/reduction.h"

namespace lumen {

namespace {

// x minus its maximum along the axis; what is empty has no maximum and stays.
Tensor below_max(Tensor x, int64_t axis) { return x.shape().numel() == Expr(0) ? x : x - max(x, {axis}, true); }

// x * weight + bias, each in x's dtype and reshaped by `place`.
template <class Place>
Tensor scaled(Tensor x, const std::optional<Operand>& weight, const std::optional<Operand>& bias, Place place) {
  const auto prepared = [&](const Operand& p, std::string_view what) -> Operand {
    if (!p.is_tensor()) return p;
    return cast_to(place(p.tensor(), what), x.dtype());
  };
  Tensor result = x;
  if (weight) result = result * prepared(*weight, "weight");
  if (bias) result = result + prepared(*bias, "bias");
  return result;
}

// [C] as [1, C, 1, …] for the channels (dim 1) of `like`.
Tensor per_channel(Tensor parameter, Tensor like, std::string_view what) {
  if (parameter.rank() != 1 || parameter.shape()[0] != like.shape()[1]) {
    fail(fmt::format("{} {} has not one value per channel of {}", what, parameter.type().str(), like.type().str()));
  }
  std::vector<Expr> dims(static_cast<size_t>(like.rank()), Expr(1));
  dims[1] = like.shape()[1];
  return reshaped(parameter, dims);
}

auto channels_of(Tensor like) {
  return [like](Tensor parameter, std::string_view what) { return per_channel(parameter, like, what); };
}

void check_channels(Tensor x) {
  if (x.rank() < 2) fail(fmt::format("needs [batch, channels, …], got {}", x.type().str()));
}

Tensor standardized(Tensor x, const Axes& axes, double eps) {
  const Tensor centred = x - mean(x, axes, true);
  return centred * rsqrt(mean(square(centred), axes, true) + eps);
}

Axes axes_from(Tensor x, int64_t first) {
  Axes axes;
  for (int64_t axis = first; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

Tensor softmax(const Operand& x, int64_t axis) {
  const Call call("softmax", x.where());
  return in_floats(x, [&](Tensor v) {
    const Tensor e = exp(below_max(v, axis));
    return e * reciprocal(sum(e, {axis}, true));
  });
}

Tensor log_softmax(const Operand& x, int64_t axis) {
  const Call call("log_softmax", x.where());
  return in_floats(x, [&](Tensor v) {
    const Tensor shifted = below_max(v, axis);
    return shifted - log(sum(exp(shifted), {axis}, true));
  });
}

Tensor softmin(const Operand& x, int64_t axis) {
  const Call call("softmin", x.where());
  return in_floats(x, [&](Tensor v) { return softmax(-v, axis); });
}

Tensor layer_norm(const Operand& x, int64_t rank, const std::optional<Operand>& weight,
                  const std::optional<Operand>& bias, double eps) {
  const Call call("layer_norm", x.where());
  const Tensor given = x.tensor();
  if (rank < 1 || rank > given.rank()) fail(fmt::format("{} has no {} trailing dims", given.type().str(), rank));
  const Shape normalized(given.shape().dims().last(static_cast<size_t>(rank)));
  return in_floats(x, [&](Tensor v) {
    return scaled(standardized(v, axes_from(v, v.rank() - rank), eps), weight, bias,
                  [&](Tensor parameter, std::string_view what) {
                    if (parameter.shape() != normalized) {
                      fail(fmt::format("{} {} has not the shape {} of the normalised dims", what,
                                       parameter.type().str(), normalized.str()));
                    }
                    return parameter;
                  });
  });
}

Tensor rms_norm(const Operand& x, const std::optional<Operand>& weight, double eps) {
  const Call call("rms_norm", x.where());
  if (x.tensor().rank() == 0) fail(fmt::format("needs at least 1 dim, got {}", x.tensor().type().str()));
  return in_floats(x, [&](Tensor v) {
    const Tensor scale = rsqrt(mean(square(v), {-1}, true) + eps);
    return scaled(v * scale, weight, {}, [&](Tensor parameter, std::string_view what) {
      if (parameter.rank() != 1 || parameter.shape()[0] != v.dim(-1)) {
        fail(fmt::format("{} {} has not the last dim of {}", what, parameter.type().str(), v.type().str()));
      }
      return parameter;
    });
  });
}

Tensor normalize(const Operand& x, double p, int64_t axis, double eps) {
  const Call call("normalize", x.where());
  return in_floats(x, [&](Tensor v) { return v / maximum(norm(v, p, {axis}, true), eps); });
}

Tensor mean_norm(const Operand& x, int64_t axis) {
  const Call call("mean_norm", x.where());
  return in_floats(x, [&](Tensor v) { return v - mean(v, {axis}, true); });
}

Tensor std_norm(const Operand& x, int64_t axis, double eps) {
  const Call call("std_norm", x.where());
  return in_floats(x, [&](Tensor v) { return v * rsqrt(mean(square(v), {axis}, true) + eps); });
}

Tensor batch_norm(const Operand& x, const Operand& mean, const Operand& var, const std::optional<Operand>& weight,
                  const std::optional<Operand>& bias, double eps) {
  const Call call("batch_norm", x.where());
  check_channels(x.tensor());
  return in_floats(x, [&](Tensor v) {
    const Tensor centre = cast_to(per_channel(mean.tensor(), v, "mean"), v.dtype());
    const Tensor spread = cast_to(per_channel(var.tensor(), v, "var"), v.dtype());
    return scaled((v - centre) * rsqrt(spread + eps), weight, bias, channels_of(v));
  });
}

Tensor group_norm(const Operand& x, int64_t groups, const std::optional<Operand>& weight,
                  const std::optional<Operand>& bias, double eps) {
  const Call call("group_norm", x.where());
  check_channels(x.tensor());
  if (groups < 1) fail(fmt::format("the number of groups must be positive, got {}", groups));
  return in_floats(x, [&](Tensor v) {
    const Tensor grouped = unflatten(v, 1, {groups, -1});
    const Tensor result = standardized(grouped, axes_from(grouped, 2), eps);
    return scaled(reshaped(result, v.shape()), weight, bias, channels_of(v));
  });
}

Tensor instance_norm(const Operand& x, const std::optional<Operand>& weight, const std::optional<Operand>& bias,
                     double eps) {
  const Call call("instance_norm", x.where());
  const Tensor given = x.tensor();
  if (given.rank() < 3) fail(fmt::format("needs [batch, channels, …] with a spatial dim, got {}", given.type().str()));
  return in_floats(
      x, [&](Tensor v) { return scaled(standardized(v, axes_from(v, 2), eps), weight, bias, channels_of(v)); });
}

}  // namespace lumen
