#include "lumen/codegen/cuda_contract_sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/element.h"

namespace lumen {

namespace {

constexpr int64_t kMostSweepSums = 128;

// All sides by wide loads, of equally many elements, or none.
std::vector<StoredFactor> wide_columns(const ContractRoles& roles) {
  std::vector<StoredFactor> found;
  int64_t at_once = 0;
  for (const NodeId factor : roles.columns) {
    ElementWriter probe(*roles.graph, 0);
    const std::optional<StoredFactor> stored = stored_factor(roles, *roles.graph, factor, &probe);
    const int64_t count = stored ? elements_at_once(roles, *stored, Role::column) : 0;
    const bool same = found.empty() || count == at_once;
    const bool even = count > 0 && step_of(roles, stored->index, Role::summed).has_value();
    if (!even || !same || !is_unpacked(stored->dtype) || sum_bytes(roles.dtype) != 4) return {};
    at_once = count;
    found.push_back(*stored);
  }
  return found;
}

class SweepPrinter {
 public:
  SweepPrinter(const ContractRoles& roles, const CudaContractSchedule& schedule)
      : roles_(roles), s_(schedule), vectors_(wide_columns(roles)), at_once_(sweep_columns(roles)) {
    type_ = sum_type(roles.dtype);
    sides_ = std::ssize(roles.columns);
    down_ = s_.threads / s_.lanes;
    partials_ = s_.lanes < 32 ? s_.threads / 32 : down_;
  }

  Expected<CudaTileText> print() {
    CudaTileText made;
    const int64_t sums = (sides_ * s_.rows * s_.columns + 31) / 32 * 32;
    made.shared = (sums * (1 + partials_) + s_.rows * s_.summed) * sum_bytes(roles_.dtype);
    const std::string fill = LUMEN_TRY(fill_rows(made.faults));
    const std::string from = LUMEN_TRY(pointers(made.faults));
    std::string first, loop;
    if (vectors_.empty()) {
      loop = LUMEN_TRY(elements_loop(made.faults));
    } else {
      first = first_loads();
      loop = vectors_loop();
    }
    made.text = fmt::format(
        "    {T} s[{sides}][{R}][{V}] = {{}};\n"
        "    {T}* const partial = sums + {sums};\n    {T}* const x = partial + {partial};\n"
        "    const int across = threadIdx.x % {X}, down = threadIdx.x / {X};\n"
        "    const Index i2 = (Index)lumen_min_i64(c0 + across * {V}, {N} - {V});\n{from}"
        "    for (Index kk = k0; kk < k1; kk += {K}) {{\n"
        "      const Index count = k1 - kk < {K} ? k1 - kk : {K};\n{first}{fill}"
        "      __syncthreads();\n{loop}      __syncthreads();\n    }}\n{together}",
        fmt::arg("T", type_), fmt::arg("sides", sides_), fmt::arg("R", s_.rows), fmt::arg("V", at_once_),
        fmt::arg("sums", sums), fmt::arg("partial", sums * partials_), fmt::arg("X", s_.lanes),
        fmt::arg("N", plain_number(roles_.extent(Role::column))), fmt::arg("K", s_.summed), fmt::arg("from", from),
        fmt::arg("first", first), fmt::arg("fill", fill), fmt::arg("loop", loop), fmt::arg("together", together(sums)));
    return made;
  }

 private:
  Expected<std::string> fill_rows(std::vector<std::string>& faults) const {
    CudaFill fill;
    fill.graph = roles_.graph.get();
    fill.factor = roles_.rows;
    fill.lane = Role::row;
    fill.first = "m0";
    fill.cell = fmt::format("x[l * {} + k]", s_.summed);
    fill.type = type_;
    fill.convert = "(" + type_ + ")";
    fill.lanes = s_.rows;
    fill.depth = s_.summed;
    fill.threads = s_.threads;
    fill.along_summed = true;
    return print_fill(roles_, fill, faults);
  }

  std::string load(size_t side, const std::string& k) const {
    const Expr step = *step_of(roles_, vectors_[side].index, Role::summed);
    return fmt::format("          w{0}[u] = lumen_read_once(from{0} + (int64_t)(kk + {1}) * {2});\n", side, k,
                       plain_number(step));
  }

  // Where the columns of a thread begin.
  Expected<std::string> pointers(std::vector<std::string>& faults) const {
    std::string text;
    for (size_t side = 0; side < vectors_.size(); ++side) {
      ElementWriter gathers(*roles_.graph, 6, faults);
      const StoredFactor stored = *stored_factor(roles_, *roles_.graph, roles_.columns[side], &gathers);
      if (!gathers.problem().empty()) return error(gathers.problem());
      faults = gathers.faults();
      text += fmt::format(
          "    const {0}* from{1};\n    {{\n      const Index i3 = 0;\n{2}      from{1} = a{3} + {4};\n    }}\n",
          storage_type(stored.dtype), side, gathers.text(), stored.input, plain_number(stored.index));
    }
    return text;
  }

  std::string first_loads() const {
    std::string text, loads;
    for (size_t side = 0; side < vectors_.size(); ++side) {
      text += fmt::format("      uint4 w{}[{}];\n", side, s_.ahead);
      loads += load(side, "k");
    }
    return text + fmt::format(
                      "      LUMEN_UNROLL for (int u = 0; u < {}; ++u) {{\n"
                      "        const Index k = down + u * {};\n        if (k < count) {{\n{}        }}\n      }}\n",
                      s_.ahead, down_, loads);
  }

