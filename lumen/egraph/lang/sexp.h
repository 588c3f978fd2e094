// Tokens and brackets of the rule language, as a flat list of nodes in prefix order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lumen/egraph/lang/ast.h"

namespace lumen::egraph {

// Brackets, an atom or a literal. What a list holds follows it directly: its first item is this + 1, the sibling
// after a node is this + size. A label `?m:(F ...)` is a node with one item, the list.
struct Sexp {
  enum class Kind : uint8_t { list, label, atom, integer, real, string, boolean };
  Kind kind = Kind::atom;
  bool boolean = false;
  uint32_t size = 1;  // in nodes, this one included
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string_view text;  // of the atom, of the label without its colon, of the string unescaped
  union {
    int64_t integer = 0;
    double real;
  };

  bool is_list() const { return kind == Kind::list; }
  bool is_atom() const { return kind == Kind::atom; }
  bool is_atom(std::string_view name) const { return is_atom() && text == name; }
  // An atom with a leading colon: the name of an option or a field.
  bool is_key() const { return is_atom() && text.size() > 1 && text[0] == ':'; }
  const Sexp* next() const { return this + size; }
};

// for (const Sexp& item : Items(list))
class Items {
 public:
  class Iterator {
   public:
    explicit Iterator(const Sexp* at) : at_(at) {}
    const Sexp& operator*() const { return *at_; }
    Iterator& operator++() {
      at_ = at_->next();
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Sexp* at_;
  };
  explicit Items(const Sexp& list) : list_(list) {}
  Iterator begin() const { return Iterator(&list_ + 1); }
  Iterator end() const { return Iterator(list_.next()); }

 private:
  const Sexp& list_;
};

// Reads a text one top-level node after the other. Errors: brackets that do not match or nest too deep, a string
// without an end or with an unknown escape.
class SexpReader {
 public:
  explicit SexpReader(Source& source) : source_(source), text_(source.text) {}

  // Null at the end of the text. The node lives until the next call.
  Expected<const Sexp*> next();

 private:
  Span span(size_t begin, size_t end) const {
    return {&source_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  void skip_blanks();
  Sexp& add(Sexp::Kind kind, size_t begin);
  Expected<void> token();
  Expected<void> open();
  Expected<void> close();
  void close_top();
  void atom();
  Expected<void> string();
  Expected<char> escape();

  Source& source_;
  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
  std::vector<Sexp> nodes_;
  std::vector<uint32_t> open_;  // lists and labels that are not closed
};

// Whether a name written so is an atom and not a literal; `node` becomes what it is.
bool classify(std::string_view text, Sexp& node);

// `text` with `value` for each occurrence of `parameter` that no letter, digit or _ follows.
std::string replace_parameter(std::string_view text, std::string_view parameter, std::string_view value);

}  // namespace lumen::egraph
