#include <charconv>
#include <cmath>

#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/printer.h"

namespace lumen::egraph {

namespace {

template <class Number>
void append_number(Number value, std::string& out) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

// The shortest text that reads back to the same value, and as a real.
void append_real(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  const size_t begin = out.size();
  append_number(value, out);
  if (std::isfinite(value) && out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

void append_field(const FieldArg& field, std::string& out) {
  if (field.name.empty()) {
    out += "..";
  } else {
    out += ':';
    out += field.name;
    out += ' ';
  }
  append_expr(*field.value, out);
}

bool is_wildcard(std::string_view name) { return name.starts_with("@_"); }

}  // namespace

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

void append_literal(const Literal& literal, std::string& out) {
  switch (literal.kind) {
    case Literal::Kind::integer:
      append_number(literal.integer, out);
      break;
    case Literal::Kind::real:
      append_real(literal.real, out);
      break;
    case Literal::Kind::string:
      append_quoted(literal.string, out);
      break;
    case Literal::Kind::boolean:
      out += literal.boolean ? "true" : "false";
      break;
    case Literal::Kind::unit:
      out += "()";
      break;
  }
}

void append_expr(const Expr& expr, std::string& out) {
  switch (expr.kind) {
    case Expr::Kind::literal:
      append_literal(expr.literal, out);
      return;
    case Expr::Kind::variable:
      out += is_wildcard(expr.name) ? "_" : expr.name;
      return;
    case Expr::Kind::call:
      break;
  }
  if (!expr.label.empty()) {
    out += expr.label;
    out += ':';
  }
  out += '(';
  out += expr.name;
  append_each(expr.args, out, [](const Expr* arg, std::string& text) { append_expr(*arg, text); });
  append_each(expr.fields, out, append_field);
  out += ')';
}

void append_fact(const Fact& fact, std::string& out) {
  if (!fact.equal) return append_expr(*fact.left, out);
  out += "(= ";
  append_expr(*fact.left, out);
  out += ' ';
  append_expr(*fact.right, out);
  out += ')';
}

std::string print_expr(const Expr& expr) {
  std::string text;
  append_expr(expr, text);
  return text;
}

std::string print_fact(const Fact& fact) {
  std::string text;
  append_fact(fact, text);
  return text;
}

}  // namespace lumen::egraph
