#include "lumen/backend/cuda/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "lumen/backend/cpu/process.h"
#include "lumen/base/flags.h"

namespace lumen::cuda {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "lumen";
constexpr timeval kSendingLimit{10, 0};  // a worker that was stopped reads nothing
constexpr timespec kBetweenLooks{0, 2'000'000};
constexpr int kLooksBefore = 50, kLooksAfter = 5000;  // at a worker that ends, before and after it is killed

// Empty when there is none.
std::string worker_program() {
  if (!flags().worker.empty()) return flags().worker == "none" ? "" : flags().worker;
  std::error_code none;
  const fs::path own = fs::read_symlink("/proc/self/exe", none);
  if (own.filename() == kProgram) return own.string();
  return cpu::find_program(kProgram, own.parent_path().string() + ":" + flags().path);
}

// What is typed at a terminal ends this process, not first the worker, which would look like a kernel's doing: it has a
// process group of its own.
int start_worker(const std::vector<std::string>& command, int socket, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, kWorkerSocket);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  const int status = cpu::spawn(command, files, pid);
  posix_spawn_file_actions_destroy(&files);
  return status;
}

// 0 when it still lives; negative when nothing is known of it.
pid_t wait_for(pid_t pid, int looks, int& status) {
  pid_t answer = 0;
  for (int look = 0; look < looks && answer == 0; ++look) {
    if (look > 0) nanosleep(&kBetweenLooks, nullptr);
    answer = waitpid(pid, &status, WNOHANG);
  }
  return answer;
}

}  // namespace

WorkerOptions WorkerOptions::usual() {
  WorkerOptions options;
  if (const std::string program = worker_program(); !program.empty()) options.command = {program, "device-worker"};
  return options;
}

Expected<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::vector<std::string>& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return error(fmt::format("[cuda] no socket for a worker: {}", strerror(errno)));
  }
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &kSendingLimit, sizeof kSendingLimit);
  pid_t pid = 0;
  const int status = start_worker(command, ends[1], pid);
  close(ends[1]);
  if (status == 0) return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, ends[0]));
  close(ends[0]);
  return error(fmt::format("[cuda] {} could not be run: {}", command[0], strerror(status)));
}

std::string WorkerProcess::end() {
  if (pid_ == 0) return "has ended";
  close(socket_);
  const pid_t pid = std::exchange(pid_, 0);
  int status = 0;
  // One that is about to end by itself is given a moment, so that what it died of is said.
  pid_t answer = wait_for(pid, kLooksBefore, status);
  if (answer == 0) {
    kill(-pid, SIGKILL);
    answer = wait_for(pid, kLooksAfter, status);
  }
  if (answer == 0) return "was killed and has not ended";  // a driver may take its time
  if (answer < 0) return "has ended";                      // somebody else took the status
  return cpu::Outcome::of(status).str();
}

}  // namespace lumen::cuda
