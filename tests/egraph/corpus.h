// Runs programs of tests/egraph/programs and makes their outputs comparable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lumen::egraph {

struct Treatment {
  const char* name;
  bool reparse = false;  // print every command and run the text
  int threads = 1;
  bool seminaive = true;
  std::optional<uint64_t> shuffle = {};
};

struct Outcome {
  std::vector<std::string> outputs;  // of the commands that print, in order; costs after extracted terms
  std::string files;                 // what the program wrote: `; file NAME` and the text of each
  std::string error;                 // `file:line:col: message` and its notes; empty when it succeeded
  std::string message;               // the message alone

  std::string text() const;  // all of it, with times in statistics blanked
};

std::string read_text(const std::filesystem::path& path);

// The programs of a topic, those in fail/ included, sorted.
std::vector<std::filesystem::path> programs_of(const std::filesystem::path& topic);

// Runs in the program's own folder or, when its topic has data/, in a fresh one with a copy of that. Nothing when the
// treatment does not apply: a program that does not parse cannot be printed.
std::optional<Outcome> run_program(const std::filesystem::path& program, const Treatment& treatment);

// The outputs with everything taken out that the order of rules may change: the order of rows, of variants and of
// elements of sets and maps, which of equally cheap terms is extracted, and statistics.
std::vector<std::string> without_order(const std::vector<std::string>& outputs);

}  // namespace lumen::egraph
