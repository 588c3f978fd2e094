#include "lumen/text/pieces.h"

#include <algorithm>

#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

void add(Piece piece, size_t begin, size_t end, std::vector<Piece>& pieces) {
  if (begin < end) pieces.push_back({piece.text.substr(begin, end - begin), piece.at_start && begin == 0});
}

// Every delimiter joins the span before it, if that is none itself. The spans that stay are no delimiters any more.
void merge_with_previous(std::vector<Span>& spans) {
  std::vector<Span> merged;
  bool after_delimiter = false;
  for (const Span& span : spans) {
    if (span.delimiter && !after_delimiter && !merged.empty()) {
      merged.back().end = span.end;
    } else {
      merged.push_back({span.begin, span.end, false});
    }
    after_delimiter = span.delimiter;
  }
  spans = std::move(merged);
}

void merge_with_next(std::vector<Span>& spans) {
  std::vector<Span> merged;
  bool before_delimiter = false;
  for (size_t k = spans.size(); k-- > 0;) {
    const Span& span = spans[k];
    if (span.delimiter && !before_delimiter && !merged.empty()) {
      merged.back().begin = span.begin;
    } else {
      merged.push_back({span.begin, span.end, false});
    }
    before_delimiter = span.delimiter;
  }
  std::reverse(merged.begin(), merged.end());
  spans = std::move(merged);
}

void merge_contiguous(std::vector<Span>& spans) {
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (!merged.empty() && merged.back().delimiter == span.delimiter) {
      merged.back().end = span.end;
    } else {
      merged.push_back(span);
    }
  }
  spans = std::move(merged);
}

}  // namespace

Pieces::Pieces(std::string_view text, bool at_start) {
  if (!text.empty()) list_.push_back({text, at_start});
}

Expected<void> Pieces::cut(const Cut& cut) {
  std::vector<Piece> pieces;
  for (const Piece& piece : list_) LUMEN_TRY(cut(piece, pieces));
  std::erase_if(pieces, [](const Piece& piece) { return piece.text.empty(); });
  list_ = std::move(pieces);
  return {};
}

void Pieces::rewrite(const std::function<std::string(Piece piece)>& rewrite) {
  for (Piece& piece : list_) piece.text = texts_.emplace_front(rewrite(piece));
  std::erase_if(list_, [](const Piece& piece) { return piece.text.empty(); });
}

void cut_by_spans(Piece piece, std::vector<Span> spans, Delimiters delimiters, std::vector<Piece>& pieces) {
  if (delimiters == Delimiters::merged_with_previous) merge_with_previous(spans);
  if (delimiters == Delimiters::merged_with_next) merge_with_next(spans);
  if (delimiters == Delimiters::contiguous) merge_contiguous(spans);
  for (const Span& span : spans) {
    if (delimiters == Delimiters::removed && span.delimiter) continue;
    add(piece, span.begin, span.end, pieces);
  }
}

void cut_by_character(Piece piece, bool (*test)(char32_t), Delimiters delimiters, std::vector<Piece>& pieces) {
  std::vector<Span> spans;
  for (size_t at = 0; at < piece.text.size();) {
    const Utf8Char c = utf8_at(piece.text, at);
    const bool delimiter = test(c.code);
    if (!delimiter && !spans.empty() && !spans.back().delimiter) {
      spans.back().end = at + c.size;
    } else {
      spans.push_back({at, at + c.size, delimiter});
    }
    at += c.size;
  }
  cut_by_spans(piece, std::move(spans), delimiters, pieces);
}

}  // namespace lumen::text
