#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "lumen/base/hash.h"
#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

Expected<Query> Program::query_of(std::span<const Fact> facts, const Span& span) {
  Typer typer(state_.graph, state_.scope);
  for (const Fact& fact : facts) LUMEN_TRY(typer.add_fact(fact));
  const TypedRule typed = LUMEN_TRY(typer.solve());
  Query query = LUMEN_TRY(lower_body(state_.scope, typed, span)).query;
  query.include_subsumed = true;
  return query;
}

Expected<void> Program::run(const CheckCommand& c, const Span& span) {
  const Query query = LUMEN_TRY(query_of(c.facts, span));
  begin();
  if (LUMEN_TRY(state_.graph.holds(query))) return {};
  std::string facts;
  for (const Fact& fact : c.facts) facts += (facts.empty() ? "" : " ") + print_fact(fact);
  return error_at(span, fmt::format("check failed: {}", facts));
}

Expected<void> Program::check_schedule(const Schedule& schedule) {
  const auto check_all = [&](const std::vector<Schedule>& body) -> Expected<void> {
    for (const Schedule& part : body) LUMEN_TRY(check_schedule(part));
    return {};
  };
  if (const auto* node = std::get_if<RunNode>(&schedule.node)) {
    if (!node->until.empty()) until_.insert_or_assign(node, LUMEN_TRY(query_of(node->until, schedule.span)));
    return {};
  }
  if (const auto* node = std::get_if<RepeatNode>(&schedule.node)) return check_all(node->body);
  if (const auto* node = std::get_if<SaturateNode>(&schedule.node)) return check_all(node->body);
  if (const auto* node = std::get_if<SeqNode>(&schedule.node)) return check_all(node->body);
  const auto& scheduler = std::get<SchedulerNode>(schedule.node);
  if (scheduler.kind == "back-off") return {};
  return error_at(schedule.span, fmt::format("unknown scheduler `{}`; there is back-off", scheduler.kind));
}

void Program::start_run() {
  run_start_ = std::chrono::steady_clock::now();
  stopped_ = false;
}

Expected<void> Program::run(const RunScheduleCommand& c, const Span&) {
  until_.clear();
  for (const Schedule& schedule : c.body) LUMEN_TRY(check_schedule(schedule));
  begin();
  Schedulers schedulers;
  start_run();
  LUMEN_TRY(run_all(c.body, schedulers));
  return {};
}

Expected<void> Program::run(const SimplifyCommand& c, const Span& span) {
  until_.clear();
  LUMEN_TRY(check_schedule(c.schedule));
  LUMEN_TRY(evaluate(*c.expr));
  Schedulers schedulers;
  start_run();
  LUMEN_TRY(run_schedule(c.schedule, schedulers));
  return run(ExtractCommand{c.expr, nullptr, false}, span);
}

Expected<void> Program::run_rules(std::string_view ruleset, uint64_t times) {
  start_run();
  for (uint64_t i = 0; i < times && !stopped_; ++i) {
    if (!LUMEN_TRY(iterate(ruleset, nullptr))) break;
  }
  return {};
}

// Whether anything changed; all of the run_* below.
Expected<bool> Program::run_all(std::span<const Schedule> schedules, Schedulers& schedulers) {
  bool changed = false;
  const size_t outer = schedulers.size();
  for (const Schedule& schedule : schedules) {
    if (stopped_) break;
    changed = LUMEN_TRY(run_schedule(schedule, schedulers)) || changed;
  }
  schedulers.erase(schedulers.begin() + static_cast<ptrdiff_t>(outer), schedulers.end());
  return changed;
}

