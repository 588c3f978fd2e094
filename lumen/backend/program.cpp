#include "lumen/backend/program.h"

#include <algorithm>
#include <map>
#include <optional>

#include "lumen/base/check.h"

namespace lumen {

namespace {

constexpr int64_t kTypicalDim = 512;

class ProgramMaker {
 public:
  ProgramMaker(std::shared_ptr<const Graph> graph, std::vector<ProgramKernel> kernels) {
    program_.graph = std::move(graph);
    program_.kernels = std::move(kernels);
    for (const NodeId id : program_.graph->inputs()) value_of(id);
  }

  Expected<Program> run(std::span<const Carved> carved, std::span<const uint32_t> kernel_of) {
    for (size_t k = 0; k < carved.size(); ++k) {
      ProgramCall call{kernel_of[k], {}, {}};
      for (const NodeId id : carved[k].operands) {
        CHECK(values_.contains(id), "a kernel reads what no kernel before it makes");
        call.operands.push_back(values_.at(id));
      }
      for (const NodeId id : carved[k].results) call.results.push_back(value_of(id));
      program_.calls.push_back(std::move(call));
    }
    for (const Output& output : program_.graph->outputs()) program_.outputs.push_back(values_.at(output.value));
    LUMEN_TRY(plan_program(program_));
    return std::move(program_);
  }

 private:
  uint32_t value_of(NodeId id) {
    const auto [found, is_new] = values_.emplace(id, static_cast<uint32_t>(program_.values.size()));
    if (is_new) program_.values.push_back((*program_.graph)[id].type);
    return found->second;
  }

  Program program_;
  std::map<NodeId, uint32_t> values_;
};

class Planner {
 public:
  explicit Planner(Program& program)
      : program_(program), maker_(program.values.size()), last_(program.values.size(), {-1, 0}) {
    for (size_t k = 0; k < program.calls.size(); ++k) {
      waves_.push_back(k == 0 ? 0 : waves_.back() + (program.calls[k].joins ? 0 : 1));
      for (const uint32_t value : program.calls[k].results) {
        maker_[value] = k;
        last_[value] = {waves_[k], 0};
      }
      for (const uint32_t value : program.calls[k].operands) {
        if (last_[value].wave != waves_[k]) last_[value] = {waves_[k], 0};
        ++last_[value].readers;
      }
    }
  }

  void run() {
    program_.copies.clear();
    program_.inner.clear();
    program_.in_place.clear();
    place_outputs();
    for (size_t k = 0; k < program_.outputs.size(); ++k) program_.in_place.push_back(updates_in_place(k));
    plan_arena();
  }

 private:
  uint32_t inputs() const { return static_cast<uint32_t>(program_.graph->inputs().size()); }

  // An output that is an input, or an output already, is copied.
  void place_outputs() {
    program_.homes.assign(program_.values.size(), {Home::Kind::arena, 0});
    for (uint32_t k = 0; k < inputs(); ++k) program_.homes[k] = {Home::Kind::input, k};
    for (uint32_t k = 0; k < program_.outputs.size(); ++k) {
      const uint32_t value = program_.outputs[k];
      if (program_.homes[value].kind != Home::Kind::arena) {
        program_.copies.push_back({value, k});
      } else {
        program_.homes[value] = {Home::Kind::output, k};
      }
    }
  }

  // The operand that a call may replace by its result: nobody reads it later, and it is no output.
  std::optional<uint32_t> replaced(size_t call) const {
    const ProgramCall& each = program_.calls[call];
    const std::optional<uint32_t> in_place = program_.kernels[each.kernel].text.in_place;
    if (!in_place) return std::nullopt;
    const uint32_t value = each.operands[*in_place];
    const bool last = last_[value].wave == waves_[call] && last_[value].readers == 1;
    if (!last || std::ranges::count(program_.outputs, value) != 0) return std::nullopt;
    return value;
  }

  // Calls that work in place lead from the state to what replaces it; what is between them lives there, too.
  bool updates_in_place(size_t output) {
    const std::optional<NodeId> state = program_.graph->outputs()[output].alias;
    if (!state) return false;
    const auto wanted =
        static_cast<uint32_t>(std::ranges::find(program_.graph->inputs(), *state) - program_.graph->inputs().begin());
    uint32_t value = program_.outputs[output];
    std::vector<uint32_t> between;
    while (value >= inputs()) {
      const std::optional<uint32_t> before = replaced(maker_[value]);
      if (!before) return false;
      value = *before;
      between.push_back(value);
    }
    if (value != wanted || between.empty()) return false;
    between.pop_back();
    for (const uint32_t each : between) program_.homes[each] = program_.homes[program_.outputs[output]];
    return true;
  }

  void plan_arena() {
    const DimValues dims = typical_dims(*program_.graph);
    std::vector<Lifetime> planned;
    for (uint32_t value = 0; value < program_.values.size(); ++value) {
      if (program_.homes[value].kind != Home::Kind::arena) continue;
      const Expected<int64_t> bytes = program_.values[value].bytes(dims);
      program_.homes[value].number = static_cast<uint32_t>(program_.inner.size());
      program_.inner.push_back(value);
      planned.push_back({waves_[maker_[value]], last_[value].wave, bytes.ok() ? *bytes : 0});
    }
    for (const int64_t wave : waves_) planned.push_back({wave, wave, 0});
    program_.plan = plan_memory(planned);
  }

  Program& program_;
  struct LastUse {
    int64_t wave;
    int readers;
  };
  std::vector<int64_t> waves_;  // by call
  std::vector<size_t> maker_;   // a call, by value
  std::vector<LastUse> last_;   // by value
};

}  // namespace

Expected<void> plan_program(Program& program) {
  Planner(program).run();
  return check_memory(program);
}

DimValues typical_dims(const Graph& graph) {
  DimValues dims;
  for (const Expr& dim : graph.dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    dims.set(dim.dim_name(), std::clamp(kTypicalDim, lo, hi));
  }
  return dims;
}

Expected<Program> make_program(std::shared_ptr<const Graph> graph, std::span<const Carved> carved,
                               std::vector<ProgramKernel> kernels, std::span<const uint32_t> kernel_of) {
  return ProgramMaker(std::move(graph), std::move(kernels)).run(carved, kernel_of);
}

}  // namespace lumen
