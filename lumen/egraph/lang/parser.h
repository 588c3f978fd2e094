// The parser of one Source: a method per command, in the parse_*.cpp files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/egraph/lang/ast.h"
#include "lumen/egraph/lang/sexp.h"

namespace lumen::egraph {

class Parser {
 public:
  // A bracketed form with an atom as its head, and what follows it.
  struct Form {
    const Sexp* whole = nullptr;
    std::string_view head;
    std::vector<const Sexp*> args;
  };
  using Args = std::span<const Sexp* const>;

  explicit Parser(Source& source);

  // One command of the text may become none or several.
  Expected<void> command(const Sexp& sexp, std::vector<Command>& out);

 private:
  static constexpr size_t kMaxNesting = 200;  // of commands and schedules, which are read recursively
  using Commands = std::vector<Command>;
  struct CommandDef {
    std::string_view name;
    size_t least;  // arguments
    size_t most;
    std::string_view usage;
    Expected<void> (Parser::*parse)(const Form& form, Commands& out);
    bool yields = false;  // to a table of the program with this name
  };
  struct Option {
    const Sexp* key;
    Args values;
  };
  struct OpenCall {
    Expr* expr;
    const Sexp* end;
    size_t first_arg;
    size_t first_field;
    bool field_is_open;  // the last field waits for its value
  };
  static const CommandDef* find_command(std::string_view name);

  // ---- parts of a form: an error says what was expected and what stands there (parse_part.cpp)
  Span span(const Sexp& sexp) const { return {&source_, sexp.begin, sexp.end}; }
  Diag expected(const Sexp& sexp, std::string_view what) const;
  Diag unknown_option(const Sexp& key, std::string_view where, std::span<const std::string_view> known) const;
  Expected<Form> form(const Sexp& sexp, std::string_view what) const;
  Expected<std::string_view> name(const Sexp& sexp, std::string_view what) const;
  Expected<std::string_view> variable_name(const Sexp& sexp, std::string_view what) const;
  Expected<void> check_not_reserved(std::string_view name, const Sexp& sexp) const;
  Expected<uint64_t> unsigned_integer(const Sexp& sexp, std::string_view what) const;
  Expected<std::string_view> string(const Sexp& sexp, std::string_view what) const;
  Expected<Items> list(const Sexp& sexp, std::string_view what) const;
  Expected<std::vector<Option>> options(Args args) const;
  Expected<const Sexp*> single_value(const Option& option) const;
  Expected<void> no_value(const Option& option) const;
  Expected<void> check_nesting(const Sexp& sexp) const;

  // ---- expressions (parse_expr.cpp)
  Expected<const Expr*> expr(const Sexp& sexp);
  Expected<const Expr*> leaf(const Sexp& sexp);
  Expected<const Sexp*> open_call(const Sexp& sexp);
  Expected<void> check_label(const Sexp& sexp) const;
  const Expr* close_call();
  void place(const Expr* expr);
  Expected<void> read_fields(const Sexp*& at);
  Expected<FieldArg> inherited(const Sexp& sexp);
  Expected<const Expr*> table_call(const Sexp& sexp);
  Expected<std::vector<const Expr*>> exprs(Args args);
  Expected<Fact> fact(const Sexp& sexp);
  Expected<std::vector<Fact>> facts(Args args);
  Expected<std::vector<Fact>> fact_list(const Sexp& sexp, std::string_view what);

  // ---- rules and actions (parse_rule.cpp)
  Expected<void> action(const Sexp& sexp, std::vector<ActionNode>& out);
  Expected<void> let_action(const Form& form, std::vector<ActionNode>& out);
  Expected<void> set_action(const Form& form, std::vector<ActionNode>& out);
  Expected<void> set_cost_action(const Form& form, std::vector<ActionNode>& out);
  Expected<std::vector<ActionNode>> actions(const Sexp& sexp);
  Expected<void> parse_rule(const Form& form, Commands& out);
  Expected<void> parse_rewrite(const Form& form, Commands& out);

