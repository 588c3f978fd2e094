// Program: runs texts of the rule language on an e-graph of its own.
//
//   Program program({}, [](std::string_view text) { std::cout << text; });
//   LUMEN_TRY(program.run_text("(datatype E (Num i64) (Add E E)) (rewrite (Add a b) (Add b a)) ...", "rules.egg"));
//
// What the host declares on egraph() (sorts, tables, primitives) is known to the texts that are run after it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/extract/flatten.h"
#include "lumen/egraph/lang/ast.h"
#include "lumen/egraph/lang/lower.h"
#include "lumen/egraph/lang/scope.h"
#include "lumen/egraph/report/explain.h"

namespace lumen::egraph {

struct ProgramOptions {
  RunOptions run;
  std::optional<uint64_t> shuffle_rules;  // a seed: rules of a ruleset run in another order
  bool echo_costs = false;                // `; cost N` after what extract prints
  bool trace = false;                     // for (explain a b); also when a program that is run has such a command
  std::function<void(const IterationReport&)> on_iteration;  // called after each
  std::string fact_directory;                                // where input and output find files with a relative name
};

// Time spent in one set of rules, over all its iterations.
struct RulesetReport {
  std::string name;  // "" for rules without a ruleset
  uint64_t iterations = 0;
  double search_seconds = 0;
  double apply_seconds = 0;
  double rebuild_seconds = 0;
};

class Program {
 public:
  // Gets what commands print, with its newlines.
  using Sink = std::function<void(std::string_view)>;
  explicit Program(ProgramOptions options = {}, Sink sink = {});

  // Runs the commands in order up to the first that fails; what ran before it stays, and the program stays usable.
  Expected<void> run(const std::shared_ptr<Source>& source);
  Expected<void> run_text(std::string_view text, std::string file);
  // The commands as plain egglog: without `for`, named fields, labels and inherited fields. Declarations are run, as
  // their fields must be known; nothing else is.
  Expected<std::string> plain_text(const std::shared_ptr<Source>& source);
  // Evaluates one expression without variables, making the terms in it.
  Expected<TypedValue> eval(std::string_view text);

  EGraph& egraph() { return state_.graph; }
  const EGraph& egraph() const { return state_.graph; }
  std::optional<SortId> find_sort(std::string_view name);
  std::optional<TableId> find_table(std::string_view name);
  std::optional<TypedValue> find_global(std::string_view name);
  // Rules of a ruleset ("": those without one), those of the rulesets combined in it included.
  Expected<std::vector<RuleId>> rules_of(std::string_view ruleset);
  // By :name or, for a rule without one, its text; the first of that name in any ruleset.
  std::optional<RuleId> find_rule(std::string_view name);

  // Runs a ruleset until nothing changes, `times` were run, or a limit is hit.
  Expected<void> run_rules(std::string_view ruleset, uint64_t times);

  // The globals in the order of their definition, and what extract commands were asked for: names and roots of a
  // report.
  std::vector<std::pair<std::string, TypedValue>> globals() const;
  const std::vector<TypedValue>& extracted() const { return extracted_; }

  // The unions at the top level so far, when the e-graph is traced; for explain().
  const std::vector<GivenUnion>& given_unions() const { return state_.given; }

  const std::vector<IterationReport>& iterations() const { return iterations_; }
  std::vector<RulesetReport> ruleset_reports() const;
  // The limits that stopped runs, with the numbers; empty when none did.
  const std::vector<std::string>& limits_hit() const { return limits_hit_; }

 private:
  struct Ruleset {
    RulesetReport report;
    bool combined = false;
    std::vector<std::string> parts;  // of a combined one
    std::vector<RuleId> rules;
    NameMap<RuleId> by_name;
  };
  // What push saves and pop brings back.
  struct State {
    EGraph graph;
    Scope scope;
    std::vector<Ruleset> rulesets;
    std::vector<TableId> hidden;    // tables that print-size leaves out
    std::vector<GivenUnion> given;  // when traced
  };
  // Those in sight, innermost last; a body in a schedule forgets its own when it ends.
  using Schedulers = std::vector<std::pair<std::string, BackOff>>;

  // ---- program.cpp
  Expected<void> run_command(const Command& command);
  Expected<void> run(const FailCommand& c, const Span& span);
  Expected<void> run(const PushCommand& c, const Span& span);
  Expected<void> run(const PopCommand& c, const Span& span);
  Expected<Command> without_fields(const Command& command, Arena& arena);  // the arena holds the new trees
  void print(std::string_view text) const;
  std::string text_of_current() const;
  // Everything up to here is checked before the command does anything: `fail` does not forgive what comes before.
  void begin() { begun_ = true; }

