// Programs run as child processes, without a shell: several at once, with a time limit.
#pragma once

#include <chrono>
#include <span>
#include <string>
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

  bool ok() const { return end == End::exited && code == 0; }
  // "exited with status 1", "was killed by signal 9 (Killed)", "did not end within 5.0 s and was killed", ...
  std::string str(std::chrono::milliseconds limit) const;
};

// Runs all, at most `jobs` at a time, and returns when all have ended, one Outcome for each. Each is a process group of
// its own; at its limit, counted from its own start, the whole group is killed. Messages are in English (LC_ALL=C).
std::vector<Outcome> run_commands(std::span<const Command> commands, int jobs, std::chrono::milliseconds limit);

}  // namespace lumen::cpu
