#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "lumen/text/byte_level.h"
#include "lumen/text/json_fields.h"
#include "lumen/text/json_parts.h"
#include "lumen/text/pre_tokenizer.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 10> kPreTokenizers = {
    "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits",         "Metaspace", "Punctuation",
    "Sequence",         "Split",     "Whitespace",         "WhitespaceSplit"};

Expected<Delimiters> read_behavior(const JsonObject& object, const char* otherwise) {
  constexpr std::pair<std::string_view, Delimiters> kNames[] = {
      {"Removed", Delimiters::removed},
      {"Isolated", Delimiters::isolated},
      {"MergedWithPrevious", Delimiters::merged_with_previous},
      {"MergedWithNext", Delimiters::merged_with_next},
      {"Contiguous", Delimiters::contiguous}};
  const std::string name = LUMEN_TRY(object.string("behavior", otherwise));
  for (const auto& [known, delimiters] : kNames) {
    if (name == known) return delimiters;
  }
  return object.bad("behavior \"" + name +
                    "\" is none of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
}

Expected<PreTokenizer> read_split(const JsonObject& object) {
  const JsonPattern pattern = LUMEN_TRY(read_pattern(*LUMEN_TRY(object.require("pattern")), object.where()));
  const Delimiters delimiters = LUMEN_TRY(read_behavior(object, "Isolated"));
  const bool invert = LUMEN_TRY(object.boolean("invert", false));
  if (pattern.regex) return split_by_regex(*pattern.regex, delimiters, invert);
  if (pattern.text.empty()) return object.bad("an empty pattern");
  return split_by_text(pattern.text, delimiters, invert);
}

Expected<PreTokenizer> read_metaspace(const JsonObject& object) {
  const std::string replacement = LUMEN_TRY(object.string("replacement"));
  const bool legacy = LUMEN_TRY(object.boolean("add_prefix_space", true));
  const std::string scheme = LUMEN_TRY(object.string("prepend_scheme", legacy ? "always" : "never"));
  const bool split = LUMEN_TRY(object.boolean("split", true));
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    return object.bad("prepend_scheme \"" + scheme + "\" is none of always, first, never");
  }
  if (replacement.empty()) return object.bad("an empty replacement");
  const Prepend prepend = scheme == "always" ? Prepend::always : scheme == "first" ? Prepend::first : Prepend::never;
  return metaspace(replacement, prepend, split);
}

// Appends the steps of `json`; the last may be ByteLevel's, which leaves bytes.
Expected<void> read_steps(const Json& json, int depth, std::vector<PreTokenizer>& steps, bool& byte_level) {
  const JsonObject object = LUMEN_TRY(JsonObject::typed(json, "pre_tokenizer"));
  if (depth > kMaxJsonDepth) return object.bad("nested too deeply");
  const std::string& type = object.type();
  if (type == "Sequence") {
    const Json& parts = *LUMEN_TRY(object.require("pretokenizers"));
    if (!parts.is_array()) return object.bad("\"pretokenizers\" is not a list");
    for (const Json& part : parts) LUMEN_TRY(read_steps(part, depth + 1, steps, byte_level));
    return {};
  }
  // Something follows the ByteLevel before, so its characters have to be made now.
  if (std::exchange(byte_level, false)) steps.push_back(to_byte_characters());
  if (type == "ByteLevel") {
    byte_level = true;
    steps.push_back(byte_level_cut(LUMEN_TRY(object.boolean("add_prefix_space", true)),
                                   LUMEN_TRY(object.boolean("use_regex", true))));
  } else if (type == "Split") {
    steps.push_back(LUMEN_TRY(read_split(object)));
  } else if (type == "Metaspace") {
    steps.push_back(LUMEN_TRY(read_metaspace(object)));
  } else if (type == "Digits") {
    const bool single = LUMEN_TRY(object.boolean("individual_digits", false));
    steps.push_back(split_by_character(is_number, single ? Delimiters::isolated : Delimiters::contiguous));
  } else if (type == "Punctuation") {
    steps.push_back(split_by_character(is_punctuation, LUMEN_TRY(read_behavior(object, "Isolated"))));
  } else if (type == "WhitespaceSplit") {
    steps.push_back(split_by_character(is_space, Delimiters::removed));
  } else if (type == "BertPreTokenizer") {
    steps.push_back(split_by_character(is_space, Delimiters::removed));
    steps.push_back(split_by_character(is_punctuation, Delimiters::isolated));
  } else if (type == "Whitespace") {
    steps.push_back(split_words());
  } else if (type == "CharDelimiterSplit") {
    steps.push_back(split_by_text(LUMEN_TRY(object.string("delimiter")), Delimiters::removed, false));
  } else {
    return object.unsupported(kPreTokenizers);
  }
  return {};
}

}  // namespace

Expected<PreTokenizerPart> read_pre_tokenizer(const Json& json) {
  std::vector<PreTokenizer> steps;
  PreTokenizerPart part;
  LUMEN_TRY(read_steps(json, 0, steps, part.byte_level));
  part.pre_tokenize = in_sequence(std::move(steps));
  return part;
}

}  // namespace lumen::text
