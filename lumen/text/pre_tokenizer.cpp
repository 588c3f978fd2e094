#include "lumen/text/pre_tokenizer.h"

#include "lumen/text/byte_level.h"
#include "lumen/text/normalizer.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

const std::string_view kGpt2Regex = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// Adds [done, match) and the match itself.
void add_match(std::vector<Span>& spans, size_t& done, size_t begin, size_t end, bool invert) {
  if (done < begin) spans.push_back({done, begin, invert});
  spans.push_back({begin, end, !invert});
  done = end;
}

void add_rest(std::vector<Span>& spans, size_t done, size_t end, bool invert) {
  if (done < end) spans.push_back({done, end, invert});
}

Expected<void> isolate_matches(const Regex& regex, Piece piece, std::vector<Piece>& pieces) {
  size_t done = 0;
  const auto add = [&](size_t end) {
    if (done < end) pieces.push_back({piece.text.substr(done, end - done), piece.at_start && done == 0});
    done = end;
  };
  Regex::Finder finder(regex, piece.text);
  Regex::Match match{};
  while (LUMEN_TRY(finder.next(match))) {
    add(match.begin);
    add(match.end);
  }
  add(piece.text.size());
  return {};
}

}  // namespace

PreTokenizer in_sequence(std::vector<PreTokenizer> steps) {
  return [steps = std::move(steps)](Pieces& pieces) -> Expected<void> {
    for (const PreTokenizer& step : steps) LUMEN_TRY(step(pieces));
    return {};
  };
}

PreTokenizer split_by_regex(Regex regex, Delimiters delimiters, bool invert) {
  return [=](Pieces& pieces) {
    return pieces.cut([&](Piece piece, std::vector<Piece>& cut) -> Expected<void> {
      if (delimiters == Delimiters::isolated) return isolate_matches(regex, piece, cut);
      std::vector<Span> spans;
      size_t done = 0;
      Regex::Finder finder(regex, piece.text);
      Regex::Match match{};
      while (LUMEN_TRY(finder.next(match))) add_match(spans, done, match.begin, match.end, invert);
      add_rest(spans, done, piece.text.size(), invert);
      cut_by_spans(piece, std::move(spans), delimiters, cut);
      return {};
    });
  };
}

PreTokenizer split_by_text(std::string text, Delimiters delimiters, bool invert) {
  return [=](Pieces& pieces) {
    return pieces.cut([&](Piece piece, std::vector<Piece>& cut) -> Expected<void> {
      std::vector<Span> spans;
      size_t done = 0;
      for (size_t at = piece.text.find(text); at != std::string_view::npos && !text.empty();
           at = piece.text.find(text, done)) {
        add_match(spans, done, at, at + text.size(), invert);
      }
      add_rest(spans, done, piece.text.size(), invert);
      cut_by_spans(piece, std::move(spans), delimiters, cut);
      return {};
    });
  };
}

PreTokenizer split_by_character(bool (*test)(char32_t), Delimiters delimiters) {
  return [=](Pieces& pieces) {
    return pieces.cut([=](Piece piece, std::vector<Piece>& cut) -> Expected<void> {
      cut_by_character(piece, test, delimiters, cut);
      return {};
    });
  };
}

PreTokenizer split_words() {
  return [](Pieces& pieces) {
    return pieces.cut([](Piece piece, std::vector<Piece>& cut) -> Expected<void> {
      std::vector<Piece> without_spaces;
      cut_by_character(piece, is_space, Delimiters::removed, without_spaces);
      for (const Piece& word : without_spaces) cut_by_character(word, is_word, Delimiters::contiguous, cut);
      return {};
    });
  };
}

PreTokenizer metaspace(std::string replacement, Prepend prepend, bool split) {
  const PreTokenizer cut = split_by_text(replacement, Delimiters::merged_with_next, false);
  return [=](Pieces& pieces) -> Expected<void> {
    pieces.rewrite([&](Piece piece) {
      std::string text = replace_all(piece.text, " ", replacement);
      const bool wanted = prepend == Prepend::always || (prepend == Prepend::first && piece.at_start);
      if (wanted && !text.starts_with(replacement)) text.insert(0, replacement);
      return text;
    });
    return split ? cut(pieces) : Expected<void>();
  };
}

PreTokenizer byte_level_cut(bool add_prefix_space, bool use_regex) {
  const PreTokenizer cut = split_by_regex(Regex::compile(kGpt2Regex).value(), Delimiters::isolated, false);
  return [=](Pieces& pieces) -> Expected<void> {
    if (add_prefix_space) {
      pieces.rewrite([](Piece piece) { return (piece.text.starts_with(' ') ? "" : " ") + std::string(piece.text); });
    }
    return use_regex ? cut(pieces) : Expected<void>();
  };
}

PreTokenizer to_byte_characters() {
  return [](Pieces& pieces) -> Expected<void> {
    pieces.rewrite([](Piece piece) {
      std::string characters;
      append_byte_characters(characters, piece.text);
      return characters;
    });
    return {};
  };
}

}  // namespace lumen::text
