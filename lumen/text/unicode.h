// Properties of characters and the normal forms, from utf8proc. All text is valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace lumen::text {

bool is_space(char32_t c);        // White_Space
bool is_number(char32_t c);       // Nd, Nl, No
bool is_punctuation(char32_t c);  // P*, and the rest of ASCII's
bool is_mark(char32_t c);         // Mn, Mc, Me
bool is_nonspacing_mark(char32_t c);
bool is_other(char32_t c);  // Cc, Cf, Cn, Co
bool is_word(char32_t c);   // what \w is: Alphabetic, M, Nd, Pc and the joiners
bool is_cjk(char32_t c);    // the ideographs that BERT sets apart

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normalize(std::string_view text, NormalForm form);

// Of the mappings to several characters only those of \u0130 and \u00DF are known.
std::string lowercase(std::string_view text);
std::string uppercase(std::string_view text);

// Where the grapheme cluster that starts at text[at] ends.
size_t grapheme_end(std::string_view text, size_t at);

}  // namespace lumen::text
