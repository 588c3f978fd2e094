#include <fmt/format.h>

#include <array>

#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

// Nothing, or `:extractor greedy-dag`.
Expected<bool> Parser::is_greedy_dag(Args args) {
  static constexpr std::array<std::string_view, 1> kKnown = {":extractor"};
  bool result = false;
  for (const Option& option : LUMEN_TRY(options(args))) {
    if (option.key->text != kKnown[0]) return unknown_option(*option.key, "extract", kKnown);
    const Sexp* extractor = LUMEN_TRY(single_value(option));
    if (!extractor->is_atom("greedy-dag")) {
      return expected(*extractor, "the extractor `greedy-dag` (without `:extractor` it is the cost of the tree)");
    }
    result = true;
  }
  return result;
}

Expected<void> Parser::parse_extract(const Form& form, Commands& out) {
  ExtractCommand extract{};
  extract.expr = LUMEN_TRY(expr(*form.args[0]));
  const bool variants = form.args.size() > 1 && !form.args[1]->is_key();
  if (variants) extract.variants = LUMEN_TRY(expr(*form.args[1]));
  extract.greedy_dag = LUMEN_TRY(is_greedy_dag(Args(form.args).subspan(variants ? 2 : 1)));
  add(form, extract, out);
  return {};
}

// The old spelling: (query-extract :variants n expr).
Expected<void> Parser::parse_query_extract(const Form& form, Commands& out) {
  ExtractCommand extract{};
  if (form.args.size() == 3 && form.args[0]->is_atom(":variants")) {
    extract.variants = LUMEN_TRY(expr(*form.args[1]));
  } else if (form.args.size() != 1) {
    return expected(*form.args[0], "`:variants <n> <expr>` or one expression");
  }
  extract.expr = LUMEN_TRY(expr(*form.args.back()));
  add(form, extract, out);
  return {};
}

// check and prove
Expected<void> Parser::parse_check(const Form& form, Commands& out) {
  add(form, CheckCommand{LUMEN_TRY(facts(form.args))}, out);
  return {};
}

Expected<void> Parser::parse_prove_exists(const Form& form, Commands&) {
  return error_at(span(*form.whole), "prove-exists is not supported; use (check ...) or (explain a b)");
}

Expected<void> Parser::parse_push(const Form& form, Commands& out) {
  const uint64_t times = form.args.empty() ? 1 : LUMEN_TRY(unsigned_integer(*form.args[0], "the number of times"));
  add(form, PushCommand{times}, out);
  return {};
}

Expected<void> Parser::parse_pop(const Form& form, Commands& out) {
  const uint64_t times = form.args.empty() ? 1 : LUMEN_TRY(unsigned_integer(*form.args[0], "the number of times"));
  add(form, PopCommand{times}, out);
  return {};
}

Expected<void> Parser::parse_print_stats(const Form& form, Commands& out) {
  static constexpr std::array<std::string_view, 1> kKnown = {":file"};
  PrintStatsCommand command;
  for (const Option& option : LUMEN_TRY(options(form.args))) {
    if (option.key->text != kKnown[0]) return unknown_option(*option.key, form.head, kKnown);
    command.file = LUMEN_TRY(string(*LUMEN_TRY(single_value(option)), "the name of a file"));
  }
  add(form, command, out);
  return {};
}

Expected<void> Parser::parse_print_function(const Form& form, Commands& out) {
  static constexpr std::array<std::string_view, 2> kKnown = {":file", ":mode"};
  PrintFunctionCommand command;
  command.name = LUMEN_TRY(name(*form.args[0], "the name of a table"));
  Args rest = Args(form.args).subspan(1);
  if (!rest.empty() && !rest[0]->is_key()) {
    command.rows = LUMEN_TRY(unsigned_integer(*rest[0], "the number of rows"));
    rest = rest.subspan(1);
  }
  for (const Option& option : LUMEN_TRY(options(rest))) {
    if (option.key->text == ":file") {
      command.file = LUMEN_TRY(string(*LUMEN_TRY(single_value(option)), "the name of a file"));
    } else if (option.key->text == ":mode") {
      const Sexp* mode = LUMEN_TRY(single_value(option));
      if (!mode->is_atom("csv") && !mode->is_atom("default")) return expected(*mode, "the mode `csv` or `default`");
      command.csv = mode->text == "csv";
    } else {
      return unknown_option(*option.key, form.head, kKnown);
    }
  }
  add(form, command, out);
  return {};
}

Expected<void> Parser::parse_print_size(const Form& form, Commands& out) {
  PrintSizeCommand command;
  if (!form.args.empty()) command.name = LUMEN_TRY(name(*form.args[0], "the name of a table"));
  add(form, command, out);
  return {};
}

Expected<void> Parser::parse_input(const Form& form, Commands& out) {
  const std::string_view table = LUMEN_TRY(name(*form.args[0], "the name of a table"));
  add(form, InputCommand{table, LUMEN_TRY(string(*form.args[1], "the name of a file"))}, out);
  return {};
}

Expected<void> Parser::parse_output(const Form& form, Commands& out) {
  const std::string_view file = LUMEN_TRY(string(*form.args[0], "the name of a file"));
  add(form, OutputCommand{file, LUMEN_TRY(exprs(Args(form.args).subspan(1)))}, out);
  return {};
}

Expected<void> Parser::parse_include(const Form& form, Commands& out) {
  add(form, IncludeCommand{LUMEN_TRY(string(*form.args[0], "the name of a file"))}, out);
  return {};
}

Expected<void> Parser::parse_explain(const Form& form, Commands& out) {
  const Expr* left = LUMEN_TRY(expr(*form.args[0]));
  add(form, ExplainCommand{left, LUMEN_TRY(expr(*form.args[1]))}, out);
  return {};
}

Expected<void> Parser::parse_why_not(const Form& form, Commands& out) {
  const std::string_view rule = LUMEN_TRY(string(*form.args[0], "the name of a rule"));
  add(form, WhyNotCommand{rule, LUMEN_TRY(expr(*form.args[1]))}, out);
  return {};
}

}  // namespace lumen::egraph
