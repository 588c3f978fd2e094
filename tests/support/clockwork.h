// A device whose programs compute nothing and take the times that somebody makes up.
#pragma once

#include <functional>

#include "tests/support/drawn_gpu.h"

namespace lumen::tests {

// Seconds of the trial of a program.
using Times = std::function<double(const Program& program, int64_t trial)>;

class Clockwork : public Executable {
 public:
  Clockwork(Program program, const Times& times) : program_(std::move(program)), times_(times) {}
  Expected<void> prepare(std::span<const int64_t>) override { return {}; }
  Expected<void> run(std::span<const void* const>, std::span<void* const>) override { return {}; }
  Expected<double> time(std::span<const void* const>, std::span<void* const>, int64_t) override {
    return times_(program_, trial_++);
  }

 private:
  Program program_;
  const Times& times_;
  int64_t trial_ = 0;
};

class Clock : public DrawnGpu {
 public:
  explicit Clock(Times times) : times_(std::move(times)) {}
  std::string setting() const override { return "made up"; }
  Expected<std::vector<Binary>> build(std::vector<Program> programs) const override {
    ++builds;
    std::vector<Binary> binaries;
    for (Program& program : programs) binaries.push_back({std::move(program), nullptr});
    return binaries;
  }
  Expected<std::unique_ptr<Executable>> load(Binary binary) const override {
    return std::unique_ptr<Executable>(new Clockwork(std::move(binary.program), times_));
  }
  mutable int builds = 0;

 private:
  Times times_;
};

}  // namespace lumen::tests
