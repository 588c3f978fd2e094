#include "lumen/codegen/cuda_contract_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_types.h"
#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/scalar.h"

namespace lumen {

namespace {

constexpr int64_t kPiece = 8;            // elements of 16 bytes
constexpr int64_t kCopierTurns = 4;      // whose addresses are in registers of threads that have few of them;
constexpr int64_t kMostCopierTurns = 4;  // times as many are found once for all tiles
constexpr int64_t kWidth = 64;           // elements of a line that groups read: all banks

}  // namespace

CudaStage::CudaStage(const ContractRoles& roles, NodeId factor, Role lane, DType dtype, int64_t lanes, int64_t depth,
                     StageReader reader, bool grouped)
    : roles_(roles),
      factor_(factor),
      lane_(lane),
      dtype_(dtype),
      lanes_(lanes),
      depth_(depth),
      reader_(reader),
      grouped_(grouped) {
  for (const Way way : {Way::along_summed, Way::along_lanes}) {
    if (grouped && way == Way::along_lanes) break;  // they are no neighbours
    way_ = way;
    ElementWriter probe(*roles.graph, 0);
    const std::optional<StoredFactor> stored = stored_factor(roles, *roles.graph, factor, &probe, lines());
    const Role along = way == Way::along_summed ? Role::summed : lane;
    if (stored && stored->dtype == dtype && elements_at_once(roles, *stored, along) == kPiece) return;
  }
  way_ = Way::elements;
}

std::string CudaStage::place(const std::string& line, const std::string& piece, const std::string& like) const {
  if (reader_ == StageReader::groups) {
    return fmt::format("(({1}) / 8 * {2} + ({0}) * {3} + (({1}) % 8 ^ ({4}) % 8) * 8)", line, piece,
                       lines_of_tile() * kWidth, kWidth, like);
  }
  const int64_t count = pieces();
  const std::string turn =
      count >= 8 ? fmt::format("({}) % 8", like) : fmt::format("({}) / {} % {}", like, 8 / count, count);
  return fmt::format("(({}) * {} + (({}) ^ ({})) * 8)", line, count * kPiece, piece, turn);
}

// What is not there is read as nothing, from where the first element is: no branches, so that what is the same for all
// tiles is found once. Many addresses are known before the first copy, as an index that chooses takes its time.
std::string CudaStage::copy(const std::string& to, const std::string& first, int64_t threads,
                            std::vector<std::string>& faults, std::optional<Role> inside) const {
  ElementWriter gathers(*roles_.graph, 8, faults);
  const StoredFactor stored = *stored_factor(roles_, *roles_.graph, factor_, &gathers, lines());
  faults = gathers.faults();
  const bool summed = way_ == Way::along_summed;
  const int64_t size = elements() / kPiece, turns = (size + threads - 1) / threads;
  const int64_t some = reader_ == StageReader::groups ? std::min(turns, kCopierTurns) : turns;
  // Where all lines have as many threads, the piece of a thread is always the same.
  const std::string e =
      threads % pieces() == 0
          ? fmt::format("const uint32_t line = threadIdx.x / {0} + u * {1}, piece = threadIdx.x % {0};", pieces(),
                        threads / pieces())
          : fmt::format("const uint32_t e = threadIdx.x + u * {1}, line = e / {0}, piece = e % {0};", pieces(),
                        threads);
  // For groups the lines of a thread are exchanged in one way, or in a few that are constants, and the places of its
  // pieces are constants apart.
  const int64_t step = std::max<int64_t>(1, threads / pieces());
  std::string like = "line";
  if (reader_ == StageReader::groups && threads % pieces() == 0 && (step % 8 == 0 || 8 % step == 0)) {
    like = fmt::format("(threadIdx.x / {} % {} ^ u * {} % 8)", pieces(), std::min<int64_t>(step, 8), step);
  }
  const std::string rest = size % threads == 0 ? "" : fmt::format("        if (line >= {}) break;\n", size / pieces());
  return fmt::format(
      "      {unroll} for (uint32_t u0 = 0; u0 < {turns}; u0 += {some}) {{\n"
      "      const uint32_t u1 = u0 + {some} < {turns} ? u0 + {some} : {turns};\n"
      "      const uint16_t* sources[{some}];\n      int bytes[{some}];\n"
      "      LUMEN_UNROLL for (uint32_t u = u0; u < u1; ++u) {{\n        {e}\n{rest}"
      "        const Index lane_at = {first} + (Index)({lane}), summed_at = kk + (Index)({k});\n"
      "        const bool is_lane = {is_lane}, is_summed = {is_summed};\n"
      "        const Index {place}, i3 = is_summed ? summed_at : 0;\n{gathers}"
      "        sources[u - u0] = a{input} + {index}, bytes[u - u0] = is_lane && is_summed ? 16 : 0;\n      }}\n"
      "      LUMEN_UNROLL for (uint32_t u = u0; u < u1; ++u) {{\n        {e}\n{rest}"
      "        lumen_copy_async({to} + {cell}, sources[u - u0], bytes[u - u0]);\n      }}\n      }}\n",
      fmt::arg("unroll", turns > kMostCopierTurns * some ? "LUMEN_UNROLL_BY(1)" : "LUMEN_UNROLL"),
      fmt::arg("turns", turns), fmt::arg("some", some), fmt::arg("e", e), fmt::arg("rest", rest),
      fmt::arg("first", first), fmt::arg("lane", summed ? "line" : "piece * 8"),
      fmt::arg("k", summed ? "piece * 8" : "line"),
      fmt::arg("is_lane", inside == lane_ ? "true"
                          : grouped_      ? "lane_at < m1"
                                          : "lane_at < " + plain_number(roles_.extent(lane_))),
      fmt::arg("is_summed", inside == Role::summed ? "true" : "summed_at < k1"),
      fmt::arg("place", grouped_ ? std::string("i0 = order[is_lane ? lane_at : m0], i1 = 0")
                                 : fmt::format("{} = is_lane ? lane_at : 0", lane_ == Role::row ? "i1" : "i2")),
      fmt::arg("gathers", gathers.text()), fmt::arg("to", to), fmt::arg("cell", place("line", "piece", like)),
      fmt::arg("input", stored.input), fmt::arg("index", plain_number(stored.index)));
}

Expected<std::string> CudaStage::fill(const std::string& to, const std::string& first, int64_t threads,
                                      std::vector<std::string>& faults, bool is_behind_anything) const {
  if (way_ != Way::elements) return copy(to, first, threads, faults);
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
  fill.repeats = is_behind_anything;
  fill.grouped = grouped_;
  return print_fill(roles_, fill, faults);
}

std::optional<std::string> CudaStage::fill_inside(const std::string& to, const std::string& first, int64_t threads,
                                                  Role along, std::vector<std::string>& faults) const {
  if (way_ == Way::elements) return std::nullopt;
  return copy(to, first, threads, faults, along);
}

// Which of a line's pieces are exchanged depends on `within` alone: what is multiplied next is a constant further.
std::string CudaStage::load(const std::string& to, const std::string& from, const std::string& line,
                            const std::string& within, const std::string& piece) const {
  return fmt::format("lumen_load_{}matrices({}, {} + {} + ({}) * {});", way_ == Way::along_lanes ? "turned_" : "", to,
                     from, place(within, piece), line, pieces() * kPiece);
}

// Of the four matrices, the second is eight lanes further, the third eight summed coordinates.
std::string CudaStage::load_left(const std::string& to, const std::string& from, const std::string& lane,
                                 const std::string& k) const {
  const std::string odd = "(threadIdx.x / 8 % 2)", high = "(threadIdx.x / 16 % 2)";
  const std::string lower = "threadIdx.x % 8 + threadIdx.x / 16 % 2 * 8", upper = "threadIdx.x % 16";
  if (way_ == Way::along_lanes) return load(to, from, k, lower, fmt::format("({}) / 8 + {}", lane, odd));
  return load(to, from, lane, upper, fmt::format("({}) / 8 + {}", k, high));
}

// The other way round.
std::string CudaStage::load_right(const std::string& to, const std::string& from, const std::string& lane,
                                  const std::string& k) const {
  const std::string odd = "(threadIdx.x / 8 % 2)", high = "(threadIdx.x / 16 % 2)";
  const std::string lower = "threadIdx.x % 8 + threadIdx.x / 16 % 2 * 8", upper = "threadIdx.x % 16";
  if (way_ == Way::along_lanes) return load(to, from, k, upper, fmt::format("({}) / 8 + {}", lane, high));
  return load(to, from, lane, lower, fmt::format("({}) / 8 + {}", k, odd));
}

std::string CudaStage::describe(const std::string& from, const std::string& lane, const std::string& k) const {
  const int64_t further = lines_of_tile() * kWidth * 2, line = kWidth * 2;
  const std::string at =
      is_turned() ? fmt::format("({}) / {} * {} + ({}) * {}", lane, kWidth, further, k, line)
                  : fmt::format("({0}) / {1} * {2} + ({3}) * {4} + ({0}) % {1} * 2", k, kWidth, further, lane, line);
  return fmt::format("lumen_describe({}, {}, {})", from, at, further);
}

}  // namespace lumen
