// Gather and Scatter: reading and writing whole slices along an axis by index.
#pragma once

#include <array>
#include <utility>

#include "lumen/ir/op.h"

namespace lumen::hlir {

struct Gather {
  int64_t axis = 0;
  static constexpr std::string_view kName = "Gather";
  static constexpr std::string_view kDoc =
      "numpy.take of x by integer indices: the shape is x.shape[:axis] + indices.shape + x.shape[axis+1:]. An index "
      "outside the axis is an error when run; negative ones are outside.";
  static constexpr int kArity = 2;
  static constexpr OpFamily kFamily = OpFamily::gather;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"axis", &Gather::axis}}; }
  static Expected<TensorType> infer(const Gather& op, std::span<const TensorType> operands);
  static Expected<void> eval(const Gather& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

enum class ScatterMode : uint8_t { set, add, mul, max, min };

struct Scatter {
  int64_t axis = 0;
  ScatterMode mode = ScatterMode::set;
  static constexpr std::string_view kName = "Scatter";
  static constexpr std::string_view kDoc =
      "x with the slices of `source` set, added, multiplied, maximised or minimised into the places that "
      "Gather(x, indices) would read, in row-major order of `source`: of several, set keeps the last. Sums and "
      "products are rounded once, at the end.";
  static constexpr int kArity = 3;
  static constexpr OpFamily kFamily = OpFamily::scatter;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"axis", &Scatter::axis}, Field{"mode", &Scatter::mode}}; }
  static Expected<TensorType> infer(const Scatter& op, std::span<const TensorType> operands);
  static Expected<void> eval(const Scatter& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

}  // namespace lumen::hlir

template <>
struct lumen::EnumNames<lumen::hlir::ScatterMode> {
  static constexpr std::string_view type = "scatter_mode";
  static constexpr std::array values = {std::pair{hlir::ScatterMode::set, std::string_view("set")},
                                        std::pair{hlir::ScatterMode::add, std::string_view("add")},
                                        std::pair{hlir::ScatterMode::mul, std::string_view("mul")},
                                        std::pair{hlir::ScatterMode::max, std::string_view("max")},
                                        std::pair{hlir::ScatterMode::min, std::string_view("min")}};
};
