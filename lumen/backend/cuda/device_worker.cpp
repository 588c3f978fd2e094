#include "lumen/backend/cuda/device_worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "lumen/backend/cuda/driver.h"
#include "lumen/backend/cuda/trial.h"
#include "lumen/backend/cuda/worker_process.h"

namespace lumen::cuda {

namespace {

using State = TrialAnswer::State;

// A kernel that never ends keeps the process from noticing that nobody waits for it any more.
void leave_when_alone() {
  pollfd handle{kWorkerSocket, POLLRDHUP, 0};
  while (poll(&handle, 1, -1) < 0 || (handle.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0) {
  }
  _exit(0);
}

class DeviceWorker {
 public:
  Expected<void> open(const WorkerHello& hello) {
    driver_ = LUMEN_TRY(load_driver(hello.driver));
    DeviceNumber device = 0;
    Context context = nullptr;
    LUMEN_TRY(check(driver_->device_get(&device, static_cast<int>(hello.device)), "cuDeviceGet"));
    LUMEN_TRY(check(driver_->context_retain(&context, device), "cuDevicePrimaryCtxRetain"));
    LUMEN_TRY(check(driver_->context_set(context), "cuCtxSetCurrent"));
    return check(driver_->stream_create(&stream_, kNonBlocking), "cuStreamCreate");
  }

  TrialAnswer answer(std::string_view bytes) {
    const Expected<Trial> trial = decode_trial(bytes);
    if (!trial.ok()) return {State::not_tried, trial.diag().str()};
    const Expected<void> ran = run(*trial);
    if (ran.ok()) return {State::passed, ""};
    // What a kernel did wrong is told by every call that follows, and the first is any of them. What leaves the context
    // as it was (no memory, a launch that is refused) will be seen by who asked, too.
    const Result result = driver_->stream_query(stream_);
    if (result == 0 || result == kNotReady) return {State::not_tried, ran.diag().str()};
    return {State::failed, driver_->check(result, kARun).diag().str()};
  }

 private:
  struct Room {
    Address data = 0;
    uint64_t bytes = 0;
  };

  Expected<void> check(Result result, const char* call) const { return driver_->check(result, call); }

  Expected<void> run(const Trial& trial) {
    LUMEN_TRY(load(trial));
    LUMEN_TRY(make_rooms(trial.regions));
    for (size_t k = 0; k < trial.regions.size(); ++k) LUMEN_TRY(fill(trial.regions[k], rooms_[k]));
    for (const TrialLaunch& launch : trial.launches) {
      LUMEN_TRY(start(launch, modules_.at(trial.objects[launch.object].key)));
    }
    return check(driver_->stream_wait(stream_), "cuStreamSynchronize");
  }

  Expected<void> load(const Trial& trial) {
    if (trial.forget) {
      for (const auto& [key, module] : modules_) driver_->module_unload(module);
      modules_.clear();
    }
    for (const TrialObject& object : trial.objects) {
      if (modules_.contains(object.key)) continue;
      if (object.bytes.empty()) return error("[cuda] a trial of code that the worker was not sent");
      Module module = nullptr;
      const std::string bytes(object.bytes);  // ends with a zero, as texts of the driver do
      LUMEN_TRY(check(driver_->module_load(&module, bytes.data()), "cuModuleLoadData"));
      modules_.emplace(object.key, module);
    }
    return {};
  }

  // Kept from trial to trial. Where there is no more, what others left is given up for it.
  Expected<void> make_rooms(const std::vector<TrialRegion>& regions) {
    if (fit(regions)) return {};
    for (Room& room : rooms_) driver_->memory_free(room.data);
    rooms_.clear();
    if (fit(regions)) return {};
    return error("[cuda] the worker has too little memory");
  }
  bool fit(const std::vector<TrialRegion>& regions) {
    rooms_.resize(std::max(rooms_.size(), regions.size()));
    for (size_t k = 0; k < regions.size(); ++k) {
      const uint64_t bytes = std::max<uint64_t>(regions[k].bytes, 1);
      if (rooms_[k].bytes >= bytes) continue;
      if (rooms_[k].bytes > 0) driver_->memory_free(rooms_[k].data);
      rooms_[k] = {};
      if (driver_->memory_allocate(&rooms_[k].data, bytes) != 0) return false;
      rooms_[k].bytes = bytes;
    }
    return true;
  }

  Expected<void> fill(const TrialRegion& region, const Room& room) {
    const uint64_t period = std::min<uint64_t>(region.content.size(), region.bytes);
    if (period == 0) return {};
    LUMEN_TRY(check(driver_->copy_to_device(room.data, region.content.data(), period, stream_), "cuMemcpyHtoDAsync"));
    for (uint64_t done = period; done < region.bytes; done *= 2) {
      const size_t size = std::min(done, region.bytes - done);
      LUMEN_TRY(check(driver_->copy_on_device(room.data + done, room.data, size, stream_), "cuMemcpyDtoDAsync"));
    }
    return {};
  }

  Expected<void> start(const TrialLaunch& launch, Module module) {
    Function function = nullptr;
    LUMEN_TRY(check(driver_->module_function(&function, module, launch.function.c_str()), "cuModuleGetFunction"));
    if (launch.shared > static_cast<uint64_t>(kSharedWithoutAsking)) {
      LUMEN_TRY(check(driver_->function_set(function, kFunctionSharedBytes, static_cast<int>(launch.shared)),
                      "cuFuncSetAttribute"));
    }
    std::vector<uint64_t> arguments = launch.arguments;
    for (const TrialAddress& address : launch.addresses) {
      arguments[address.word] = rooms_[address.region].data + address.offset;
    }
    void* parameters[] = {arguments.data()};
    const LaunchConfig config{{static_cast<unsigned>(launch.blocks), 1, 1},
                              {static_cast<unsigned>(launch.threads), 1, 1},
                              static_cast<unsigned>(launch.shared),
                              stream_,
                              nullptr,
                              0};
    return check(driver_->launch_with(&config, function, parameters, nullptr), "cuLaunchKernelEx");
  }

  std::shared_ptr<const Driver> driver_;
  Stream stream_ = nullptr;
  std::map<std::string, Module> modules_;  // by key
  std::vector<Room> rooms_;                // by region
};

// How many seconds it waits for the next trial.
Expected<double> open_worker(DeviceWorker& worker, std::string_view bytes) {
  const WorkerHello hello = LUMEN_TRY(decode_hello(bytes));
  LUMEN_TRY(worker.open(hello));
  return static_cast<double>(hello.idle_milliseconds) * 1e-3;
}

}  // namespace

Expected<int> run_device_worker() {
  constexpr double kForEver = -1;
  DeviceWorker worker;
  std::string bytes;
  if (receive_message(kWorkerSocket, kForEver, bytes) != Received::whole) {
    return error("[cuda] a worker is started by a process that wants kernels tried, not by hand");
  }
  std::thread(leave_when_alone).detach();
  const Expected<double> idle = open_worker(worker, bytes);
  const TrialAnswer ready{idle.ok() ? State::passed : State::not_tried, idle.ok() ? "" : idle.diag().str()};
  if (!send_message(kWorkerSocket, encode(ready)).ok() || !idle.ok()) return 1;
  while (receive_message(kWorkerSocket, *idle, bytes) == Received::whole) {
    const TrialAnswer answer = worker.answer(bytes);
    if (!send_message(kWorkerSocket, encode(answer)).ok()) return 1;
    if (answer.state == State::failed) return 0;  // nothing runs in this process any more
  }
  return 0;
}

}  // namespace lumen::cuda
