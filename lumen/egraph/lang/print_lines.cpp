#include <algorithm>
#include <vector>

#include "lumen/egraph/lang/printer.h"

namespace lumen::egraph {

namespace {

constexpr size_t kMaxIndent = 60;  // so that deep nesting does not fill the text with blanks

// Lists that fit stay on their line; of others the leading words stay on the first line, and each further item
// starts a line. `:key value` stays together.
class LineBreaker {
 public:
  LineBreaker(std::string_view line, size_t width) : line_(line), width_(width) { match_brackets(); }

  std::string run() {
    item(0, 0);
    return std::move(out_);
  }

 private:
  // After the string that starts at `at`.
  size_t string_end(size_t at) const {
    for (++at; line_[at] != '"'; ++at) at += line_[at] == '\\' ? 1 : 0;
    return at + 1;
  }
  size_t word_end(size_t at) const { return std::min(line_.find_first_of(" ()", at), line_.size()); }

  void match_brackets() {
    close_.resize(line_.size());
    std::vector<size_t> open;
    for (size_t at = 0; at < line_.size();) {
      if (line_[at] == '(') {
        open.push_back(at++);
      } else if (line_[at] == ')') {
        close_[open.back()] = static_cast<uint32_t>(at++);
        open.pop_back();
      } else if (line_[at] == ' ') {
        ++at;
      } else {
        at = line_[at] == '"' ? string_end(at) : word_end(at);
      }
    }
  }

  // A label belongs to the list after it.
  size_t item_end(size_t at) const {
    if (line_[at] == '"') return string_end(at);
    if (line_[at] != '(') at = word_end(at);
    return at < line_.size() && line_[at] == '(' ? close_[at] + 1 : at;
  }
  bool is_list(size_t at) const { return line_[item_end(at) - 1] == ')' && line_[at] != '"'; }
  bool is_key(size_t at) const { return line_[at] == ':' && !is_list(at); }

  size_t column() const {
    const size_t newline = out_.rfind('\n');
    return newline == std::string::npos ? out_.size() : out_.size() - newline - 1;
  }
  void start_line(size_t indent) {
    out_ += '\n';
    out_.append(std::min(indent, kMaxIndent), ' ');
  }

  // `after`: how many characters follow the item at least, closing brackets most of all.
  void item(size_t at, size_t after) {
    const size_t end = item_end(at);
    if (!is_list(at) || column() + (end - at) + after <= width_) {
      out_ += line_.substr(at, end - at);
      return;
    }
    const size_t open = line_[at] == '(' ? at : word_end(at);
    out_ += line_.substr(at, open - at);
    list(open, after);
  }

  void list(size_t open, size_t after) {
    const size_t indent = std::min(column(), kMaxIndent) + (line_[open + 1] == '(' ? 1 : 2);
    const size_t close = close_[open];
    out_ += '(';
    bool first_line = true;
    for (size_t at = open + 1; at < close;) {
      size_t end = item_end(at);
      if (at > open + 1) {
        first_line = first_line && !is_list(at) && !is_key(at) && column() + 1 + (end - at) <= width_;
        if (first_line) {
          out_ += ' ';
        } else {
          start_line(indent);
        }
      }
      if (is_key(at) && end < close && !is_key(end + 1)) {
        out_ += line_.substr(at, end + 1 - at);
        at = end + 1;
        end = item_end(at);
      }
      item(at, end == close ? after + 1 : 0);
      at = end + (end < close ? 1 : 0);
    }
    out_ += ')';
  }

  std::string_view line_;
  size_t width_;
  std::vector<uint32_t> close_;  // by the place of `(`
  std::string out_;
};

}  // namespace

std::string break_lines(std::string_view line, size_t width) { return LineBreaker(line, width).run(); }

}  // namespace lumen::egraph