  // ---- program_declare.cpp
  Expected<void> check_free(std::string_view name, const Span& span) const;
  Expected<SortId> sort_named(std::string_view name, const Span& span) const;
  Expected<std::vector<SortId>> sorts_named(const Params& params) const;
  Expected<void> declare_sort(std::string_view name, const std::optional<Presort>& presort, const Span& span);
  Expected<void> declare_table(TableDecl decl, const Params& params, std::string_view result, const Span& span);
  Expected<void> declare_variants(const DatatypeBody& body);
  Expected<void> run(const SortCommand& c, const Span& span);
  Expected<void> run(const DatatypeCommand& c, const Span& span);
  Expected<void> run(const DatatypesCommand& c, const Span& span);
  Expected<void> run(const FunctionCommand& c, const Span& span);
  Expected<void> run(const ConstructorCommand& c, const Span& span);
  Expected<void> run(const RelationCommand& c, const Span& span);
  Expected<void> run(const RulesetCommand& c, const Span& span);
  Expected<void> run(const CombinedRulesetCommand& c, const Span& span);

  // ---- program_rule.cpp
  Expected<RulesetId> ruleset_for_rule(std::string_view name, const Span& span);
  Expected<void> check_subsumed_tables(const TypedRule& rule) const;
  Expected<void> add_rule(RulesetId ruleset, Rule rule, const Span& span);
  Expected<void> add_rewrite(const RewriteCommand& c, const Expr& left, const Expr& right, std::string name,
                             const Span& span);
  Expected<void> run(const RuleCommand& c, const Span& span);
  Expected<void> run(const RewriteCommand& c, const Span& span);

  // ---- program_action.cpp
  Expected<TypedValue> evaluate(const Expr& expr);
  Expected<bool> run_ground(const ActionNode& action);
  Expected<void> define_global(std::string_view name, SortId sort, Value value);
  Expected<void> run(const ActionCommand& c, const Span& span);

  // ---- program_schedule.cpp
  Expected<Query> query_of(std::span<const Fact> facts, const Span& span);
  Expected<void> check_schedule(const Schedule& schedule);
  void start_run();
  Expected<bool> run_schedule(const Schedule& schedule, Schedulers& schedulers);
  Expected<bool> run_all(std::span<const Schedule> schedules, Schedulers& schedulers);
  Expected<bool> run_once(const RunNode& node, const Span& span, Schedulers& schedulers);
  Expected<bool> iterate(std::string_view ruleset, BackOff* back_off);
  Expected<void> collect_rules(std::string_view ruleset, std::vector<RuleId>& rules) const;
  Expected<void> run(const RunScheduleCommand& c, const Span& span);
  Expected<void> run(const CheckCommand& c, const Span& span);
  Expected<void> run(const SimplifyCommand& c, const Span& span);

  // ---- program_extract.cpp
  FlattenOptions costs_for(std::vector<TypedValue> roots);
  Expected<std::string> extract_relation(const Expr& call);
  Expected<void> multi_extract(const Expr& call);
  Expected<void> run(const ExtractCommand& c, const Span& span);

  // ---- program_print.cpp
  Expected<void> write_or_print(const std::optional<std::string_view>& file, std::string_view text, const Span& span);
  struct PrintedRow {
    std::string call;
    std::vector<std::string> args;
    std::string value;  // empty: there is none to show
  };
  Expected<std::vector<PrintedRow>> rows_of_table(TableId table, uint64_t limit);
  Expected<std::vector<PrintedRow>> row_of_global(std::string_view name, uint64_t limit);
  Expected<void> run(const PrintFunctionCommand& c, const Span& span);
  Expected<void> run(const PrintSizeCommand& c, const Span& span);
  Expected<void> run(const PrintStatsCommand& c, const Span& span);

  // ---- program_explain.cpp
  Expected<WrittenTerm> written_term(const Expr& expr);
  Expected<void> run(const ExplainCommand& c, const Span& span);
  Expected<void> run(const WhyNotCommand& c, const Span& span);

  // ---- program_files.cpp
  std::string path_of(std::string_view file) const;
  Expected<void> read_row(TableId table, std::string_view line, const Span& span);
  Expected<void> run(const InputCommand& c, const Span& span);
  Expected<void> run(const OutputCommand& c, const Span& span);
  Expected<void> run(const IncludeCommand& c, const Span& span);

  ProgramOptions options_;
  Sink sink_;
  State state_;
  std::vector<State> saved_;
  const Command* current_ = nullptr;  // as written
  bool begun_ = false;
  std::map<const RunNode*, Query> until_;  // of the schedule that runs
  std::vector<std::string> including_;     // files, outermost first
  std::vector<IterationReport> iterations_;
  std::vector<TypedValue> extracted_;
  std::vector<std::string> limits_hit_;
  bool stopped_ = false;                             // the schedule that runs hit a limit
  std::chrono::steady_clock::time_point run_start_;  // of the command that runs rules
};

}  // namespace lumen::egraph
