// The characters of words and numbers, in graphs' text and expressions'. Internal to lumen/ir.
#pragma once

namespace lumen {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_word(char c) { return is_word_start(c) || is_digit(c) || c == '.'; }

}  // namespace lumen