  // ---- declarations (parse_declare.cpp)
  Expected<Params> params(Args args);
  Expected<Params> param_list(const Sexp& sexp);
  Expected<Presort> presort(const Sexp& sexp);
  Expected<Variant> variant(const Sexp& sexp);
  Expected<std::vector<Variant>> variants(Args args);
  Expected<DatatypeBody> datatype_body(const Sexp& sexp);
  void declare(std::string_view table);
  Expected<void> parse_sort(const Form& form, Commands& out);
  Expected<void> parse_datatype(const Form& form, Commands& out);
  Expected<void> parse_datatypes(const Form& form, Commands& out);
  Expected<void> parse_function(const Form& form, Commands& out);
  Expected<void> parse_constructor(const Form& form, Commands& out);
  Expected<void> parse_relation(const Form& form, Commands& out);
  Expected<void> parse_ruleset(const Form& form, Commands& out);
  Expected<void> parse_combined_ruleset(const Form& form, Commands& out);

  // ---- schedules (parse_schedule.cpp)
  Expected<Schedule> schedule(const Sexp& sexp);
  Expected<Schedule> schedule_form(const Form& form);
  Expected<std::vector<Schedule>> schedules(Args args);
  Expected<Schedule> run_schedule(const Form& form);
  Expected<Schedule> repeat_schedule(const Form& form);
  Expected<Schedule> scheduler_schedule(const Form& form);
  Expected<Schedule> counted_run(const Form& form);
  Expected<std::vector<Fact>> until(Args args);
  Expected<void> parse_run(const Form& form, Commands& out);
  Expected<void> parse_run_schedule(const Form& form, Commands& out);
  Expected<void> parse_simplify(const Form& form, Commands& out);

  // ---- questions, files, the state of the e-graph (parse_query.cpp)
  Expected<bool> is_greedy_dag(Args args);
  Expected<void> parse_extract(const Form& form, Commands& out);
  Expected<void> parse_query_extract(const Form& form, Commands& out);
  Expected<void> parse_check(const Form& form, Commands& out);
  Expected<void> parse_prove_exists(const Form& form, Commands& out);
  Expected<void> parse_push(const Form& form, Commands& out);
  Expected<void> parse_pop(const Form& form, Commands& out);
  Expected<void> parse_print_stats(const Form& form, Commands& out);
  Expected<void> parse_print_function(const Form& form, Commands& out);
  Expected<void> parse_print_size(const Form& form, Commands& out);
  Expected<void> parse_input(const Form& form, Commands& out);
  Expected<void> parse_output(const Form& form, Commands& out);
  Expected<void> parse_include(const Form& form, Commands& out);
  Expected<void> parse_explain(const Form& form, Commands& out);
  Expected<void> parse_why_not(const Form& form, Commands& out);

  // ---- commands that hold commands (parse_nested.cpp)
  Expected<void> parse_fail(const Form& form, Commands& out);
  Expected<void> parse_for(const Form& form, Commands& out);
  Expected<void> for_each_value(const Form& form, Commands& out);
  Expected<void> for_each_match(const Form& form, Commands& out);
  Expected<void> expand(const Sexp& body, std::string_view parameter, const Sexp& value, Commands& out);
  Expected<void> parse_with_ruleset(const Form& form, Commands& out);
  Expected<void> parse_with_dynamic_cost(const Form& form, Commands& out);

  void add(const Form& form, decltype(Command::node) node, Commands& out) {
    out.push_back({span(*form.whole), std::move(node)});
  }

  Source& source_;
  Arena& arena_;
  size_t wildcards_ = 0;
  size_t one_time_rules_ = 0;
  size_t expanded_ = 0;  // nodes made by (for ...)
  size_t arena_at_start_;
  std::vector<std::string_view> shadowed_;  // commands of ours whose name the program uses for a table
  size_t nesting_ = 0;                      // of commands and schedules
  std::vector<OpenCall> calls_;             // being read, with their arguments and fields so far
  std::vector<const Expr*> args_;
  std::vector<FieldArg> fields_;
};

}  // namespace lumen::egraph