Expected<bool> Program::run_schedule(const Schedule& schedule, Schedulers& schedulers) {
  const auto repeat = [&](const std::vector<Schedule>& body, uint64_t times) -> Expected<bool> {
    bool changed = false;
    for (uint64_t i = 0; i < times; ++i) {
      if (!LUMEN_TRY(run_all(body, schedulers))) break;
      changed = true;
    }
    return changed;
  };
  if (const auto* node = std::get_if<RunNode>(&schedule.node)) return run_once(*node, schedule.span, schedulers);
  if (const auto* node = std::get_if<RepeatNode>(&schedule.node)) return repeat(node->body, node->times);
  if (const auto* node = std::get_if<SaturateNode>(&schedule.node)) return repeat(node->body, ~uint64_t{0});
  if (const auto* node = std::get_if<SeqNode>(&schedule.node)) return run_all(node->body, schedulers);
  const auto& scheduler = std::get<SchedulerNode>(schedule.node);
  const auto same_name = [&](const auto& other) { return other.first == scheduler.name; };
  if (std::any_of(schedulers.begin(), schedulers.end(), same_name)) {
    return error_at(schedule.span, fmt::format("there is a scheduler `{}` already", scheduler.name));
  }
  schedulers.emplace_back(scheduler.name,
                          BackOff(scheduler.match_limit.value_or(1000), scheduler.ban_length.value_or(5)));
  return false;
}

Expected<bool> Program::run_once(const RunNode& node, const Span& span, Schedulers& schedulers) {
  if (const auto until = until_.find(&node); until != until_.end()) {
    if (LUMEN_TRY(state_.graph.holds(until->second))) return false;
  }
  BackOff* back_off = nullptr;
  if (!node.scheduler.empty()) {
    const auto at = std::find_if(schedulers.rbegin(), schedulers.rend(),
                                 [&](const auto& scheduler) { return scheduler.first == node.scheduler; });
    if (at == schedulers.rend()) return error_at(span, fmt::format("no scheduler `{}`", node.scheduler));
    back_off = &at->second;
  }
  Expected<bool> changed = iterate(node.ruleset, back_off);
  if (!changed.ok()) return error_at(span, changed.diag().message);
  return changed;
}

Expected<void> Program::collect_rules(std::string_view name, std::vector<RuleId>& rules) const {
  std::vector<bool> seen(state_.rulesets.size(), false);
  std::vector<std::string_view> waiting{name};
  while (!waiting.empty()) {
    const std::string_view next = waiting.back();
    waiting.pop_back();
    const std::optional<RulesetId> id = state_.scope.ruleset(next);
    if (!id) return error(fmt::format("no ruleset `{}`{}", next, state_.scope.suggest_ruleset(next)));
    if (seen[*id]) continue;
    seen[*id] = true;
    const Ruleset& ruleset = state_.rulesets[*id];
    rules.insert(rules.end(), ruleset.rules.begin(), ruleset.rules.end());
    waiting.insert(waiting.end(), ruleset.parts.rbegin(), ruleset.parts.rend());
  }
  return {};
}

Expected<bool> Program::iterate(std::string_view name, BackOff* back_off) {
  std::vector<RuleId> rules;
  LUMEN_TRY(collect_rules(name, rules));
  if (options_.shuffle_rules) {
    const auto place = [&](RuleId rule) { return hash_combine(*options_.shuffle_rules, rule); };
    std::sort(rules.begin(), rules.end(), [&](RuleId a, RuleId b) { return place(a) < place(b); });
  }
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - run_start_); };
  RunOptions run = options_.run;
  run.limits.seconds -= elapsed().count();
  IterationReport report = LUMEN_TRY(state_.graph.run(rules, run, back_off));
  RulesetReport& total = state_.rulesets[*state_.scope.ruleset(name)].report;
  ++total.iterations;
  total.search_seconds += report.search_seconds;
  total.apply_seconds += report.apply_seconds;
  total.rebuild_seconds += report.rebuild_seconds;
  stopped_ = !report.limit.empty();
  if (stopped_) limits_hit_.push_back(report.limit);
  const bool changed = report.changed && !stopped_;
  if (options_.on_iteration) options_.on_iteration(report);
  iterations_.push_back(std::move(report));
  return changed;
}

}  // namespace lumen::egraph
