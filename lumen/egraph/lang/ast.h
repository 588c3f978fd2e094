// The syntax tree of the rule language. Trees are immutable, live in the Arena of their Source and share it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lumen/base/arena.h"
#include "lumen/base/expected.h"

namespace lumen::egraph {

// A text the user gave, and the arena of the trees made from it.
struct Source {
  std::string file;  // as shown in messages; "-" for stdin
  std::string text;
  Arena arena;
};
std::shared_ptr<Source> make_source(std::string file, std::string text);

// Where a tree stands in the text: bytes [begin, end).
struct Span {
  const Source* source = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;
};

// A Diag at `span`: file:line:col, the message, and as notes the source line and a line with ^~~~ under the place.
Diag error_at(const Span& span, std::string message);

struct Literal {
  enum class Kind : uint8_t { integer, real, string, boolean, unit };
  Kind kind = Kind::unit;
  union {  // which one is said by the kind
    int64_t integer = 0;
    double real;
    bool boolean;
  };
  std::string_view string;  // unescaped
};

struct Expr;

// `:axis e` in a call, or `..?m` (name empty, value the variable): "the other fields as in the node bound to ?m".
struct FieldArg {
  Span span;
  std::string_view name;  // without the colon
  const Expr* value = nullptr;
};

struct Expr {
  enum class Kind : uint8_t { literal, variable, call };
  Kind kind = Kind::literal;
  Span span;
  std::string_view name;  // of the variable or the callee; a wildcard `_` gets a name of its own in the parser
  Literal literal;
  std::span<const Expr* const> args;
  std::span<const FieldArg> fields;  // only before sugar.h has run
  std::string_view label;            // ?m in `?m:(F ...)`, only before sugar.h has run
};

// (= a b), or an expression that must hold.
struct Fact {
  Span span;
  bool equal = false;
  const Expr* left = nullptr;   // or the expression
  const Expr* right = nullptr;  // when equal
};

// ---- actions

struct LetAction {
  std::string_view name;
  const Expr* value;
};
struct SetAction {
  const Expr* call;
  const Expr* value;
};
struct UnionAction {
  const Expr* left;
  const Expr* right;
};
struct ChangeAction {
  bool subsume;
  const Expr* call;
};  // delete or subsume
struct PanicAction {
  std::string_view message;
};
struct ExprAction {
  const Expr* expr;
};

struct ActionNode {
  Span span;
  std::variant<LetAction, SetAction, UnionAction, ChangeAction, PanicAction, ExprAction> node;
};

// ---- schedules

struct Schedule;
// let-scheduler NAME (back-off :match-limit N :ban-length N), run-with NAME: `scheduler` names it.
struct RunNode {
  std::string_view ruleset;
  std::vector<Fact> until;
  std::string_view scheduler;
};
struct RepeatNode {
  uint64_t times;
  std::vector<Schedule> body;
};
struct SaturateNode {
  std::vector<Schedule> body;
};
struct SeqNode {
  std::vector<Schedule> body;
};
struct SchedulerNode {
  std::string_view name;
  std::string_view kind;
  std::optional<uint64_t> match_limit, ban_length;
};

struct Schedule {
  Span span;
  std::variant<RunNode, RepeatNode, SaturateNode, SeqNode, SchedulerNode> node;
};

// ---- commands

// A parameter list: sorts in order, the last `names.size()` of them with a field name: (Tensor :axis i64).
struct Params {
  std::vector<std::string_view> sorts;
  std::vector<std::string_view> names;
  std::vector<Span> spans;
};

struct Presort {
  std::string_view name;
  std::vector<const Expr*> args;
};
struct SortCommand {
  std::string_view name;
  std::optional<Presort> presort;
};
struct Variant {
  Span span;
  std::string_view name;
  Params params;
  std::optional<uint64_t> cost;
  bool unextractable = false;
};
// One of datatype*: variants, or a container sort.
struct DatatypeBody {
  Span span;
  std::string_view name;
  std::vector<Variant> variants;
  std::optional<Presort> presort;
};
struct DatatypeCommand {
  DatatypeBody body;
};
struct DatatypesCommand {
  std::vector<DatatypeBody> bodies;
};
struct FunctionCommand {
  std::string_view name;
  Params params;
  std::string_view result;
  const Expr* merge = nullptr;  // null: :no-merge
  bool unextractable = false;
  bool hidden = false;  // :internal-hidden: not in print-size
  std::optional<uint64_t> cost;
};
struct ConstructorCommand {
  std::string_view name;
  Params params;
  std::string_view result;
  std::optional<uint64_t> cost;
  bool unextractable = false;
  bool hidden = false;
};
struct RelationCommand {
  std::string_view name;
  Params params;
};
struct RulesetCommand {
  std::string_view name;
};
struct CombinedRulesetCommand {
  std::string_view name;
  std::vector<std::string_view> parts;
  std::vector<Span> spans;
};
struct RuleCommand {
  std::vector<Fact> body;
  std::vector<ActionNode> head;
  std::string_view ruleset;
  std::string_view name;  // empty: none given
  bool naive = false;
  bool unsafe_seminaive = false;
  bool no_decomp = false;  // a hint to another engine's planner: kept for printing
  bool include_subsumed = false;
};
struct RewriteCommand {
  const Expr* left;
  const Expr* right;
  std::vector<Fact> conditions;
  std::string_view ruleset;
  std::string_view name;
  bool subsume = false;
  bool both_ways = false;
};
struct ActionCommand {
  ActionNode action;
};
struct RunScheduleCommand {
  std::vector<Schedule> body;
};  // (run r n :until f) is (repeat n (run r :until f))
struct ExtractCommand {
  const Expr* expr;
  const Expr* variants;
  bool greedy_dag = false;
};  // variants: null for none
struct CheckCommand {
  std::vector<Fact> facts;
};
struct PushCommand {
  uint64_t times;
};
struct PopCommand {
  uint64_t times;
};
struct PrintStatsCommand {
  std::optional<std::string_view> file;
};
struct PrintFunctionCommand {
  std::string_view name;
  std::optional<uint64_t> rows;
  std::optional<std::string_view> file;
  bool csv = false;
};
struct PrintSizeCommand {
  std::string_view name;
};  // empty: all
struct InputCommand {
  std::string_view name;
  std::string_view file;
};
struct OutputCommand {
  std::string_view file;
  std::vector<const Expr*> exprs;
};
struct IncludeCommand {
  std::string_view file;
};
struct SimplifyCommand {
  Schedule schedule;
  const Expr* expr;
};
struct Command;
struct FailCommand {
  std::shared_ptr<const Command> command;
};
// explain: why two terms are equal. why-not: which atom of a rule fails at a term.
struct ExplainCommand {
  const Expr* left;
  const Expr* right;
};
struct WhyNotCommand {
  std::string_view rule;
  const Expr* term;
};

struct Command {
  Span span;
  std::variant<SortCommand, DatatypeCommand, DatatypesCommand, FunctionCommand, ConstructorCommand, RelationCommand,
               RulesetCommand, CombinedRulesetCommand, RuleCommand, RewriteCommand, ActionCommand, RunScheduleCommand,
               ExtractCommand, CheckCommand, PushCommand, PopCommand, PrintStatsCommand, PrintFunctionCommand,
               PrintSizeCommand, InputCommand, OutputCommand, IncludeCommand, SimplifyCommand, FailCommand,
               ExplainCommand, WhyNotCommand>
      node;
};

}  // namespace lumen::egraph
