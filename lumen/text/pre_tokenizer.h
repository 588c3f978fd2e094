// Pre-tokenizers: the ways in which text is cut into the pieces that a model sees.
#pragma once

#include <string>
#include <vector>

#include "lumen/text/pieces.h"
#include "lumen/text/regex.h"

namespace lumen::text {

PreTokenizer in_sequence(std::vector<PreTokenizer> steps);
// Matches are the delimiters; with `invert` everything else is.
PreTokenizer split_by_regex(Regex regex, Delimiters delimiters, bool invert);
PreTokenizer split_by_text(std::string text, Delimiters delimiters, bool invert);
PreTokenizer split_by_character(bool (*test)(char32_t), Delimiters delimiters);
// Runs of word characters and runs of what is neither those nor white space.
PreTokenizer split_words();

// Spaces become `replacement`, which may also be put before a piece; then pieces start at each of them.
enum class Prepend { always, first, never };
PreTokenizer metaspace(std::string replacement, Prepend prepend, bool split);

// GPT-2's, without the change of alphabet ...
PreTokenizer byte_level_cut(bool add_prefix_space, bool use_regex);
// ... and that change.
PreTokenizer to_byte_characters();

extern const std::string_view kGpt2Regex;

}  // namespace lumen::text
