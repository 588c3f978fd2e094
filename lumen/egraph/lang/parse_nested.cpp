#include <fmt/format.h>

#include "lumen/base/hash.h"
#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

namespace {

constexpr size_t kMaxExpandedNodes = 1'000'000;
constexpr size_t kMaxExpandedBytes = size_t{64} << 20;
constexpr size_t kMaxNameLength = size_t{64} << 10;

std::string_view* ruleset_of(Command& command) {
  if (auto* rule = std::get_if<RuleCommand>(&command.node)) return &rule->ruleset;
  if (auto* rewrite = std::get_if<RewriteCommand>(&command.node)) return &rewrite->ruleset;
  return nullptr;
}

}  // namespace

Expected<void> Parser::parse_fail(const Form& form, Commands& out) {
  Commands inner;
  LUMEN_TRY(command(*form.args[0], inner));
  if (inner.size() != 1) {
    return error_at(span(*form.args[0]), fmt::format("`fail` takes one command, this stands for {}", inner.size()));
  }
  add(form, FailCommand{std::make_shared<const Command>(std::move(inner[0]))}, out);
  return {};
}

// (for ?R in (A B) command...) is ours, (for (fact...) (action...)) a rule that runs once.
Expected<void> Parser::parse_for(const Form& form, Commands& out) {
  return form.args[0]->is_list() ? for_each_match(form, out) : for_each_value(form, out);
}

Expected<void> Parser::for_each_value(const Form& form, Commands& out) {
  const std::string_view parameter = LUMEN_TRY(name(*form.args[0], "a parameter such as ?R"));
  if (!parameter.starts_with('?') || parameter.size() == 1) return expected(*form.args[0], "a parameter such as ?R");
  if (form.args.size() < 3) return error_at(span(*form.whole), "usage: (for <?name> in (<value>*) <command>*)");
  if (!form.args[1]->is_atom("in")) return expected(*form.args[1], "`in`");
  for (const Sexp& value : LUMEN_TRY(list(*form.args[2], "the values"))) {
    if (value.kind == Sexp::Kind::list || value.kind == Sexp::Kind::label || value.kind == Sexp::Kind::string) {
      return expected(value, "a name or a number");
    }
    for (const Sexp* body : Args(form.args).subspan(3)) LUMEN_TRY(expand(*body, parameter, value, out));
  }
  return {};
}

// The command `body` with the value for the parameter.
Expected<void> Parser::expand(const Sexp& body, std::string_view parameter, const Sexp& value, Commands& out) {
  expanded_ += body.size;
  if (expanded_ > kMaxExpandedNodes) {
    return error_at(span(body), fmt::format("the `for` around this expands to more than {} words", kMaxExpandedNodes));
  }
  std::vector<Sexp> copy(&body, body.next());
  for (Sexp& node : copy) {
    const bool has_text = node.is_atom() || node.kind == Sexp::Kind::label || node.kind == Sexp::Kind::string;
    if (!has_text || node.text.find(parameter) == std::string_view::npos) continue;
    const std::string replaced = replace_parameter(node.text, parameter, value.text);
    if (replaced.size() > kMaxNameLength || arena_.bytes() - arena_at_start_ > kMaxExpandedBytes) {
      return error_at(span(node), "the `for` around this makes its names too long");
    }
    const std::string_view text = arena_.copy(std::string_view(replaced));
    if (node.is_atom()) {
      classify(text, node);
    } else {
      node.text = text;
    }
  }
  return command(copy[0], out);
}

Expected<void> Parser::for_each_match(const Form& form, Commands& out) {
  if (form.args.size() != 2) return error_at(span(*form.whole), "usage: (for (<fact>*) (<action>*))");
  RuleCommand rule;
  rule.body = LUMEN_TRY(fact_list(*form.args[0], "the facts"));
  rule.head = LUMEN_TRY(actions(*form.args[1]));
  const std::string ruleset = fmt::format("@for-{:x}-{}", hash_bytes(source_.file), ++one_time_rules_);
  rule.ruleset = arena_.copy(std::string_view(ruleset));
  RunScheduleCommand run;
  run.body.push_back({span(*form.whole), RunNode{rule.ruleset, {}, {}}});
  add(form, RulesetCommand{rule.ruleset}, out);
  add(form, std::move(rule), out);
  add(form, std::move(run), out);
  return {};
}

Expected<void> Parser::parse_with_ruleset(const Form& form, Commands& out) {
  const std::string_view ruleset = LUMEN_TRY(name(*form.args[0], "the name of a ruleset"));
  for (const Sexp* arg : Args(form.args).subspan(1)) {
    const size_t first = out.size();
    LUMEN_TRY(command(*arg, out));
    for (size_t at = first; at < out.size(); ++at) {
      std::string_view* own = ruleset_of(out[at]);
      if (own == nullptr) return expected(*arg, "a rule, a rewrite or a birewrite in `with-ruleset`");
      if (!own->empty()) {
        return error_at(out[at].span,
                        fmt::format("a rule in `with-ruleset` has no `:ruleset` of its own, this one `{}`", *own));
      }
      *own = ruleset;
    }
  }
  return {};
}

// The declarations, and for each constructor a table of the costs that set-cost gives.
Expected<void> Parser::parse_with_dynamic_cost(const Form& form, Commands& out) {
  const size_t first = out.size();
  for (const Sexp* arg : form.args) LUMEN_TRY(command(*arg, out));
  Commands tables;
  const auto add_table = [&](std::string_view constructor, const Params& params) {
    FunctionCommand table;
    table.name = arena_.copy(std::string_view(fmt::format("cost_table_{}", constructor)));
    table.params = params;
    table.result = "i64";
    add(form, std::move(table), tables);
  };
  for (size_t at = first; at < out.size(); ++at) {
    if (const auto* constructor = std::get_if<ConstructorCommand>(&out[at].node)) {
      if (!constructor->unextractable) add_table(constructor->name, constructor->params);
    } else if (const auto* datatype = std::get_if<DatatypeCommand>(&out[at].node)) {
      for (const Variant& variant : datatype->body.variants) add_table(variant.name, variant.params);
    } else if (const auto* datatypes = std::get_if<DatatypesCommand>(&out[at].node)) {
      for (const DatatypeBody& body : datatypes->bodies) {
        for (const Variant& variant : body.variants) add_table(variant.name, variant.params);
      }
    } else {
      return error_at(out[at].span, "`with-dynamic-cost` holds datatypes and constructors only");
    }
  }
  std::move(tables.begin(), tables.end(), std::back_inserter(out));
  return {};
}

}  // namespace lumen::egraph
