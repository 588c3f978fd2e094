// A trial: launches that a worker process runs once, over memory of its own, before this process runs them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/cuda/worker_message.h"

namespace lumen::cuda {

// The same on both sides, or they do not talk.
constexpr uint64_t kWorkerProtocol = 1;

// What the worker is told first.
struct WorkerHello {
  uint64_t protocol = kWorkerProtocol;
  uint64_t device = 0;
  uint64_t idle_milliseconds = 0;
  std::vector<std::string> driver;  // names of libcuda
};

struct TrialRegion {
  uint64_t bytes = 0;
  std::string content;  // over and over; empty: anything
};

// A word of a launch's arguments that is an address.
struct TrialAddress {
  uint64_t word = 0;
  uint64_t region = 0;
  uint64_t offset = 0;
};

struct TrialLaunch {
  uint64_t object = 0;  // of the trial's
  std::string function;
  uint64_t blocks = 0, threads = 0, shared = 0;
  std::vector<uint64_t> arguments;
  std::vector<TrialAddress> addresses;
};

// Machine code. A worker keeps what it was sent, so that later trials name it only.
struct TrialObject {
  std::string key;
  std::string_view bytes;  // empty in a message: the worker has it
};

struct Trial {
  bool forget = false;  // objects of trials before
  std::vector<TrialObject> objects;
  std::vector<TrialRegion> regions;
  std::vector<TrialLaunch> launches;
};

struct TrialAnswer {
  enum class State : uint64_t { passed, failed, not_tried };
  State state = State::not_tried;
  std::string why;  // unless passed
};

std::string encode(const WorkerHello& hello);
std::string encode(const Trial& trial);
std::string encode(const TrialAnswer& answer);
Expected<WorkerHello> decode_hello(std::string_view bytes);
// Has views of the bytes. Numbers of objects and regions, and words, are those that are there.
Expected<Trial> decode_trial(std::string_view bytes);
Expected<TrialAnswer> decode_answer(std::string_view bytes);

}  // namespace lumen::cuda
