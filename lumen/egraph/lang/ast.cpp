#include "lumen/egraph/lang/ast.h"

#include <algorithm>

namespace lumen::egraph {

namespace {

constexpr size_t kShownWidth = 120;  // of a source line; longer ones are cut around the place

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

// The part of the line that is shown, as [first, last) of it.
std::pair<size_t, size_t> shown_part(std::string_view line, size_t place) {
  if (line.size() <= kShownWidth) return {0, line.size()};
  size_t first = place > kShownWidth / 2 ? place - kShownWidth / 2 : 0;
  size_t last = std::min(line.size(), first + kShownWidth);
  while (first < place && !starts_character(line[first])) ++first;
  while (last < line.size() && !starts_character(line[last])) ++last;
  return {first, last};
}

// Blanks as wide as `text`; tabs stay tabs so that the mark stands under its place.
std::string blank(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\t') {
      result += '\t';
    } else if (starts_character(c)) {
      result += ' ';
    }
  }
  return result;
}

}  // namespace

std::shared_ptr<Source> make_source(std::string file, std::string text) {
  auto source = std::make_shared<Source>();
  source->file = std::move(file);
  source->text = std::move(text);
  return source;
}

Diag error_at(const Span& span, std::string message) {
  Diag diag = error(std::move(message));
  if (span.source == nullptr) return diag;
  const std::string_view text = span.source->text;
  const size_t begin = std::min<size_t>(span.begin, text.size());
  const size_t line_begin = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;  // npos + 1 is 0
  const std::string_view line = text.substr(line_begin, std::min(text.find('\n', begin), text.size()) - line_begin);
  const size_t place = begin - line_begin;
  const auto newlines = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(begin), '\n');
  diag.where = {span.source->file, static_cast<int>(newlines) + 1,
                static_cast<int>(count_characters(line.substr(0, place))) + 1};

  const auto [first, last] = shown_part(line, place);
  const size_t end = std::min<size_t>(std::max<size_t>(span.end, begin) - line_begin, last);
  const size_t width = end > place ? count_characters(line.substr(place, end - place)) : 1;
  std::string shown(line.substr(first, last - first));
  if (!shown.empty() && shown.back() == '\r') shown.pop_back();
  diag.notes.push_back(std::move(shown));
  diag.notes.push_back(blank(line.substr(first, place - first)) + "^" +
                       std::string(std::max<size_t>(width, 1) - 1, '~'));
  return diag;
}

}  // namespace lumen::egraph
