#include "lumen/codegen/cuda_contract_mma.h"

#include <fmt/format.h>

#include <bit>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract_stage.h"

namespace lumen {

namespace {

constexpr int64_t kDepth = 16;         // of one product
constexpr int64_t kSumPadding = 8;     // of a row of sums, so that a column of it is in several banks
constexpr int64_t kMostMmaSums = 128;  // of a thread

class MmaPrinter {
 public:
  MmaPrinter(const ContractRoles& roles, const CudaContractSchedule& schedule, DType dtype)
      : s_(schedule),
        dtype_(dtype),
        left_(roles, roles.rows, Role::row, dtype, schedule.rows, schedule.summed, StageReader::warps,
              schedule.method == CudaContractMethod::grouped) {
    for (const NodeId factor : roles.columns) {
      rights_.emplace_back(roles, factor, Role::column, dtype, s_.columns, s_.summed);
    }
    sides_ = std::ssize(rights_);
    rows_ = s_.rows / s_.lanes;
    across_ = s_.threads / 32 / s_.lanes;
    columns_ = s_.columns / across_;
    stage_ = left_.elements() + sides_ * s_.columns * s_.summed;
  }

  Expected<CudaTileText> print() {
    CudaTileText made;
    made.pitch = s_.columns + kSumPadding;
    made.shared = s_.ahead * stage_ * 2;
    std::string fill = LUMEN_TRY(left_.fill("stage", "m0", s_.threads, made.faults));
    for (int64_t side = 0; side < sides_; ++side) {
      fill +=
          LUMEN_TRY(rights_[static_cast<size_t>(side)].fill(right_at("stage", side), "c0", s_.threads, made.faults));
    }
    made.text = fmt::format(
        "    float s[{sides}][{tm}][{tn}][4] = {{}};\n"
        "    uint16_t* const stages = (uint16_t*)shared;\n"
        "    const int warp = threadIdx.x / 32, down = warp / {X} * {rows}, across = warp % {X} * {columns};\n"
        "    const Index count = (k1 - k0 + {K} - 1) / {K};\n"
        "    for (Index t = 0; t < {ahead} - 1 + count; ++t) {{\n"
        "      if (t >= {ahead} - 1) {{\n"
        "        lumen_wait_for_copies<{ahead} - 2>();\n        __syncthreads();\n      }}\n"
        "      if (t < count) {{\n"
        "        uint16_t* const stage = stages + t % {ahead} * {stage};\n"
        "        const Index kk = k0 + t * {K};\n{fill}      }}\n"
        "      lumen_commit_copies();\n"
        "      if (t < {ahead} - 1) continue;\n"
        "      const uint16_t* const ready = stages + (t + 1) % {ahead} * {stage};\n{products}    }}\n"
        "    lumen_wait_for_copies<0>();\n    __syncthreads();\n{store}",
        fmt::arg("sides", sides_), fmt::arg("tm", rows_ / 16), fmt::arg("tn", columns_ / 8), fmt::arg("X", across_),
        fmt::arg("rows", rows_), fmt::arg("columns", columns_), fmt::arg("K", s_.summed), fmt::arg("ahead", s_.ahead),
        fmt::arg("stage", stage_), fmt::arg("fill", fill), fmt::arg("products", products()),
        fmt::arg("store", store()));
    return made;
  }

 private:
  std::string right_at(const std::string& stage, int64_t side) const {
    return fmt::format("{} + {}", stage, left_.elements() + side * s_.columns * s_.summed);
  }

