#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

// Sorts, of which the last ones may have names: Tensor :axis i64.
Expected<Params> Parser::params(Args args) {
  Params result;
  for (size_t at = 0; at < args.size(); ++at) {
    if (args[at]->is_key()) {
      const std::string_view field = args[at]->text.substr(1);
      if (std::find(result.names.begin(), result.names.end(), field) != result.names.end()) {
        return error_at(span(*args[at]), fmt::format("the field `{}` is declared twice", field));
      }
      result.names.push_back(field);
      if (++at == args.size()) {
        return error_at(span(*args[at - 1]), fmt::format("the field `{}` needs a sort", field));
      }
    } else if (!result.names.empty()) {
      return expected(*args[at], "the name of a field such as `:axis`; parameters without a name come first");
    }
    result.sorts.push_back(LUMEN_TRY(name(*args[at], "the name of a sort")));
    result.spans.push_back(span(*args[at]));
  }
  return result;
}

Expected<Params> Parser::param_list(const Sexp& sexp) {
  std::vector<const Sexp*> items;
  for (const Sexp& item : LUMEN_TRY(list(sexp, "the sorts of the arguments"))) items.push_back(&item);
  return params(items);
}

Expected<Presort> Parser::presort(const Sexp& sexp) {
  const Form container = LUMEN_TRY(form(sexp, "a container sort such as (Vec i64)"));
  return Presort{container.head, LUMEN_TRY(exprs(container.args))};
}

void Parser::declare(std::string_view table) {
  const CommandDef* command = find_command(table);
  if (command != nullptr && command->yields) shadowed_.push_back(command->name);
}

Expected<void> Parser::parse_sort(const Form& form, Commands& out) {
  SortCommand sort;
  sort.name = LUMEN_TRY(name(*form.args[0], "the name of a sort"));
  if (form.args.size() == 2) sort.presort = LUMEN_TRY(presort(*form.args[1]));
  add(form, std::move(sort), out);
  return {};
}

// (Name sort* :cost n :unextractable)
Expected<Variant> Parser::variant(const Sexp& sexp) {
  const Form form = LUMEN_TRY(this->form(sexp, "a variant such as (Add Math Math)"));
  Variant result;
  result.span = span(sexp);
  result.name = form.head;
  declare(form.head);
  std::vector<const Sexp*> sorts;
  for (size_t at = 0; at < form.args.size(); ++at) {
    if (form.args[at]->is_atom(":unextractable")) {
      result.unextractable = true;
    } else if (form.args[at]->is_atom(":cost")) {
      if (++at == form.args.size()) return error_at(span(*form.args[at - 1]), "`:cost` needs a value");
      result.cost = LUMEN_TRY(unsigned_integer(*form.args[at], "the cost"));
    } else {
      sorts.push_back(form.args[at]);
    }
  }
  result.params = LUMEN_TRY(params(sorts));
  return result;
}

Expected<std::vector<Variant>> Parser::variants(Args args) {
  std::vector<Variant> result;
  for (const Sexp* arg : args) result.push_back(LUMEN_TRY(variant(*arg)));
  return result;
}

Expected<void> Parser::parse_datatype(const Form& form, Commands& out) {
  DatatypeBody body;
  body.span = span(*form.whole);
  body.name = LUMEN_TRY(name(*form.args[0], "the name of a sort"));
  body.variants = LUMEN_TRY(variants(Args(form.args).subspan(1)));
  add(form, DatatypeCommand{std::move(body)}, out);
  return {};
}

// (Name variant*) or (sort Name (Container sort*))
Expected<DatatypeBody> Parser::datatype_body(const Sexp& sexp) {
  const Form form = LUMEN_TRY(this->form(sexp, "a datatype such as (Math (Num i64)) or (sort Maths (Vec Math))"));
  DatatypeBody body;
  body.span = span(sexp);
  if (form.head != "sort") {
    body.name = form.head;
    body.variants = LUMEN_TRY(variants(form.args));
    return body;
  }
  if (form.args.size() != 2) {
    return error_at(body.span,
                    fmt::format("usage: (sort <name> (<container> <sort>*)), given {} arguments", form.args.size()));
  }
  body.name = LUMEN_TRY(name(*form.args[0], "the name of a sort"));
  body.presort = LUMEN_TRY(presort(*form.args[1]));
  return body;
}

