// Programs run as child processes, without a shell: several at once, with a time limit.
#pragma once

#include <spawn.h>

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lumen::cpu {

struct Command {
  std::vector<std::string> argv;  // argv[0] is the path of the program
  std::string log;                // the file that gets its stdout and stderr; its stdin is empty
};

struct Outcome {
  enum class End { exited, killed, timed_out, not_started };
  End end = End::not_started;
  int code = 0;  // the exit status, the signal, or the errno of the start

  static Outcome of(int status);  // as waitpid gives it
  bool ok() const { return end == End::exited && code == 0; }
  // "exited with status 1", "was killed by signal 9 (Killed)", "did not end within 5.0 s and was killed", ...
  std::string str(std::chrono::milliseconds limit = {}) const;
};

// The file that a program's name means, looked for in the folders of `path` ("a:b"); empty for none. A name with a
// slash is a path.
std::string find_program(const std::string& name, std::string_view path);

// Starts a program with these files: 0, or the errno of the start. It is a process group of its own, no signal is
// blocked or ignored in it, whatever the caller does with them, and its messages are in English (LC_ALL=C).
int spawn(std::vector<std::string> argv, const posix_spawn_file_actions_t& files, pid_t& pid);

// Runs all, at most `jobs` at a time, and returns when all have ended, one Outcome for each. At its limit, counted from
// its own start, the whole group of a process is killed.
std::vector<Outcome> run_commands(std::span<const Command> commands, int jobs, std::chrono::milliseconds limit);

}  // namespace lumen::cpu
