// Runs a program and keeps what it printed.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scratch_dir.h"

namespace lumen::tests {

struct Finished {
  int status = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

// In `folder`, with `input` on stdin and no LUMEN_* variables but those given as NAME=value.
Finished run_program(const std::vector<std::string>& command, const std::string& folder = ".",
                     const std::string& input = "", const std::vector<std::string>& variables = {});

// The `lumen` program with these arguments.
Finished run_lumen(std::vector<std::string> arguments, const std::string& folder = ".", const std::string& input = "",
                   const std::vector<std::string>& variables = {});

// A folder of its own and what is in it.
class TemporaryFolder : public lumen::tests::ScratchDir {
 public:
  std::string write(const std::string& name, const std::string& text) const;  // gives the file's path
  std::string read(const std::string& name) const;
  size_t count() const;  // of the files in it
};

}  // namespace lumen::tests
