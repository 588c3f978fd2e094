#include "lumen/backend/waves.h"

#include <algorithm>
#include <optional>

namespace lumen {

namespace {

class Arranger {
 public:
  Arranger(const Program& program, const WaveKind& kind_of, size_t most) : program_(program), most_(most) {
    for (const ProgramKernel& kernel : program.kernels) kinds_.push_back(kind_of(kernel));
    find_readers();
    heights_.resize(count());
    for (size_t k = count(); k-- > 0;) {
      for (const size_t after : after_[k]) heights_[k] = std::max(heights_[k], heights_[after] + 1);
    }
  }

  std::vector<ProgramCall> run() {
    std::vector<ProgramCall> arranged;
    std::vector<size_t> ready;
    for (size_t k = 0; k < count(); ++k) {
      if (needed_[k] == 0) ready.push_back(k);
    }
    while (!ready.empty()) {
      std::ranges::sort(
          ready, [&](size_t a, size_t b) { return heights_[a] != heights_[b] ? heights_[a] > heights_[b] : a < b; });
      const std::string& kind = kinds_[program_.calls[ready[0]].kernel];
      std::vector<size_t> wave, rest;
      for (const size_t k : ready) {
        const bool joins =
            wave.empty() || (!kind.empty() && wave.size() < most_ && kinds_[program_.calls[k].kernel] == kind);
        (joins ? wave : rest).push_back(k);
      }
      for (const size_t k : wave) {
        arranged.push_back(program_.calls[k]);
        arranged.back().joins = k != wave.front();
        for (const size_t after : after_[k]) {
          if (--needed_[after] == 0) rest.push_back(after);
        }
      }
      ready = std::move(rest);
    }
    return arranged;
  }

 private:
  size_t count() const { return program_.calls.size(); }

  // A call is after those that make its operands, and after those that read what it may replace.
  void find_readers() {
    after_.resize(count());
    needed_.resize(count());
    std::vector<std::optional<size_t>> maker(program_.values.size());
    std::vector<std::vector<size_t>> readers(program_.values.size());  // so far
    for (size_t k = 0; k < count(); ++k) {
      const ProgramCall& call = program_.calls[k];
      const std::optional<uint32_t> replaced = program_.kernels[call.kernel].text.in_place;
      for (const uint32_t value : call.operands) {
        if (maker[value]) follow(*maker[value], k);
      }
      if (replaced) {
        for (const size_t reader : readers[call.operands[*replaced]]) follow(reader, k);
      }
      for (const uint32_t value : call.operands) readers[value].push_back(k);
      for (const uint32_t value : call.results) maker[value] = k;
    }
  }
  void follow(size_t before, size_t after) {
    after_[before].push_back(after);
    ++needed_[after];
  }

  const Program& program_;
  size_t most_;
  std::vector<std::string> kinds_;          // by kernel
  std::vector<std::vector<size_t>> after_;  // by call
  std::vector<size_t> needed_;              // calls before, by call
  std::vector<size_t> heights_;             // calls of the longest chain after it
};

}  // namespace

Expected<Program> in_waves(Program program, const WaveKind& kind_of, size_t most) {
  program.calls = Arranger(program, kind_of, most).run();
  LUMEN_TRY(plan_program(program));
  return program;
}

std::vector<std::span<const ProgramCall>> waves_of(const Program& program) {
  std::vector<std::span<const ProgramCall>> waves;
  const std::span<const ProgramCall> calls = program.calls;
  for (size_t begin = 0, end = 1; begin < calls.size(); begin = end++) {
    while (end < calls.size() && calls[end].joins) ++end;
    waves.push_back(calls.subspan(begin, end - begin));
  }
  return waves;
}

}  // namespace lumen
