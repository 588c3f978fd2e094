#include "lumen/codegen/cuda_contract_tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_types.h"

namespace lumen {

namespace {

constexpr int64_t kAcross = 16;  // threads along the columns
constexpr int64_t kMostTileSums = 64;

class ThreadTilePrinter {
 public:
  ThreadTilePrinter(const ContractRoles& roles, const CudaContractSchedule& schedule) : roles_(roles), s_(schedule) {
    type_ = sum_type(roles.dtype);
    down_ = s_.threads / kAcross;
  }

  Expected<CudaTileText> print() {
    CudaTileText made;
    const auto sides = std::ssize(roles_.columns);
    const int64_t x_pitch = s_.rows + 1, y_pitch = s_.columns + 1;
    std::string fills = LUMEN_TRY(fill(roles_.rows, Role::row, 0, x_pitch, made.faults));
    for (int64_t side = 0; side < sides; ++side) {
      fills += LUMEN_TRY(fill(roles_.columns[static_cast<size_t>(side)], Role::column,
                              s_.summed * (x_pitch + side * y_pitch), y_pitch, made.faults));
    }
    const int64_t elements = s_.summed * (x_pitch + sides * y_pitch);
    made.shared = elements * sum_bytes(roles_.dtype);
    made.text = fmt::format(
        "    {T} s[{sides}][{tm}][{tn}] = {{}};\n"
        "    const int across = threadIdx.x % {X}, down = threadIdx.x / {X};\n"
        "    for (Index kk = k0; kk < k1; kk += {K}) {{\n{fills}"
        "      __syncthreads();\n"
        "      LUMEN_UNROLL for (int k = 0; k < {K}; ++k) {{\n"
        "        {T} x[{tm}];\n"
        "        LUMEN_UNROLL for (int r = 0; r < {tm}; ++r) x[r] = sums[k * {xp} + down + r * {Y}];\n{products}"
        "      }}\n      __syncthreads();\n    }}\n"
        "    LUMEN_UNROLL for (int side = 0; side < {sides}; ++side)\n"
        "      LUMEN_UNROLL for (int r = 0; r < {tm}; ++r)\n"
        "        LUMEN_UNROLL for (int c = 0; c < {tn}; ++c)\n"
        "          sums[(side * {M} + down + r * {Y}) * {N} + across + c * {X}] = s[side][r][c];\n",
        fmt::arg("T", type_), fmt::arg("sides", sides), fmt::arg("tm", s_.rows / down_),
        fmt::arg("tn", s_.columns / kAcross), fmt::arg("X", kAcross), fmt::arg("Y", down_), fmt::arg("K", s_.summed),
        fmt::arg("fills", fills), fmt::arg("xp", x_pitch), fmt::arg("M", s_.rows), fmt::arg("N", s_.columns),
        fmt::arg("products", products(x_pitch, y_pitch)));
    return made;
  }

 private:
  Expected<std::string> fill(NodeId factor, Role lane, int64_t offset, int64_t pitch,
                             std::vector<std::string>& faults) const {
    CudaFill fill;
    fill.graph = roles_.graph.get();
    fill.factor = factor;
    fill.lane = lane;
    fill.first = std::string(lane == Role::row ? "m0" : "c0");
    fill.cell = fmt::format("sums[{} + k * {} + l]", offset, pitch);
    fill.type = type_;
    fill.convert = "(" + type_ + ")";
    fill.lanes = lane == Role::row ? s_.rows : s_.columns;
    fill.depth = s_.summed;
    fill.threads = s_.threads;
    fill.along_summed = held_factor(roles_, factor, lane, false).along_summed;
    return print_fill(roles_, fill, faults);
  }

  std::string products(int64_t x_pitch, int64_t y_pitch) const {
    return fmt::format(
        "        LUMEN_UNROLL for (int side = 0; side < {}; ++side)\n"
        "          LUMEN_UNROLL for (int c = 0; c < {}; ++c) {{\n"
        "            const {} y = sums[{} * ({} + side * {}) + k * {} + across + c * {}];\n"
        "            LUMEN_UNROLL for (int r = 0; r < {}; ++r) s[side][r][c] += x[r] * y;\n          }}\n",
        roles_.columns.size(), s_.columns / kAcross, type_, s_.summed, x_pitch, y_pitch, y_pitch, kAcross,
        s_.rows / down_);
  }

  const ContractRoles& roles_;
  CudaContractSchedule s_;
  std::string type_;
  int64_t down_ = 0;
};

}  // namespace

Expected<CudaTileText> print_cuda_tile(const ContractRoles& roles, const CudaContractSchedule& s) {
  const int64_t down = s.threads / kAcross;
  const bool whole = s.summed > 0 && s.columns > 0 && s.rows > 0 && down > 0 && s.threads % (2 * kAcross) == 0 &&
                     s.rows % down == 0 && s.columns % kAcross == 0;
  if (!whole || std::ssize(roles.columns) * s.rows * s.columns / s.threads > kMostTileSums) {
    return error(fmt::format("the schedule \"{}\" is not one of tiles of {} threads across", s.str(), kAcross));
  }
  return ThreadTilePrinter(roles, s).print();
}

}  // namespace lumen
