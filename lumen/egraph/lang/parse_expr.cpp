#include <fmt/format.h>

#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

namespace {

bool is_inherited(const Sexp& sexp) { return sexp.is_atom() && sexp.text.size() > 2 && sexp.text.starts_with(".."); }

Literal literal(const Sexp& sexp) {
  Literal result;
  switch (sexp.kind) {
    case Sexp::Kind::integer:
      result.kind = Literal::Kind::integer;
      result.integer = sexp.integer;
      break;
    case Sexp::Kind::real:
      result.kind = Literal::Kind::real;
      result.real = sexp.real;
      break;
    case Sexp::Kind::string:
      result.kind = Literal::Kind::string;
      result.string = sexp.text;
      break;
    case Sexp::Kind::boolean:
      result.kind = Literal::Kind::boolean;
      result.boolean = sexp.boolean;
      break;
    default:
      break;
  }
  return result;
}

}  // namespace

// Without recursion: brackets nest deep. The calls being read are a stack of their own.
Expected<const Expr*> Parser::expr(const Sexp& sexp) {
  const Sexp* at = &sexp;
  while (true) {
    if (at->kind == Sexp::Kind::label || (at->is_list() && at->size > 1)) {
      at = LUMEN_TRY(open_call(*at));
    } else {
      const Expr* leaf = LUMEN_TRY(this->leaf(*at));
      if (calls_.empty()) return leaf;
      place(leaf);
      at = at->next();
    }
    LUMEN_TRY(read_fields(at));
    while (at == calls_.back().end) {
      const Expr* call = close_call();
      if (calls_.empty()) return call;
      place(call);
      LUMEN_TRY(read_fields(at));
    }
  }
}

// A variable or a literal.
Expected<const Expr*> Parser::leaf(const Sexp& sexp) {
  Expr* result = arena_.make<Expr>();
  result->span = span(sexp);
  if (!sexp.is_atom()) {
    result->literal = literal(sexp);
    return result;
  }
  result->kind = Expr::Kind::variable;
  if (sexp.text == "_") {
    result->name = arena_.copy(std::string_view(fmt::format("@_{}", ++wildcards_)));
    return result;
  }
  if (is_inherited(sexp)) {
    return error_at(span(sexp), fmt::format("`{}` stands only after the arguments of a call", sexp.text));
  }
  result->name = LUMEN_TRY(variable_name(sexp, "an expression"));
  return result;
}

// A list or a label with its list; gives what follows the head.
Expected<const Sexp*> Parser::open_call(const Sexp& sexp) {
  const bool labelled = sexp.kind == Sexp::Kind::label;
  if (labelled) LUMEN_TRY(check_label(sexp));
  const Sexp& list = labelled ? (&sexp)[1] : sexp;
  const Sexp& head = (&list)[1];
  Expr* call = arena_.make<Expr>();
  call->kind = Expr::Kind::call;
  call->span = span(sexp);
  call->name = LUMEN_TRY(name(head, "the name of a function"));
  if (labelled) call->label = sexp.text;
  calls_.push_back({call, list.next(), args_.size(), fields_.size(), false});
  return head.next();
}

Expected<void> Parser::check_label(const Sexp& sexp) const {
  Sexp spelled;
  if (!classify(sexp.text, spelled) || spelled.is_key() || sexp.text == "_") {
    return error_at(span(sexp), fmt::format("the label `{}` is not the name of a variable", sexp.text));
  }
  if ((&sexp)[1].size == 1) {
    return error_at(span(sexp), "a label stands before a call such as `?m:(F ?x)`, given `()`");
  }
  return check_not_reserved(sexp.text, sexp);
}

const Expr* Parser::close_call() {
  const OpenCall& top = calls_.back();
  top.expr->args = arena_.copy(std::span<const Expr* const>(args_).subspan(top.first_arg));
  top.expr->fields = arena_.copy(std::span<const FieldArg>(fields_).subspan(top.first_field));
  args_.resize(top.first_arg);
  fields_.resize(top.first_field);
  const Expr* result = top.expr;
  calls_.pop_back();
  return result;
}

