#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>

#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

namespace {

constexpr size_t kAny = SIZE_MAX;

}  // namespace

const Parser::CommandDef* Parser::find_command(std::string_view name) {
  using P = Parser;
  static constexpr std::array kCommands = {
      CommandDef{"sort", 1, 2, "(sort <name> (<container> <sort>*)?)", &P::parse_sort},
      CommandDef{"datatype", 1, kAny, "(datatype <name> <variant>*)", &P::parse_datatype},
      CommandDef{"datatype*", 0, kAny, "(datatype* <datatype>*)", &P::parse_datatypes},
      CommandDef{"function", 3, kAny, "(function <name> (<sort>*) <sort> (:merge <expr> | :no-merge) <option>*)",
                 &P::parse_function},
      CommandDef{"constructor", 3, kAny, "(constructor <name> (<sort>*) <sort> <option>*)", &P::parse_constructor},
      CommandDef{"relation", 2, 2, "(relation <name> (<sort>*))", &P::parse_relation},
      CommandDef{"ruleset", 1, 1, "(ruleset <name>)", &P::parse_ruleset},
      CommandDef{"unstable-combined-ruleset", 1, kAny, "(unstable-combined-ruleset <name> <ruleset>*)",
                 &P::parse_combined_ruleset},
      CommandDef{"rule", 2, kAny, "(rule (<fact>*) (<action>*) <option>*)", &P::parse_rule},
      CommandDef{"rewrite", 2, kAny, "(rewrite <expr> <expr> <option>*)", &P::parse_rewrite},
      CommandDef{"birewrite", 2, kAny, "(birewrite <expr> <expr> <option>*)", &P::parse_rewrite},
      CommandDef{"run", 1, kAny, "(run <ruleset>? <iterations> (:until <fact>+)?)", &P::parse_run},
      CommandDef{"run-schedule", 0, kAny, "(run-schedule <schedule>*)", &P::parse_run_schedule},
      CommandDef{"extract", 1, 4, "(extract <expr> <variants>? (:extractor greedy-dag)?)", &P::parse_extract},
      CommandDef{"check", 0, kAny, "(check <fact>*)", &P::parse_check},
      CommandDef{"prove", 0, kAny, "(prove <fact>*)", &P::parse_check},
      CommandDef{"prove-exists", 1, 1, "(prove-exists <constructor>)", &P::parse_prove_exists},
      CommandDef{"push", 0, 1, "(push <times>?)", &P::parse_push},
      CommandDef{"pop", 0, 1, "(pop <times>?)", &P::parse_pop},
      CommandDef{"print-stats", 0, 2, "(print-stats (:file <file>)?)", &P::parse_print_stats},
      CommandDef{"print-function", 1, kAny, "(print-function <table> <rows>? (:file <file>)? (:mode csv)?)",
                 &P::parse_print_function},
      CommandDef{"print-size", 0, 1, "(print-size <table>?)", &P::parse_print_size},
      CommandDef{"input", 2, 2, "(input <table> <file>)", &P::parse_input},
      CommandDef{"output", 1, kAny, "(output <file> <expr>+)", &P::parse_output},
      CommandDef{"include", 1, 1, "(include <file>)", &P::parse_include},
      CommandDef{"fail", 1, 1, "(fail <command>)", &P::parse_fail},
      CommandDef{"for", 2, kAny, "(for <?name> in (<value>*) <command>*)", &P::parse_for, true},
      CommandDef{"with-ruleset", 1, kAny, "(with-ruleset <ruleset> <rule>*)", &P::parse_with_ruleset, true},
      CommandDef{"with-dynamic-cost", 0, kAny, "(with-dynamic-cost <datatype>*)", &P::parse_with_dynamic_cost, true},
      CommandDef{"simplify", 2, 2, "(simplify <schedule> <expr>)", &P::parse_simplify, true},
      CommandDef{"query-extract", 1, 3, "(query-extract (:variants <n>)? <expr>)", &P::parse_query_extract, true},
      CommandDef{"explain", 2, 2, "(explain <expr> <expr>)", &P::parse_explain, true},
      CommandDef{"why-not", 2, 2, "(why-not <rule name> <expr>)", &P::parse_why_not, true},
  };
  static const auto kByName = [] {
    boost::unordered_flat_map<std::string_view, const CommandDef*> by_name;
    for (const CommandDef& command : kCommands) by_name.emplace(command.name, &command);
    return by_name;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

Parser::Parser(Source& source) : source_(source), arena_(source.arena), arena_at_start_(source.arena.bytes()) {}

Expected<void> Parser::command(const Sexp& sexp, std::vector<Command>& out) {
  if (!sexp.is_list() || sexp.size == 1 || !(&sexp)[1].is_atom()) {
    return expected(sexp, "a command such as (sort S) or (check (= a b))");
  }
  const CommandDef* known = find_command((&sexp)[1].text);
  if (known != nullptr && std::find(shadowed_.begin(), shadowed_.end(), known->name) == shadowed_.end()) {
    const Form form = LUMEN_TRY(this->form(sexp, "a command"));
    if (form.args.size() < known->least || form.args.size() > known->most) {
      return error_at(span(sexp), fmt::format("usage: {}, given {} argument{}", known->usage, form.args.size(),
                                              form.args.size() == 1 ? "" : "s"));
    }
    ++nesting_;
    LUMEN_TRY(check_nesting(sexp));
    LUMEN_TRY((this->*known->parse)(form, out));
    --nesting_;
    return {};
  }
  std::vector<ActionNode> actions;
  LUMEN_TRY(action(sexp, actions));
  for (ActionNode& node : actions) out.push_back({node.span, ActionCommand{node}});
  return {};
}

Expected<std::vector<Command>> parse_program(const std::shared_ptr<Source>& source) {
  SexpReader reader(*source);
  Parser parser(*source);
  std::vector<Command> commands;
  while (const Sexp* sexp = LUMEN_TRY(reader.next())) LUMEN_TRY(parser.command(*sexp, commands));
  return commands;
}

}  // namespace lumen::egraph
