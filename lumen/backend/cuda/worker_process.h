// The worker process: a program that is started beside this one, and is killed with it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::cuda {

// The worker's end of the socket, whatever started it.
constexpr int kWorkerSocket = 3;

// How kernels are tried before they run here (kernel_trials.h).
struct WorkerOptions {
  std::vector<std::string> command;  // the program and its arguments; empty: there is none
  double start_seconds = 60;         // until it is ready
  double least_seconds = 5;          // for a trial, beside what its work takes on a slow machine
  double idle_seconds = 20;          // after which it goes, with its memory

  // LUMEN_WORKER; else this program where it is `lumen`, a `lumen` beside it, or the first on the PATH.
  static WorkerOptions usual();
};

class WorkerProcess {
 public:
  static Expected<std::unique_ptr<WorkerProcess>> start(const std::vector<std::string>& command);
  ~WorkerProcess() { end(); }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_; }
  // Kills it if it lives, and says how it ended: "was killed by signal 9 (Killed)", "exited with status 1".
  std::string end();

 private:
  WorkerProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}

  pid_t pid_;
  int socket_;
};

}  // namespace lumen::cuda
