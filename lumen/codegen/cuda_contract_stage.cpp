#include "lumen/codegen/cuda_contract_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/scalar.h"

namespace lumen {

namespace {

constexpr int64_t kPiece = 8;  // elements of 16 bytes

}  // namespace

CudaStage::CudaStage(const ContractRoles& roles, NodeId factor, Role lane, DType dtype, int64_t lanes, int64_t depth)
    : roles_(roles), factor_(factor), lane_(lane), dtype_(dtype), lanes_(lanes), depth_(depth) {
  const std::optional<StoredFactor> stored = stored_factor(roles, *roles.graph, factor);
  if (!stored || stored->dtype != dtype) return;
  if (elements_at_once(roles, *stored, Role::summed) == kPiece) {
    way_ = Way::along_summed;
  } else if (elements_at_once(roles, *stored, lane) == kPiece) {
    way_ = Way::along_lanes;
  }
}

std::string CudaStage::place(const std::string& line, const std::string& piece) const {
  const int64_t count = pieces();
  const std::string turn =
      count >= 8 ? fmt::format("({}) % 8", line) : fmt::format("({}) / {} % {}", line, 8 / count, count);
  return fmt::format("(({}) * {} + (({}) ^ ({})) * 8)", line, count * kPiece, piece, turn);
}

std::string CudaStage::copy(const std::string& to, const std::string& first, int64_t threads) const {
  const StoredFactor stored = *stored_factor(roles_, *roles_.graph, factor_);
  const bool summed = way_ == Way::along_summed;
  const std::string i = lane_ == Role::row ? "i1" : "i2";
  return fmt::format(
      "      LUMEN_UNROLL for (int e = threadIdx.x; e < {size}; e += {threads}) {{\n"
      "        const int line = e / {pieces}, piece = e % {pieces};\n"
      "        const Index {i} = {first} + {lane}, i3 = kk + {k};\n"
      "        const bool there = {i} < {extent} && i3 < k1;\n"
      "        lumen_copy_async({to} + {place}, there ? a{input} + {index} : a{input}, there ? 16 : 0);\n      }}\n",
      fmt::arg("size", elements() / kPiece), fmt::arg("threads", threads), fmt::arg("pieces", pieces()),
      fmt::arg("i", i), fmt::arg("first", first), fmt::arg("lane", summed ? "line" : "piece * 8"),
      fmt::arg("k", summed ? "piece * 8" : "line"), fmt::arg("extent", plain_number(roles_.extent(lane_))),
      fmt::arg("to", to), fmt::arg("place", place("line", "piece")), fmt::arg("input", stored.input),
      fmt::arg("index", plain_number(stored.index)));
}

Expected<std::string> CudaStage::fill(const std::string& to, const std::string& first, int64_t threads,
                                      std::vector<std::string>& faults) const {
  if (way_ != Way::elements) return copy(to, first, threads);
  const HeldFactor held = held_factor(roles_, factor_, lane_, true);
  CudaFill fill;
  fill.graph = held.graph.get();
  fill.factor = held.node;
  fill.lane = lane_;
  fill.first = first;
  fill.cell = fmt::format("({})[{} + k % 8]", to, place("l", "k / 8"));
  fill.type = "uint16_t";
  fill.convert = held.convert;
  fill.lanes = lanes_;
  fill.depth = depth_;
  fill.threads = threads;
  fill.along_summed = held.along_summed;
  return print_fill(roles_, fill, faults);
}

std::string CudaStage::load(const std::string& to, const std::string& from, const std::string& line,
                            const std::string& piece) const {
  return fmt::format("lumen_load_{}matrices({}, {} + {});", way_ == Way::along_lanes ? "turned_" : "", to, from,
                     place(line, piece));
}

// Of the four matrices, the second is eight lanes further, the third eight summed coordinates.
std::string CudaStage::load_left(const std::string& to, const std::string& from, const std::string& lane,
                                 const std::string& k) const {
  const std::string eighth = "(threadIdx.x % 8)", odd = "(threadIdx.x / 8 % 2)", high = "(threadIdx.x / 16 % 2)";
  if (way_ == Way::along_lanes) {
    return load(to, from, fmt::format("{} + {} + {} * 8", k, eighth, high), fmt::format("({}) / 8 + {}", lane, odd));
  }
  return load(to, from, fmt::format("{} + {} + {} * 8", lane, eighth, odd), fmt::format("({}) / 8 + {}", k, high));
}

// The other way round.
std::string CudaStage::load_right(const std::string& to, const std::string& from, const std::string& lane,
                                  const std::string& k) const {
  const std::string eighth = "(threadIdx.x % 8)", odd = "(threadIdx.x / 8 % 2)", high = "(threadIdx.x / 16 % 2)";
  if (way_ == Way::along_lanes) {
    return load(to, from, fmt::format("{} + {} + {} * 8", k, eighth, odd), fmt::format("({}) / 8 + {}", lane, high));
  }
  return load(to, from, fmt::format("{} + {} + {} * 8", lane, eighth, high), fmt::format("({}) / 8 + {}", k, odd));
}

}  // namespace lumen
