// The parts of print_command: each appends to a text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lumen/egraph/lang/ast.h"

namespace lumen::egraph {

// One line; words are separated by one blank.
void append_quoted(std::string_view text, std::string& out);
void append_literal(const Literal& literal, std::string& out);
void append_expr(const Expr& expr, std::string& out);
void append_fact(const Fact& fact, std::string& out);
void append_action(const ActionNode& action, std::string& out);
void append_schedule(const Schedule& schedule, std::string& out);
void append_command(const Command& command, std::string& out);

// The items, each after a blank.
template <class Range, class Append>
void append_each(const Range& items, std::string& out, Append append) {
  for (const auto& item : items) {
    out += ' ';
    append(item, out);
  }
}

// In brackets.
template <class Range, class Append>
void append_list(const Range& items, std::string& out, Append append) {
  std::string_view separator = "(";
  for (const auto& item : items) {
    out += separator;
    append(item, out);
    separator = " ";
  }
  out += items.empty() ? "()" : ")";
}

// A line of words and brackets broken where it is wider than `width`.
std::string break_lines(std::string_view line, size_t width);

}  // namespace lumen::egraph
