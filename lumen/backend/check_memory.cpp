#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "lumen/backend/program.h"

namespace lumen {

namespace {

// A buffer of a run: an input's, an output's (which is the input's when it is updated in place), or a slot's.
using RunBuffer = std::pair<Home::Kind, uint32_t>;

class Follower {
 public:
  explicit Follower(const Program& program) : program_(program) {}

  Expected<void> run() {
    const Graph& graph = *program_.graph;
    for (uint32_t k = 0; k < graph.inputs().size(); ++k) held_[{Home::Kind::input, k}] = k;
    for (size_t begin = 0; begin < program_.calls.size();) {
      size_t end = begin + 1;
      while (end < program_.calls.size() && program_.calls[end].joins) ++end;
      LUMEN_TRY(wave(begin, end));
      begin = end;
    }
    for (const ProgramCopy& copy : program_.copies) {
      LUMEN_TRY(expect(copy.value, "a copy"));
      held_[memory({Home::Kind::output, copy.output})] = copy.value;
    }
    for (uint32_t k = 0; k < program_.outputs.size(); ++k) {
      if (held_[memory({Home::Kind::output, k})] == program_.outputs[k]) continue;
      return error(fmt::format("output {} is not value {} at the end", k, program_.outputs[k]));
    }
    return {};
  }

 private:
  RunBuffer memory(Home home) const {
    if (home.kind == Home::Kind::arena) return {home.kind, program_.plan.slots[home.number]};
    if (home.kind != Home::Kind::output || !program_.in_place[home.number]) return {home.kind, home.number};
    const NodeId state = *program_.graph->outputs()[home.number].alias;
    uint32_t number = 0;
    while (program_.graph->inputs()[number] != state) ++number;
    return {Home::Kind::input, number};
  }

  Expected<void> expect(uint32_t value, const std::string& reader) {
    const std::optional<uint32_t> found = held_[memory(program_.homes[value])];
    if (found == value) return {};
    return error(fmt::format("{} reads value {} where {} is", reader, value,
                             found ? fmt::format("value {}", *found) : std::string("nothing")));
  }

  // Calls that can run at once: what one writes, no other reads or writes.
  Expected<void> wave(size_t begin, size_t end) {
    std::map<RunBuffer, size_t> writers;
    for (size_t k = begin; k < end; ++k) {
      for (const RunBuffer& to : LUMEN_TRY(call(k))) {
        if (!writers.emplace(to, k).second)
          return error(fmt::format("call {} writes what another of its wave does", k));
      }
    }
    for (size_t k = begin; k < end; ++k) {
      for (const uint32_t value : program_.calls[k].operands) {
        const auto writer = writers.find(memory(program_.homes[value]));
        if (writer == writers.end() || writer->second == k) continue;
        return error(fmt::format("call {} reads what another of its wave writes", k));
      }
    }
    for (const auto& [to, k] : writers) held_[to] = std::nullopt;
    for (size_t k = begin; k < end; ++k) {
      for (const uint32_t value : program_.calls[k].results) held_[memory(program_.homes[value])] = value;
    }
    return {};
  }

  // Everything that a call reads and writes is apart, but for the operand that it may replace. What it writes.
  Expected<std::vector<RunBuffer>> call(size_t number) {
    const ProgramCall& call = program_.calls[number];
    const std::string name = fmt::format("call {}", number);
    const std::optional<uint32_t> replaced = program_.kernels[call.kernel].text.in_place;
    std::map<RunBuffer, size_t> reads;  // how often
    for (const uint32_t value : call.operands) {
      LUMEN_TRY(expect(value, name));
      ++reads[memory(program_.homes[value])];
    }
    if (replaced && !call.results.empty()) --reads[memory(program_.homes[call.operands[*replaced]])];
    const RunBuffer scratch{Home::Kind::arena, program_.plan.slots[program_.inner.size() + number]};
    std::vector<RunBuffer> written{scratch};
    for (size_t k = 0; k < call.results.size(); ++k) {
      const RunBuffer to = memory(program_.homes[call.results[k]]);
      const bool first = k == 0;
      for (const RunBuffer& other : written) {
        if (other == to) return error(fmt::format("{} writes one buffer twice", name));
      }
      if (reads[to] != 0) return error(fmt::format("{} writes what it reads", name));
      if (!first && replaced && to == memory(program_.homes[call.operands[*replaced]])) {
        return error(fmt::format("{} writes what it replaces by another result", name));
      }
      written.push_back(to);
    }
    for (const uint32_t value : call.operands) {
      if (memory(program_.homes[value]) == scratch) return error(fmt::format("{} has scratch where it reads", name));
    }
    return written;
  }

  const Program& program_;
  std::map<RunBuffer, std::optional<uint32_t>> held_;
};

}  // namespace

Expected<void> check_memory(const Program& program) { return Follower(program).run(); }

}  // namespace lumen