  std::string products() const {
    std::string text = fmt::format(
        "      LUMEN_UNROLL for (int k = 0; k < {}; k += {}) {{\n"
        "        uint32_t x[{}][4];\n"
        "        LUMEN_UNROLL for (int m = 0; m < {}; ++m) {}\n",
        s_.summed, kDepth, rows_ / 16, rows_ / 16, left_.load_left("x[m]", "ready", "down + m * 16", "k"));
    for (int64_t side = 0; side < sides_; ++side) {
      const std::string load =
          rights_[static_cast<size_t>(side)].load_right("y", right_at("ready", side), "across + n * 16", "k");
      text += fmt::format(
          "        LUMEN_UNROLL for (int n = 0; n < {tn}; ++n) {{\n"
          "          uint32_t y[4];\n          {load}\n"
          "          LUMEN_UNROLL for (int m = 0; m < {tm}; ++m) {{\n"
          "            lumen_multiply_{D}(s[{side}][m][2 * n], x[m], y);\n"
          "            lumen_multiply_{D}(s[{side}][m][2 * n + 1], x[m], y + 2);\n          }}\n        }}\n",
          fmt::arg("tn", columns_ / 16), fmt::arg("load", load), fmt::arg("tm", rows_ / 16),
          fmt::arg("D", name(dtype_)), fmt::arg("side", side));
    }
    return text + "      }\n";
  }

  std::string store() const {
    return fmt::format(
        "    LUMEN_UNROLL for (int side = 0; side < {sides}; ++side)\n"
        "      LUMEN_UNROLL for (int m = 0; m < {tm}; ++m)\n"
        "        LUMEN_UNROLL for (int n = 0; n < {tn}; ++n)\n"
        "          LUMEN_UNROLL for (int h = 0; h < 2; ++h) {{\n"
        "            float* const to = sums + (side * {R} + down + m * 16 + h * 8 + threadIdx.x % 32 / 4) * {P} + "
        "across + n * 8 + threadIdx.x % 4 * 2;\n"
        "            *(float2*)to = float2{{s[side][m][n][2 * h], s[side][m][n][2 * h + 1]}};\n          }}\n",
        fmt::arg("sides", sides_), fmt::arg("tm", rows_ / 16), fmt::arg("tn", columns_ / 8), fmt::arg("R", s_.rows),
        fmt::arg("P", s_.columns + kSumPadding));
  }

  CudaContractSchedule s_;
  DType dtype_;
  CudaStage left_;
  std::vector<CudaStage> rights_;
  int64_t sides_ = 0, rows_ = 0, columns_ = 0, across_ = 0, stage_ = 0;  // rows and columns of a warp
};

}  // namespace

std::optional<DType> mma_dtype(const ContractRoles& roles) {
  const std::optional<NarrowFactor> rows = narrow_factor(roles, roles.rows);
  if (!rows || !is_float(rows->dtype)) return std::nullopt;
  for (const NodeId factor : roles.columns) {
    const std::optional<NarrowFactor> narrow = narrow_factor(roles, factor);
    if (!narrow || narrow->dtype != rows->dtype) return std::nullopt;
  }
  return rows->dtype;
}

Expected<CudaTileText> print_cuda_mma(const ContractRoles& roles, const CudaContractSchedule& s) {
  const std::optional<DType> dtype = mma_dtype(roles);
  if (!dtype) return error(fmt::format("no tensor cores multiply these factors, as \"{}\" wants", s.str()));
  const int64_t warps = s.threads / 32;
  const bool split = s.lanes > 0 && warps % s.lanes == 0 && s.rows % (16 * s.lanes) == 0 && s.rows > 0;
  const auto is_tile = [](int64_t size) { return size % 64 == 0 || std::has_single_bit(static_cast<uint64_t>(size)); };
  const bool whole = split && is_tile(s.rows) && is_tile(s.columns) && is_tile(s.summed) && s.columns > 0 &&
                     s.columns % (16 * warps / s.lanes) == 0 && s.summed > 0 && s.summed % kDepth == 0 &&
                     s.ahead >= 2 && s.wide == 0;
  if (!whole || std::ssize(roles.columns) * s.rows * s.columns / s.threads > kMostMmaSums) {
    return error(fmt::format("the schedule \"{}\" is not one of 16 x 16 products of warps", s.str()));
  }
  return MmaPrinter(roles, s, *dtype).print();
}

}  // namespace lumen
