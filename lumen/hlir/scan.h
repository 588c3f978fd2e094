// Scan: the reduction of every prefix along an axis.
#pragma once

#include <array>
#include <utility>

#include "lumen/ir/op.h"

namespace lumen::hlir {

enum class ScanKind : uint8_t { sum, prod, max };

struct Scan {
  int64_t axis = 0;
  ScanKind kind = ScanKind::sum;
  static constexpr std::string_view kName = "Scan";
  static constexpr std::string_view kDoc =
      "Element k along `axis` is the sum, product or maximum of elements 0 to k, as SumReduce, ProdReduce and "
      "MaxReduce give it.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::scan;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"axis", &Scan::axis}, Field{"kind", &Scan::kind}}; }
  static Expected<TensorType> infer(const Scan& op, std::span<const TensorType> operands);
  static Expected<void> eval(const Scan& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

}  // namespace lumen::hlir

template <>
struct lumen::EnumNames<lumen::hlir::ScanKind> {
  static constexpr std::string_view type = "scan_kind";
  static constexpr std::array values = {std::pair{hlir::ScanKind::sum, std::string_view("sum")},
                                        std::pair{hlir::ScanKind::prod, std::string_view("prod")},
                                        std::pair{hlir::ScanKind::max, std::string_view("max")}};
};
