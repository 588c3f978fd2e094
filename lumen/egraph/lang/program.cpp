#include "lumen/egraph/lang/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/printer.h"
#include "lumen/egraph/lang/sugar.h"

namespace lumen::egraph {

namespace {

void forget_field_names(Command& command) {
  const auto forget = [](DatatypeBody& body) {
    for (Variant& variant : body.variants) variant.params.names.clear();
  };
  if (auto* datatype = std::get_if<DatatypeCommand>(&command.node)) forget(datatype->body);
  if (auto* datatypes = std::get_if<DatatypesCommand>(&command.node)) {
    for (DatatypeBody& body : datatypes->bodies) forget(body);
  }
  if (auto* function = std::get_if<FunctionCommand>(&command.node)) function->params.names.clear();
  if (auto* constructor = std::get_if<ConstructorCommand>(&command.node)) constructor->params.names.clear();
  if (auto* relation = std::get_if<RelationCommand>(&command.node)) relation->params.names.clear();
}

bool explains(const Command& command) {
  if (const auto* fail = std::get_if<FailCommand>(&command.node)) return explains(*fail->command);
  return std::holds_alternative<ExplainCommand>(command.node);
}

}  // namespace

Program::Program(ProgramOptions options, Sink sink) : options_(std::move(options)), sink_(std::move(sink)) {
  state_.rulesets.emplace_back();
  state_.scope.add_ruleset("", 0);
  state_.scope.update(state_.graph);
  if (options_.trace) state_.graph.enable_tracing();
}

Expected<void> Program::run(const std::shared_ptr<Source>& source) {
  const std::vector<Command> commands = LUMEN_TRY(parse_program(source));
  const bool traced = state_.graph.state().trace != nullptr;
  if (!traced && std::any_of(commands.begin(), commands.end(), explains)) state_.graph.enable_tracing();
  for (const Command& command : commands) LUMEN_TRY(run_command(command));
  return {};
}

Expected<void> Program::run_text(std::string_view text, std::string file) {
  return run(make_source(std::move(file), std::string(text)));
}

Expected<TypedValue> Program::eval(std::string_view text) {
  // Any command with a single expression.
  const std::shared_ptr<Source> source = make_source("eval", fmt::format("(extract {})", text));
  const std::vector<Command> commands = LUMEN_TRY(parse_program(source));
  if (commands.size() != 1) return error(fmt::format("expected one expression, not `{}`", text));
  Arena trees;
  const Command plain = LUMEN_TRY(without_fields(commands[0], trees));
  const auto* extract = std::get_if<ExtractCommand>(&plain.node);
  if (extract == nullptr || extract->variants != nullptr) {
    return error(fmt::format("expected one expression, not `{}`", text));
  }
  state_.scope.update(state_.graph);
  return evaluate(*extract->expr);
}

Expected<std::string> Program::plain_text(const std::shared_ptr<Source>& source) {
  std::string text;
  for (const Command& command : LUMEN_TRY(parse_program(source))) {
    state_.scope.update(state_.graph);
    Arena trees;
    Command plain = LUMEN_TRY(without_fields(command, trees));
    const bool declares =
        std::holds_alternative<DatatypeCommand>(plain.node) || std::holds_alternative<DatatypesCommand>(plain.node) ||
        std::holds_alternative<SortCommand>(plain.node) || std::holds_alternative<FunctionCommand>(plain.node) ||
        std::holds_alternative<ConstructorCommand>(plain.node) || std::holds_alternative<RelationCommand>(plain.node);
    if (declares) LUMEN_TRY(run_command(command));
    forget_field_names(plain);
    text += print_command(plain) + "\n";
  }
  return text;
}

std::optional<SortId> Program::find_sort(std::string_view name) {
  state_.scope.update(state_.graph);
  return state_.scope.sort(name);
}

std::optional<TableId> Program::find_table(std::string_view name) {
  state_.scope.update(state_.graph);
  return state_.scope.table(name);
}

std::optional<TypedValue> Program::find_global(std::string_view name) {
  const Global* global = state_.scope.global(name);
  if (global == nullptr) return std::nullopt;
  return TypedValue{global->sort, state_.graph.global(global->index)};
}

Expected<std::vector<RuleId>> Program::rules_of(std::string_view ruleset) {
  std::vector<RuleId> rules;
  LUMEN_TRY(collect_rules(ruleset, rules));
  return rules;
}

std::optional<RuleId> Program::find_rule(std::string_view name) {
  for (const Ruleset& ruleset : state_.rulesets) {
    if (const auto at = ruleset.by_name.find(name); at != ruleset.by_name.end()) return at->second;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, TypedValue>> Program::globals() const {
  std::vector<std::pair<std::string, TypedValue>> found;
  for (std::string& name : state_.scope.global_names()) {
    const Global& global = *state_.scope.global(name);
    found.emplace_back(std::move(name), TypedValue{global.sort, state_.graph.global(global.index)});
  }
  return found;
}

std::vector<RulesetReport> Program::ruleset_reports() const {
  std::vector<RulesetReport> reports;
  for (const Ruleset& ruleset : state_.rulesets) {
    if (ruleset.report.iterations > 0) reports.push_back(ruleset.report);
  }
  return reports;
}

void Program::print(std::string_view text) const {
  if (sink_) sink_(text);
}

std::string Program::text_of_current() const {
  std::string text;
  append_command(*current_, text);
  return text;
}

Expected<Command> Program::without_fields(const Command& command, Arena& arena) {
  std::map<std::string, Signature, std::less<>> signatures;
  const SignatureOf signature_of = [&](std::string_view name) -> const Signature* {
    const std::optional<TableId> table = state_.scope.table(name);
    if (!table) return nullptr;
    const TableDecl& decl = state_.graph.table(*table);
    Signature& signature = signatures.try_emplace(std::string(name)).first->second;
    signature = {decl.params.size() - decl.field_names.size(), decl.field_names};
    return &signature;
  };
  return desugar_fields(command, signature_of, arena);
}

Expected<void> Program::run_command(const Command& command) {
  state_.scope.update(state_.graph);
  current_ = &command;
  begun_ = false;
  if (const auto* action = std::get_if<ActionCommand>(&command.node)) {
    if (LUMEN_TRY(run_ground(action->action))) return {};
  }
  if (const auto* fail = std::get_if<FailCommand>(&command.node)) return run(*fail, command.span);
  Arena trees;
  const Command plain = LUMEN_TRY(without_fields(command, trees));
  return std::visit([&](const auto& node) { return run(node, plain.span); }, plain.node);
}

Expected<void> Program::run(const FailCommand& c, const Span& span) {
  Expected<void> result = run_command(*c.command);
  if (result.ok()) return error_at(span, "the command should have failed");
  if (!begun_) return std::move(result).take_diag();
  return {};
}

Expected<void> Program::run(const PushCommand& c, const Span&) {
  begin();
  for (uint64_t i = 0; i < c.times; ++i) saved_.push_back(state_);
  return {};
}

Expected<void> Program::run(const PopCommand& c, const Span& span) {
  begin();
  if (c.times > saved_.size()) {
    return error_at(span, fmt::format("cannot pop {} time{}: {} pushed", c.times, c.times == 1 ? "" : "s",
                                      saved_.empty() ? "nothing was" : fmt::format("only {} were", saved_.size())));
  }
  if (c.times == 0) return {};
  state_ = std::move(saved_[saved_.size() - c.times]);
  saved_.resize(saved_.size() - c.times);
  return {};
}

}  // namespace lumen::egraph
