#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

namespace {

constexpr std::array<std::string_view, 6> kSchedules = {"run",    "saturate", "seq",
                                                        "repeat", "run-with", "let-scheduler"};
constexpr std::string_view kRunUsage = "(run <ruleset>? <iterations> (:until <fact>+)?)";

}  // namespace

Expected<Schedule> Parser::schedule(const Sexp& sexp) {
  if (sexp.is_atom()) return Schedule{span(sexp), RunNode{LUMEN_TRY(name(sexp, "a schedule")), {}, {}}};
  ++nesting_;
  LUMEN_TRY(check_nesting(sexp));
  Schedule result =
      LUMEN_TRY(schedule_form(LUMEN_TRY(form(sexp, "a schedule such as (saturate (run)) or the name of a ruleset"))));
  --nesting_;
  return result;
}

Expected<Schedule> Parser::schedule_form(const Form& form) {
  const Span whole = span(*form.whole);
  if (form.head == "run" || form.head == "run-with") return run_schedule(form);
  if (form.head == "repeat") return repeat_schedule(form);
  if (form.head == "saturate") return Schedule{whole, SaturateNode{LUMEN_TRY(schedules(form.args))}};
  if (form.head == "seq") return Schedule{whole, SeqNode{LUMEN_TRY(schedules(form.args))}};
  if (form.head == "let-scheduler") return scheduler_schedule(form);
  return expected(*form.whole, fmt::format("a schedule ({})", fmt::join(kSchedules, ", ")));
}

Expected<std::vector<Schedule>> Parser::schedules(Args args) {
  std::vector<Schedule> result;
  for (const Sexp* arg : args) result.push_back(LUMEN_TRY(schedule(*arg)));
  return result;
}

// The facts of `:until`, or none when nothing is left.
Expected<std::vector<Fact>> Parser::until(Args args) {
  if (args.empty()) return std::vector<Fact>{};
  if (!args[0]->is_atom(":until")) return expected(*args[0], "`:until` and facts, or `)`");
  if (args.size() == 1) return error_at(span(*args[0]), "`:until` needs at least one fact");
  return facts(args.subspan(1));
}

// (run ruleset? :until fact+), (run-with scheduler ruleset? :until fact+)
Expected<Schedule> Parser::run_schedule(const Form& form) {
  Args rest = form.args;
  RunNode run;
  if (form.head == "run-with") {
    if (rest.empty()) return error_at(span(*form.whole), "usage: (run-with <scheduler> <ruleset>? (:until <fact>+)?)");
    run.scheduler = LUMEN_TRY(name(*rest[0], "the name of a scheduler"));
    rest = rest.subspan(1);
  }
  if (!rest.empty() && !rest[0]->is_key()) {
    run.ruleset = LUMEN_TRY(name(*rest[0], "the name of a ruleset or `:until`"));
    rest = rest.subspan(1);
  }
  run.until = LUMEN_TRY(until(rest));
  return Schedule{span(*form.whole), std::move(run)};
}

Expected<Schedule> Parser::repeat_schedule(const Form& form) {
  if (form.args.empty()) return error_at(span(*form.whole), "usage: (repeat <times> <schedule>*)");
  const uint64_t times = LUMEN_TRY(unsigned_integer(*form.args[0], "the number of times"));
  return Schedule{span(*form.whole), RepeatNode{times, LUMEN_TRY(schedules(Args(form.args).subspan(1)))}};
}

Expected<Schedule> Parser::scheduler_schedule(const Form& form) {
  static constexpr std::array<std::string_view, 2> kKnown = {":match-limit", ":ban-length"};
  if (form.args.size() != 2) {
    return error_at(span(*form.whole), "usage: (let-scheduler <name> (back-off :match-limit <n> :ban-length <n>))");
  }
  SchedulerNode node;
  node.name = LUMEN_TRY(name(*form.args[0], "the name of the scheduler"));
  const Form kind = LUMEN_TRY(this->form(*form.args[1], "a scheduler such as (back-off :match-limit 1000)"));
  node.kind = kind.head;
  for (const Option& option : LUMEN_TRY(options(kind.args))) {
    const auto* known = std::find(kKnown.begin(), kKnown.end(), option.key->text);
    if (known == kKnown.end()) return unknown_option(*option.key, kind.head, kKnown);
    const uint64_t value = LUMEN_TRY(unsigned_integer(*LUMEN_TRY(single_value(option)), "a limit"));
    (known == kKnown.begin() ? node.match_limit : node.ban_length) = value;
  }
  return Schedule{span(*form.whole), node};
}

// (run ruleset? n :until fact*), as a command
Expected<Schedule> Parser::counted_run(const Form& form) {
  Args rest = form.args;
  RunNode run;
  if (rest.size() >= 2 && rest[1]->kind == Sexp::Kind::integer) {
    run.ruleset = LUMEN_TRY(name(*rest[0], "the name of a ruleset"));
    rest = rest.subspan(1);
  }
  if (rest.empty()) return error_at(span(*form.whole), fmt::format("usage: {}, given no arguments", kRunUsage));
  uint64_t times = LUMEN_TRY(unsigned_integer(*rest[0], "the number of iterations"));
  const bool holds_already = rest.size() == 2 && rest[1]->is_atom(":until");  // no facts: nothing is left to wait for
  if (holds_already) {
    times = 0;
  } else {
    run.until = LUMEN_TRY(until(rest.subspan(1)));
  }
  RepeatNode repeat{times, {}};
  repeat.body.push_back({span(*form.whole), std::move(run)});
  return Schedule{span(*form.whole), std::move(repeat)};
}

Expected<void> Parser::parse_run(const Form& form, Commands& out) {
  RunScheduleCommand command;
  command.body.push_back(LUMEN_TRY(counted_run(form)));
  add(form, std::move(command), out);
  return {};
}

Expected<void> Parser::parse_run_schedule(const Form& form, Commands& out) {
  add(form, RunScheduleCommand{LUMEN_TRY(schedules(form.args))}, out);
  return {};
}

// The schedule may also be (run n), the way it was written when the command was young.
Expected<void> Parser::parse_simplify(const Form& form, Commands& out) {
  const Form inner = LUMEN_TRY(this->form(*form.args[0], "a schedule such as (run 10)"));
  const bool counted = inner.head == "run" && std::any_of(inner.args.begin(), inner.args.end(), [](const Sexp* arg) {
                         return arg->kind == Sexp::Kind::integer;
                       });
  Schedule schedule = LUMEN_TRY(counted ? counted_run(inner) : this->schedule(*form.args[0]));
  const Expr* simplified = LUMEN_TRY(expr(*form.args[1]));
  add(form, SimplifyCommand{std::move(schedule), simplified}, out);
  return {};
}

}  // namespace lumen::egraph
