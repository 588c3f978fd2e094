// How byte-level vocabularies of GGUF files cut text, by the name in tokenizer.ggml.pre.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::text {

struct GgufCut {
  std::string_view name;
  std::vector<std::string_view> regexes;  // one after another, matches set apart
  bool ignore_merges = false;             // a piece that is a token is that token
};

// An error names those that are known.
Expected<GgufCut> gguf_cut(std::string_view name);

}  // namespace lumen::text
