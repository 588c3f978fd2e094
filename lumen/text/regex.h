// Regex: the regular expressions of tokenizer files, over valid UTF-8.
//
// The patterns are written for other engines (Oniguruma, Rust's); what those mean by \s, \w, \d and $ is what is
// matched here: White_Space, Unicode words, Nd, and only the very end.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::text {

class Regex {
 public:
  static Expected<Regex> compile(std::string_view pattern);

  struct Match {
    size_t begin, end;
  };
  // Finds matches in one text, one after another; for one thread. The Regex and the text must outlive it.
  class Finder {
   public:
    Finder(const Regex& regex, std::string_view text);
    ~Finder();
    Finder(const Finder&) = delete;
    Finder& operator=(const Finder&) = delete;
    // The first non-empty match at or after the end of the one before. An error when matching takes too many steps.
    Expected<bool> next(Match& match);

   private:
    struct State;
    int match();  // PCRE2's result
    std::unique_ptr<State> state_;
    const Regex& regex_;
    std::string_view text_;
    size_t at_ = 0;
  };

 private:
  struct Code;
  std::shared_ptr<const Code> code_;  // immutable: any thread may match
};

}  // namespace lumen::text
