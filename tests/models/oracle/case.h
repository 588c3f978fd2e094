// One folder that oracle.py wrote: a model and what transformers computed with it.
#pragma once

#include <span>
#include <string>

#include "lumen/compile.h"
#include "lumen/import/safetensors.h"

namespace lumen::models {

struct Case {
  std::string folder;
  std::string config;    // the text of config.json
  std::string facts;     // words about it: architectures.py
  SafeTensors expected;  // as write_case and write_encoder_case store it

  bool is(std::string_view fact) const { return facts.find(fact) != std::string::npos; }
  bool is_narrow() const { return folder.ends_with("bf16"); }
};

Expected<Case> read_case(const std::string& folder);

struct Counts {
  int passed = 0, failed = 0;
};
// One line for one comparison, which is counted.
void report(const Case& given, std::string_view name, bool ok, std::string_view text, Counts& counts);

// Logits of a causal model: at once, in chunks and steps, in a ragged batch, in pages.
void compare_causal(const Case& given, const CompileOptions& options, Counts& counts);
// Embeddings of an encoder.
void compare_encoder(const Case& given, const CompileOptions& options, Counts& counts);

}  // namespace lumen::models
