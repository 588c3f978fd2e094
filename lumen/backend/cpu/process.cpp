#include "lumen/backend/cpu/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace lumen::cpu {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// What the child inherits: ours, with messages in English, because they are searched for "error:".
std::vector<std::string> child_environment() {
  std::vector<std::string> entries = {"LC_ALL=C"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("LC_ALL=") && !text.starts_with("LANGUAGE=")) entries.emplace_back(text);
  }
  return entries;
}

int start(const Command& command, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  const int status = spawn(command.argv, files, pid);
  posix_spawn_file_actions_destroy(&files);
  return status;
}

struct Running {
  pid_t pid = 0;
  int handle = -1;  // becomes readable when the child ends; -1 on a system without pidfd_open
  size_t command = 0;
  Clock::time_point end;
  bool killed_by_us = false;
};

int open_handle(pid_t pid) {
#if defined(SYS_pidfd_open)
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
#else
  static_cast<void>(pid);
  return -1;
#endif
}

// Until one of them has ended or is at its limit, or a moment has passed.
void wait_a_while(std::span<const Running> running) {
  auto end = Clock::now() + std::chrono::seconds(1);
  std::vector<pollfd> handles;
  for (const Running& child : running) {
    if (!child.killed_by_us) end = std::min(end, child.end);
    if (child.handle >= 0) handles.push_back({child.handle, POLLIN, 0});
  }
  // Without handles, look every half millisecond; some systems round that up to 4.
  if (handles.size() < running.size()) return std::this_thread::sleep_for(std::chrono::microseconds(500));
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  poll(handles.data(), handles.size(), static_cast<int>(std::max<int64_t>(0, left)));
}

// True when the child has ended and `outcome` says how.
bool reap(const Running& child, Outcome& outcome) {
  int status = 0;
  const pid_t answer = waitpid(child.pid, &status, WNOHANG);
  if (answer == 0 || (answer < 0 && errno == EINTR)) return false;
  if (answer < 0) {
    // Somebody else took the status (SIGCHLD is ignored in this process): whether it worked is not known.
    outcome = {Outcome::End::not_started, errno};
  } else if (child.killed_by_us) {
    outcome = {Outcome::End::timed_out, SIGKILL};
  } else {
    outcome = Outcome::of(status);
  }
  if (child.handle >= 0) close(child.handle);
  return true;
}

}  // namespace

Outcome Outcome::of(int status) {
  if (WIFSIGNALED(status)) return {End::killed, WTERMSIG(status)};
  return {End::exited, WEXITSTATUS(status)};
}

std::string Outcome::str(std::chrono::milliseconds limit) const {
  switch (end) {
    case End::exited:
      return fmt::format("exited with status {}", code);
    case End::killed:
      return fmt::format("was killed by signal {} ({})", code, strsignal(code));
    case End::timed_out:
      return fmt::format("did not end within {:.1f} s and was killed", std::chrono::duration<double>(limit).count());
    case End::not_started:
      break;
  }
  return fmt::format("could not be run: {}", strerror(code));
}

std::string find_program(const std::string& name, std::string_view path) {
  const auto runs = [](const std::string& file) {
    struct stat about {};
    return stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(file.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return runs(name) ? name : "";
  while (!path.empty()) {
    const size_t colon = path.find(':');
    const std::string file = std::string(path.substr(0, colon)) + "/" + name;
    if (runs(file)) return file;
    path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
  }
  return {};
}

int spawn(std::vector<std::string> argv, const posix_spawn_file_actions_t& files, pid_t& pid) {
  std::vector<std::string> environment = child_environment();
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int status =
      posix_spawnp(&pid, argv[0].c_str(), &files, &attributes, pointers(argv).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  return status;
}

std::vector<Outcome> run_commands(std::span<const Command> commands, int jobs, std::chrono::milliseconds limit) {
  std::vector<Outcome> outcomes(commands.size());
  std::vector<Running> running;
  size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    while (next < commands.size() && running.size() < static_cast<size_t>(std::max(1, jobs))) {
      Running child{0, -1, next, Clock::now() + limit, false};
      outcomes[next].code = start(commands[next], child.pid);
      if (outcomes[next].code == 0) {
        child.handle = open_handle(child.pid);
        running.push_back(child);
      }
      ++next;
    }
    std::erase_if(running, [&](const Running& child) { return reap(child, outcomes[child.command]); });
    for (Running& child : running) {
      if (child.killed_by_us || Clock::now() < child.end) continue;
      child.killed_by_us = true;
      kill(-child.pid, SIGKILL);
    }
    if (!running.empty()) wait_a_while(running);
  }
  return outcomes;
}

}  // namespace lumen::cpu
