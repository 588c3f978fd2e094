#include "lumen/codegen/cuda_contract_warps.h"

#include <fmt/format.h>

#include "lumen/codegen/contract_sums.h"
#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/element.h"

namespace lumen {

namespace {

constexpr int64_t kMostLaneSums = 64;

int64_t rounded_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

}  // namespace

bool is_warp_tile(const ContractRoles& roles, const CudaContractSchedule& s) {
  const int64_t warps = s.threads / kWarp;
  const bool whole = s.rows > 0 && s.lanes > 0 && s.columns > 0 && s.columns % s.lanes == 0 &&
                     warps % (s.columns / s.lanes) == 0 && s.summed > 0 && s.ahead > 0 && s.ahead <= 16;
  return whole && warps >= s.columns / s.lanes && std::ssize(roles.columns) * s.rows * s.lanes <= kMostLaneSums;
}

WarpTile::WarpTile(const ContractRoles& roles, const CudaContractSchedule& schedule)
    : roles_(roles), s_(schedule), type_(sum_type(roles.dtype)), sides_(std::ssize(roles.columns)) {
  split_ = s_.threads / kWarp / (s_.columns / s_.lanes);
}

int64_t WarpTile::sums() const { return rounded_up(sides_ * s_.rows * s_.columns, 32); }
int64_t WarpTile::pitch() const {
  return of_lane == 0 ? s_.summed : rounded_up(s_.summed, kWarp * of_lane) / (kWarp * of_lane) * span();
}
int64_t WarpTile::shared() const {
  return rounded_up((sums() * (split_ > 1 ? 1 + split_ : 1) + s_.rows * pitch()) * sum_bytes(roles_.dtype), 128);
}

std::string WarpTile::head() const {
  return fmt::format(
      "    {T} s[{sides}][{R}][{C}] = {{}};\n"
      "    {T}* const partial = sums + {sums};\n    {T}* const x = partial + {partial};\n"
      "    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, piece = warp % {S}, group = warp / {S};\n",
      fmt::arg("T", type_), fmt::arg("sides", sides_), fmt::arg("R", s_.rows), fmt::arg("C", s_.lanes),
      fmt::arg("sums", sums()), fmt::arg("partial", split_ > 1 ? sums() * split_ : 0), fmt::arg("S", split_));
}

std::string WarpTile::place(const std::string& k) const {
  if (of_lane == 0) return k;
  return fmt::format("({0} / {1} * {2} + {0} % {3} / 4 * {4} + {0} % {1} / {3} * 4 + {0} % 4)", k, kWarp * of_lane,
                     span(), of_lane, group);
}

// Rows that lie along the summed axis, as they are, by wide loads; empty where they do not.
std::string WarpTile::fill_wide_rows() const {
  const std::optional<StoredFactor> stored = stored_factor(roles_, *roles_.graph, roles_.rows);
  const int64_t count = stored ? elements_at_once(roles_, *stored, Role::summed) : 0;
  if (count < 4 || !is_unpacked(stored->dtype) || sum_bytes(roles_.dtype) != 4) return "";
  return fmt::format(
      "      LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
      "        const Index i1 = m0 + r;\n"
      "        LUMEN_UNROLL_BY(2) for (Index e = threadIdx.x; e < count / {V}; e += {threads}) {{\n"
      "          const Index k = e * {V}, i3 = kk + k;\n"
      "          {T} all[{V}] = {{}};\n"
      "          if (i1 < {M}) lumen_unpack_{D}(*(const uint4*)(a{input} + {index}), all);\n"
      "          LUMEN_UNROLL for (int h = 0; h < {V}; h += 4)\n"
      "            lumen_put_four(x + r * {K} + {place}, all + h);\n        }}\n      }}\n",
      fmt::arg("R", s_.rows), fmt::arg("V", count), fmt::arg("threads", s_.threads), fmt::arg("T", type_),
      fmt::arg("M", plain_number(roles_.extent(Role::row))), fmt::arg("D", name(stored->dtype)),
      fmt::arg("input", stored->input), fmt::arg("index", plain_number(stored->index)), fmt::arg("K", pitch()),
      fmt::arg("place", place("(k + h)")));
}

Expected<std::string> WarpTile::fill_rows(const RowSums& sums, std::vector<std::string>& faults) const {
  const std::string summed = LUMEN_TRY(sums.text(faults));
  if (const std::string wide = fill_wide_rows(); !wide.empty()) return summed + wide;
  ElementWriter writer(*roles_.graph, 10, faults);
  sums.know(writer);
  const std::string value = writer.value(roles_.rows, roles_.at);
  if (!writer.problem().empty()) return error(writer.problem());
  faults = writer.faults();
  return summed + fmt::format(
                      "      LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
                      "        const Index i1 = m0 + r;\n{names}"
                      "        LUMEN_UNROLL_BY(8) for (Index k = threadIdx.x; k < count; k += {threads}) {{\n"
                      "          const Index i3 = kk + k;\n"
                      "          {T} value = 0;\n"
                      "          if (i1 < {M}) {{\n{text}          value = ({T}){v};\n          }}\n"
                      "          x[r * {K} + {place}] = value;\n        }}\n      }}\n",
                      fmt::arg("R", s_.rows), fmt::arg("threads", s_.threads), fmt::arg("T", type_),
                      fmt::arg("M", plain_number(roles_.extent(Role::row))), fmt::arg("text", writer.text()),
                      fmt::arg("v", value), fmt::arg("K", pitch()), fmt::arg("place", place("k")),
                      fmt::arg("names", sums.names_in(writer.text(), "r", 8)));
}

std::string WarpTile::column_line(const std::string& first) const {
  return fmt::format("const Index i2 = (Index)lumen_min_i64({} + group * {} + c, {} - 1);\n", first, s_.lanes,
                     plain_number(roles_.extent(Role::column)));
}

std::string WarpTile::together() const {
  const int64_t all = sides_ * s_.rows * s_.columns;
  std::string text = fmt::format(
      "    LUMEN_UNROLL for (int side = 0; side < {}; ++side)\n"
      "      LUMEN_UNROLL for (int r = 0; r < {}; ++r)\n"
      "        LUMEN_UNROLL for (int c = 0; c < {}; ++c) {{\n"
      "          {} one = s[side][r][c];\n"
      "          LUMEN_UNROLL for (int step = 16; step > 0; step /= 2) one += __shfl_xor_sync(0xffffffffu, one, "
      "step);\n"
      "          if (lane == 0) ({} + (side * {} + r) * {} + group * {})[c] = one;\n        }}\n",
      sides_, s_.rows, s_.lanes, type_, split_ == 1 ? "sums" : fmt::format("partial + piece * {}", all), s_.rows,
      s_.columns, s_.lanes);
  if (split_ == 1) return text;
  return text + fmt::format(
                    "    __syncthreads();\n"
                    "    for (int e = threadIdx.x; e < {0}; e += {1}) {{\n"
                    "      {2} one = partial[e];\n"
                    "      LUMEN_UNROLL for (int p = 1; p < {3}; ++p) one += partial[p * {0} + e];\n"
                    "      sums[e] = one;\n    }}\n",
                    all, s_.threads, type_, split_);
}

}  // namespace lumen