  std::string vectors_loop() const {
    std::string unpack, loads;
    for (size_t side = 0; side < vectors_.size(); ++side) {
      unpack += fmt::format("          lumen_unpack_{0}(w{1}[u], y[{1}]);\n", name(vectors_[side].dtype), side);
      loads += load(side, "next");
    }
    return fmt::format(
        "      for (Index q = down; q < count; q += {step}) {{\n"
        "        LUMEN_UNROLL for (int u = 0; u < {U}; ++u) {{\n"
        "          const Index k = q + u * {Y}, next = k + {step};\n"
        "          if (k >= count) continue;\n"
        "          {T} y[{sides}][{V}];\n{unpack}"
        "          if (next < count) {{\n{loads}          }}\n{products}        }}\n      }}\n",
        fmt::arg("step", down_ * s_.ahead), fmt::arg("U", s_.ahead), fmt::arg("Y", down_), fmt::arg("T", type_),
        fmt::arg("sides", sides_), fmt::arg("V", at_once_), fmt::arg("unpack", unpack), fmt::arg("loads", loads),
        fmt::arg("products", products()));
  }

  std::string products() const {
    return fmt::format(
        "          LUMEN_UNROLL for (int r = 0; r < {R}; ++r) {{\n"
        "            const {T} one = x[r * {K} + k];\n"
        "            LUMEN_UNROLL for (int side = 0; side < {sides}; ++side)\n"
        "              LUMEN_UNROLL for (int j = 0; j < {V}; ++j) s[side][r][j] += one * y[side][j];\n          }}\n",
        fmt::arg("R", s_.rows), fmt::arg("T", type_), fmt::arg("K", s_.summed), fmt::arg("sides", sides_),
        fmt::arg("V", at_once_));
  }

  Expected<std::string> elements_loop(std::vector<std::string>& faults) const {
    std::string values;
    for (size_t side = 0; side < roles_.columns.size(); ++side) {
      ElementWriter writer(*roles_.graph, 10, faults);
      const std::string value = writer.value(roles_.columns[side], roles_.at);
      if (!writer.problem().empty()) return error(writer.problem());
      faults = writer.faults();
      values += fmt::format("          {{\n{}          y[{}][0] = ({}){};\n          }}\n", writer.text(), side, type_,
                            value);
    }
    return fmt::format(
        "      LUMEN_UNROLL_BY(4) for (Index k = down; k < count; k += {}) {{\n"
        "          const Index i3 = kk + k;\n          {} y[{}][1];\n{}{}      }}\n",
        down_, type_, sides_, values, products());
  }

  // Over the threads that had the same columns: those of a warp, then of the block.
  std::string together(int64_t sums) const {
    std::string text = fmt::format(
        "    LUMEN_UNROLL for (int side = 0; side < {sides}; ++side)\n"
        "      LUMEN_UNROLL for (int r = 0; r < {R}; ++r)\n"
        "        LUMEN_UNROLL for (int j = 0; j < {V}; ++j) {{\n"
        "          {T} one = s[side][r][j];\n"
        "          LUMEN_UNROLL for (int step = {X}; step < 32; step *= 2) one += __shfl_xor_sync(0xffffffffu, one, "
        "step);\n"
        "          if (threadIdx.x % 32 < {X}) (partial + {which} * {sums})[(side * {R} + r) * {N} + across * {V} + j] "
        "= one;\n"
        "        }}\n",
        fmt::arg("sides", sides_), fmt::arg("R", s_.rows), fmt::arg("V", at_once_), fmt::arg("T", type_),
        fmt::arg("X", s_.lanes), fmt::arg("which", s_.lanes < 32 ? "(threadIdx.x / 32)" : "down"),
        fmt::arg("sums", sums), fmt::arg("N", s_.columns));
    return text + fmt::format(
                      "    __syncthreads();\n"
                      "    for (int e = threadIdx.x; e < {}; e += {}) {{\n"
                      "      {} one = 0;\n"
                      "      LUMEN_UNROLL for (int p = 0; p < {}; ++p) one += partial[p * {} + e];\n"
                      "      sums[e] = one;\n    }}\n",
                      sides_ * s_.rows * s_.columns, s_.threads, type_, partials_, sums);
  }

  const ContractRoles& roles_;
  CudaContractSchedule s_;
  std::vector<StoredFactor> vectors_;  // empty: columns are read element by element
  int64_t at_once_ = 1;
  std::string type_;
  int64_t sides_ = 0, down_ = 0, partials_ = 0;
};

}  // namespace

int64_t sweep_columns(const ContractRoles& roles) {
  const std::vector<StoredFactor> found = wide_columns(roles);
  return found.empty() ? 1 : elements_at_once(roles, found[0], Role::column);
}

Expected<CudaTileText> print_cuda_sweep(const ContractRoles& roles, const CudaContractSchedule& s) {
  const int64_t at_once = sweep_columns(roles);
  const bool power = s.lanes > 0 && (s.lanes & (s.lanes - 1)) == 0;
  const bool whole = power && s.rows > 0 && s.columns == s.lanes * at_once && s.threads % s.lanes == 0 &&
                     s.summed > 0 && s.ahead > 0 && s.ahead <= 16 && s.wide == 0;
  if (!whole || std::ssize(roles.columns) * s.rows * at_once > kMostSweepSums) {
    return error(fmt::format("the schedule \"{}\" is not one of threads that sweep {} columns", s.str(), at_once));
  }
  return SweepPrinter(roles, s).print();
}

}  // namespace lumen