// As an argument of the innermost call, or as the value of its last field.
void Parser::place(const Expr* expr) {
  if (calls_.back().field_is_open) {
    fields_.back().value = expr;
    fields_.back().span.end = expr->span.end;
    calls_.back().field_is_open = false;
  } else {
    args_.push_back(expr);
  }
}

// Moves `at` over `..?m` and `:name` to the next value, or to the end of the innermost call.
Expected<void> Parser::read_fields(const Sexp*& at) {
  OpenCall& top = calls_.back();
  for (; at != top.end; at = at->next()) {
    if (at->is_key()) {
      const Sexp* value = at->next();
      if (value == top.end || value->is_key() || is_inherited(*value)) {
        return error_at(span(*at), fmt::format("the field `{}` needs a value", at->text));
      }
      fields_.push_back({span(*at), at->text.substr(1), nullptr});
      top.field_is_open = true;
      at = value;
      return {};
    }
    if (!is_inherited(*at)) break;
    fields_.push_back(LUMEN_TRY(inherited(*at)));
  }
  if (at != top.end && fields_.size() > top.first_field) {
    return expected(*at, "a field (`:name value` or `..?m`) or `)`; arguments without a name come before the fields");
  }
  return {};
}

Expected<FieldArg> Parser::inherited(const Sexp& sexp) {
  const std::string_view node = sexp.text.substr(2);
  Sexp spelled;
  if (!classify(node, spelled) || spelled.is_key() || node == "_") {
    return error_at(span(sexp), fmt::format("`..` needs the name of a variable, given `{}`", node));
  }
  LUMEN_TRY(check_not_reserved(node, sexp));
  Expr* value = arena_.make<Expr>();
  value->kind = Expr::Kind::variable;
  value->span = span(sexp);
  value->name = node;
  return FieldArg{span(sexp), {}, value};
}

Expected<const Expr*> Parser::table_call(const Sexp& sexp) {
  if (!sexp.is_list() || sexp.size == 1) return expected(sexp, "a call such as (f x)");
  return expr(sexp);
}

Expected<std::vector<const Expr*>> Parser::exprs(Args args) {
  std::vector<const Expr*> result;
  for (const Sexp* arg : args) result.push_back(LUMEN_TRY(expr(*arg)));
  return result;
}

Expected<Fact> Parser::fact(const Sexp& sexp) {
  const bool is_call = sexp.is_list() && sexp.size > 1 && (&sexp)[1].is_atom();
  if (!is_call && sexp.kind != Sexp::Kind::label) return expected(sexp, "a fact such as (= a b) or (f x)");
  if (!is_call || (&sexp)[1].text != "=") return Fact{span(sexp), false, LUMEN_TRY(expr(sexp)), nullptr};
  const Form equality = LUMEN_TRY(form(sexp, "a fact"));
  if (equality.args.size() != 2) {
    return error_at(span(sexp), fmt::format("usage: (= <expr> <expr>), given {} arguments", equality.args.size()));
  }
  const Expr* left = LUMEN_TRY(expr(*equality.args[0]));
  return Fact{span(sexp), true, left, LUMEN_TRY(expr(*equality.args[1]))};
}

Expected<std::vector<Fact>> Parser::facts(Args args) {
  std::vector<Fact> result;
  for (const Sexp* arg : args) result.push_back(LUMEN_TRY(fact(*arg)));
  return result;
}

Expected<std::vector<Fact>> Parser::fact_list(const Sexp& sexp, std::string_view what) {
  std::vector<Fact> result;
  for (const Sexp& item : LUMEN_TRY(list(sexp, what))) result.push_back(LUMEN_TRY(fact(item)));
  return result;
}

}  // namespace lumen::egraph
