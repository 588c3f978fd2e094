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

// A folder of its own and what is in it.
class TemporaryFolder : public lumen::tests::ScratchDir {
 public:
  std::string write(const std::string& name, const std::string& text) const;  // gives the file's path
  std::string read(const std::string& name) const;
  size_t count() const;  // of the files in it
};

// One that is still running. In `folder`, with `input` on stdin and no LUMEN_* variables but those given as NAME=value.
class StartedProgram {
 public:
  StartedProgram(const std::vector<std::string>& command, const std::string& folder = ".",
                 const std::string& input = "", const std::vector<std::string>& variables = {});
  void kill() const;  // by signal 9
  Finished wait() const;

 private:
  TemporaryFolder streams_;
  int pid_;
};

Finished run_program(const std::vector<std::string>& command, const std::string& folder = ".",
                     const std::string& input = "", const std::vector<std::string>& variables = {});

std::string lumen_program();  // its path
// The `lumen` program with these arguments.
Finished run_lumen(std::vector<std::string> arguments, const std::string& folder = ".", const std::string& input = "",
                   const std::vector<std::string>& variables = {});

// A model's config.json.
inline constexpr const char* kLlama =
    R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 1,
  "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 64,
  "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": false})";

}  // namespace lumen::tests
