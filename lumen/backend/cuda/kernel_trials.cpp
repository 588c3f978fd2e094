#include "lumen/backend/cuda/kernel_trials.h"

#include <fmt/format.h>

#include "lumen/base/log.h"

namespace lumen::cuda {

namespace {

constexpr size_t kMostObjects = 512;  // that a worker keeps

}  // namespace

KernelTrials::KernelTrials(WorkerOptions options, WorkerHello hello)
    : options_(std::move(options)), hello_(std::move(hello)) {
  hello_.idle_milliseconds = static_cast<uint64_t>(options_.idle_seconds * 1e3);
}

bool KernelTrials::rest() {
  const std::scoped_lock lock(mutex_);
  if (worker_ == nullptr) return false;
  worker_.reset();
  return true;
}

void KernelTrials::give_up(const std::string& why) {
  gave_up_ = true;
  worker_.reset();
  LUMEN_LOG(
      flags().worker == "none" ? 1 : 0,
      fmt::format("cuda: no worker process ({}): kernels are tried in this one, which does not survive all", why));
}

bool KernelTrials::is_ready() {
  if (gave_up_ || worker_ != nullptr) return !gave_up_;
  if (options_.command.empty()) {
    give_up(flags().worker == "none" ? "LUMEN_WORKER=none" : "no program `lumen` beside this one or on the PATH");
    return false;
  }
  Expected<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options_.command);
  if (!started.ok()) {
    give_up(started.diag().str());
    return false;
  }
  worker_ = std::move(*started);
  sent_.clear();
  std::string bytes;
  const bool sent = send_message(worker_->socket(), encode(hello_)).ok();
  const Received received = sent ? receive_message(worker_->socket(), options_.start_seconds, bytes) : Received::closed;
  const Expected<TrialAnswer> ready = decode_answer(bytes);
  if (received == Received::whole && ready.ok() && ready->state == TrialAnswer::State::passed) return true;
  if (received == Received::whole) {
    give_up(ready.ok() ? ready->why : ready.diag().str());
  } else if (received == Received::late) {
    give_up(fmt::format("{} was not ready after {:.1f} s", options_.command[0], options_.start_seconds));
  } else {
    give_up(fmt::format("{} {}", options_.command[0], worker_->end()));
  }
  return false;
}

// Empty: the worker ended without one.
std::optional<TrialAnswer> KernelTrials::ask(Trial trial, double seconds) {
  trial.forget = sent_.size() > kMostObjects;
  if (trial.forget) sent_.clear();
  for (TrialObject& object : trial.objects) {
    if (!sent_.insert(object.key).second) object.bytes = {};
  }
  std::string bytes;
  if (!send_message(worker_->socket(), encode(trial)).ok()) return std::nullopt;
  switch (receive_message(worker_->socket(), seconds, bytes)) {
    case Received::closed:
      return std::nullopt;
    case Received::late:
      return TrialAnswer{TrialAnswer::State::failed, fmt::format("it had not ended after {:.1f} s", seconds)};
    case Received::whole:
      break;
  }
  const Expected<TrialAnswer> answer = decode_answer(bytes);
  return answer.ok() ? *answer : TrialAnswer{TrialAnswer::State::not_tried, answer.diag().str()};
}

// A worker that ends without an answer may have been ended by somebody else, or have waited for long enough: only the
// second time it is the kernel.
Expected<bool> KernelTrials::run(const Trial& trial, double seconds) {
  const std::scoped_lock lock(mutex_);
  std::string ended;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!is_ready()) return false;
    const std::optional<TrialAnswer> answer = ask(trial, seconds);
    if (answer && answer->state == TrialAnswer::State::passed) return true;
    if (answer && answer->state == TrialAnswer::State::not_tried) {
      for (const TrialObject& object : trial.objects) sent_.erase(object.key);  // it may not have them
      LUMEN_LOG(1, "cuda: a kernel could not be tried: " + answer->why);
      return false;
    }
    ended = worker_->end();
    worker_.reset();
    if (answer) return error(answer->why);
  }
  return error(fmt::format("its worker process {}", ended));
}

}  // namespace lumen::cuda
