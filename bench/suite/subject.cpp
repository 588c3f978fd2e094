#include "bench/suite/subject.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace lumen::bench {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kPattern = 1 << 16;  // random elements, repeated to the end of an input
constexpr int64_t kMostRuns = 100'000;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void fill(std::span<std::byte> bytes, const Input& input, ValueRange range) {
  const HostTensor tensor = random_tensor(input.dtype, {kPattern}, input.name.str(), 1, range);
  std::vector<std::byte> pattern(static_cast<size_t>(storage_bytes(input.dtype, kPattern)));
  pack(input.dtype, tensor.lanes, pattern);
  for (size_t at = 0; at < bytes.size(); at += pattern.size()) {
    std::memcpy(bytes.data() + at, pattern.data(), std::min(pattern.size(), bytes.size() - at));
  }
}

std::vector<int64_t> constant_dims(const Shape& shape) {
  std::vector<int64_t> dims;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis].constant().value());
  return dims;
}

}  // namespace

Expected<Subject> Subject::make(const Case& c, bool twice, CompileOptions options) try {
  Subject subject;
  const std::shared_ptr<Graph> graph = c.graph();
  auto start = Clock::now();
  Compiled compiled = compile_program(*graph, options);
  const Program& program = compiled.variants[0].binary.program;
  subject.facts_ = {seconds_since(start), compiled.report.measured, 0, static_cast<int64_t>(program.kernels.size()),
                    static_cast<int64_t>(program.calls.size())};
  if (twice) {
    options.fusion_log = nullptr;
    start = Clock::now();
    compiled = compile_program(*graph, options);
    subject.facts_.again_seconds = seconds_since(start);
  }
  subject.hardware_ = compiled.device->fingerprint();
  subject.on_gpu_ = compiled.device->target().cuda;
  subject.session_ = std::make_unique<Session>(make_session(std::move(compiled)));
  for (const NodeId id : subject.graph().inputs()) {
    const Input& input = subject.graph()[id].as<Input>();
    Buffer& buffer = subject.inputs_.emplace_back(count_bytes(subject.graph()[id].type));
    fill({buffer.data(), static_cast<size_t>(buffer.bytes())}, input, c.range_of(input.name.str(), input.dtype));
    subject.session_->bind(input.name.str(), buffer.data(), constant_dims(input.shape));
  }
  return subject;
} catch (const Error& problem) {
  return problem.diag();
}

std::span<std::byte> Subject::input(size_t number) const {
  return {inputs_[number].data(), static_cast<size_t>(inputs_[number].bytes())};
}

Expected<void> Subject::run() try {
  session_->execute();
  return {};
} catch (const Error& problem) {
  return problem.diag();
}

Expected<void> Subject::run_traced(Trace& trace) {
  session_->set_trace(&trace);
  Expected<void> done = run();
  session_->set_trace(nullptr);
  return done;
}

Expected<double> Subject::time(int64_t runs) try {
  if (on_gpu_) return session_->time(runs);
  LUMEN_TRY(run());
  const auto start = Clock::now();
  for (int64_t k = 0; k < runs; ++k) LUMEN_TRY(run());
  return seconds_since(start) / static_cast<double>(runs);
} catch (const Error& problem) {
  return problem.diag();
}

Expected<int64_t> Subject::runs_in(double seconds) {
  LUMEN_TRY(run());
  const double once = std::max(LUMEN_TRY(time(1)), 1e-8);
  return std::clamp<int64_t>(std::llround(seconds / once), 1, kMostRuns);
}

}  // namespace lumen::bench
