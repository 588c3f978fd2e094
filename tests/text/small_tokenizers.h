// Small tokenizer.json texts that tests change one part of.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lumen/text/tokenizer.h"

namespace lumen::testing {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

inline Json added(int32_t id, const std::string& content, bool special = true) {
  return {{"id", id},        {"content", content}, {"special", special}, {"single_word", false},
          {"lstrip", false}, {"rstrip", false},    {"normalized", false}};
}

// Byte-level BPE: "hello" merges to he, ll, hell; " w" is one token.
inline Json byte_level_json() {
  return {{"added_tokens", {added(100, "<s>"), added(101, "<tool>", false)}},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"vocab",
             {{"h", 0},
              {"e", 1},
              {"l", 2},
              {"o", 3},
              {"Ġ", 4},
              {"w", 5},
              {"Ã", 6},
              {"©", 7},
              {"he", 8},
              {"ll", 9},
              {"hell", 10},
              {"Ġw", 11}}},
            {"merges", {"h e", "l l", "he ll", "Ġ w"}}}}};
}

// Llama 2's kind: spaces become marks, unknown characters bytes.
inline Json fallback_json() {
  return {{"added_tokens", {added(0, "<unk>"), added(1, "<s>")}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", "▁"}},
              {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}}}}},
          {"pre_tokenizer", nullptr},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"byte_fallback", true},
            {"fuse_unk", true},
            {"vocab",
             {{"<unk>", 0}, {"<s>", 1}, {"▁", 2}, {"a", 3}, {"▁a", 4}, {"<0xC3>", 5}, {"<0xA9>", 6}, {"<0x0A>", 7}}},
            {"merges", {"▁ a"}}}}};
}

inline Tokenizer make(const Json& json) {
  Expected<Tokenizer> tokenizer = Tokenizer::from_json(json.dump());
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.diag().str();
  return std::move(tokenizer).value();
}

inline std::string text_failure(const std::string& text) {
  const Expected<Tokenizer> result = Tokenizer::from_json(text);
  return result.ok() ? "no error" : result.diag().str();
}
inline std::string failure(const Json& json) { return text_failure(json.dump()); }

}  // namespace lumen::testing