Expected<void> Parser::parse_datatypes(const Form& form, Commands& out) {
  DatatypesCommand command;
  for (const Sexp* arg : form.args) command.bodies.push_back(LUMEN_TRY(datatype_body(*arg)));
  add(form, std::move(command), out);
  return {};
}

Expected<void> Parser::parse_function(const Form& form, Commands& out) {
  static constexpr std::array<std::string_view, 5> kKnown = {":merge", ":no-merge", ":cost", ":unextractable",
                                                             ":internal-hidden"};
  FunctionCommand function;
  function.name = LUMEN_TRY(name(*form.args[0], "the name of a function"));
  declare(function.name);
  function.params = LUMEN_TRY(param_list(*form.args[1]));
  function.result = LUMEN_TRY(name(*form.args[2], "the sort of the result"));
  bool no_merge = false;
  for (const Option& option : LUMEN_TRY(options(Args(form.args).subspan(3)))) {
    const std::string_view key = option.key->text;
    if ((key == ":merge" || key == ":no-merge") && (no_merge || function.merge != nullptr)) {
      return error_at(span(*option.key),
                      fmt::format("one of `:merge` and `:no-merge` is enough for `{}`", function.name));
    }
    if (key == ":merge") {
      function.merge = LUMEN_TRY(expr(*LUMEN_TRY(single_value(option))));
    } else if (key == ":cost") {
      function.cost = LUMEN_TRY(unsigned_integer(*LUMEN_TRY(single_value(option)), "the cost"));
    } else if (bool* flag = key == ":no-merge"          ? &no_merge
                            : key == ":unextractable"   ? &function.unextractable
                            : key == ":internal-hidden" ? &function.hidden
                                                        : nullptr) {
      LUMEN_TRY(no_value(option));
      *flag = true;
    } else {
      return unknown_option(*option.key, form.head, kKnown);
    }
  }
  if (!no_merge && function.merge == nullptr) {
    return error_at(span(*form.whole),
                    fmt::format("the function `{}` needs `:merge <expr>` or `:no-merge`", function.name));
  }
  add(form, std::move(function), out);
  return {};
}

Expected<void> Parser::parse_constructor(const Form& form, Commands& out) {
  static constexpr std::array<std::string_view, 3> kKnown = {":cost", ":unextractable", ":internal-hidden"};
  ConstructorCommand constructor;
  constructor.name = LUMEN_TRY(name(*form.args[0], "the name of a constructor"));
  declare(constructor.name);
  constructor.params = LUMEN_TRY(param_list(*form.args[1]));
  constructor.result = LUMEN_TRY(name(*form.args[2], "the sort of the result"));
  for (const Option& option : LUMEN_TRY(options(Args(form.args).subspan(3)))) {
    const std::string_view key = option.key->text;
    if (key == ":cost") {
      constructor.cost = LUMEN_TRY(unsigned_integer(*LUMEN_TRY(single_value(option)), "the cost"));
      continue;
    }
    if (key != ":unextractable" && key != ":internal-hidden") return unknown_option(*option.key, form.head, kKnown);
    LUMEN_TRY(no_value(option));
    (key == ":unextractable" ? constructor.unextractable : constructor.hidden) = true;
  }
  add(form, std::move(constructor), out);
  return {};
}

Expected<void> Parser::parse_relation(const Form& form, Commands& out) {
  const std::string_view relation = LUMEN_TRY(name(*form.args[0], "the name of a relation"));
  declare(relation);
  add(form, RelationCommand{relation, LUMEN_TRY(param_list(*form.args[1]))}, out);
  return {};
}

Expected<void> Parser::parse_ruleset(const Form& form, Commands& out) {
  add(form, RulesetCommand{LUMEN_TRY(name(*form.args[0], "the name of a ruleset"))}, out);
  return {};
}

Expected<void> Parser::parse_combined_ruleset(const Form& form, Commands& out) {
  CombinedRulesetCommand command;
  command.name = LUMEN_TRY(name(*form.args[0], "the name of a ruleset"));
  for (const Sexp* arg : Args(form.args).subspan(1)) {
    command.parts.push_back(LUMEN_TRY(name(*arg, "the name of a ruleset")));
    command.spans.push_back(span(*arg));
  }
  add(form, std::move(command), out);
  return {};
}

}  // namespace lumen::egraph
