#include "lumen/search/saturate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "lumen/search/check_terms.h"
#include "lumen/search/rule_prims.h"

namespace lumen {

using egraph::IterationReport;
using egraph::RuleId;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Whether a rule states the fact.
bool states(const egraph::Program& program, RuleId rule, std::string_view fact) {
  const egraph::EGraph& graph = program.egraph();
  return std::ranges::any_of(graph.rule(rule).actions, [&](const egraph::Action& action) {
    const bool writes = action.kind == egraph::Action::Kind::set || action.kind == egraph::Action::Kind::make;
    return writes && graph.table(action.target).name == fact;
  });
}

void erase_switched_off(const egraph::Program& program, const SaturateOptions& options, std::vector<RuleId>& rules) {
  std::erase_if(rules, [&](RuleId rule) {
    return std::ranges::find(options.without, program.egraph().rule(rule).name) != options.without.end() ||
           std::ranges::any_of(options.without_facts, [&](auto& fact) { return states(program, rule, fact); });
  });
}

Expected<std::vector<RuleId>> chosen_rules(egraph::Program& program, const SaturateOptions& options) {
  std::vector<RuleId> rules = LUMEN_TRY(program.rules_of("exact"));
  if (options.rounding) {
    const std::vector<RuleId> more = LUMEN_TRY(program.rules_of("rounding"));
    rules.insert(rules.end(), more.begin(), more.end());
  }
  erase_switched_off(program, options, rules);
  return rules;
}

class Saturation {
 public:
  Saturation(egraph::Program& program, const SaturateOptions& options, SaturateReport& report)
      : program_(program), options_(options), report_(report) {}

  Expected<void> run() {
    std::vector<RuleId> facts = LUMEN_TRY(program_.rules_of("facts"));
    erase_switched_off(program_, options_, facts);
    const std::vector<RuleId> rules = LUMEN_TRY(chosen_rules(program_, options_));
    bool changed = true;
    while (changed && report_.limit.empty()) {
      const Clock::time_point before = Clock::now();
      while (LUMEN_TRY(iterate(facts, false))) continue;
      report_.fact_seconds += seconds_since(before);
      if (!report_.limit.empty()) break;
      if (report_.iterations == options_.iterations) {
        report_.limit = fmt::format("iterations: {}", options_.iterations);
        break;
      }
      changed = LUMEN_TRY(iterate(rules, true));
      ++report_.iterations;
    }
    // A limit may stop facts half-way; extraction needs all types.
    egraph::RunOptions unlimited;
    while (LUMEN_TRY(program_.egraph().run(facts, unlimited)).changed) continue;
    for (const RuleId rule : rules) report_.rules.push_back(program_.egraph().report(rule));
    report_.seconds = seconds_since(start_);
    report_.classes = program_.egraph().class_count();
    return {};
  }

 private:
  // Whether anything changed and no limit was hit.
  Expected<bool> iterate(std::span<const RuleId> rules, bool note) {
    egraph::RunOptions run;
    run.limits.rows = options_.rows;
    run.limits.seconds = options_.seconds - seconds_since(start_);
    const IterationReport report = LUMEN_TRY(program_.egraph().run(rules, run));
    report_.rows = report.rows;
    report_.limit = report.limit;
    if (note) report_.growth.push_back(report);
    return report.changed && report.limit.empty();
  }

  egraph::Program& program_;
  const SaturateOptions& options_;
  SaturateReport& report_;
  Clock::time_point start_ = Clock::now();
};

Expected<void> load_rules(egraph::Program& program, const SaturateOptions& options) {
  const std::vector<RuleFile> files = options.rules.empty() ? LUMEN_TRY(rules_in_use()) : options.rules;
  for (const RuleFile& file : files) LUMEN_TRY(program.run_text(with_op_lists(file.text), file.name));
  return {};
}

}  // namespace

std::string SaturateReport::text() const {
  std::vector<egraph::RuleReport> fired = rules;
  std::erase_if(fired, [](const auto& rule) { return rule.matches == 0; });
  const auto time = [](const auto& rule) { return rule.search_seconds + rule.apply_seconds; };
  std::stable_sort(fired.begin(), fired.end(), [&](const auto& a, const auto& b) { return time(a) > time(b); });
  std::string result =
      fmt::format("{} rows, {} classes after {} iterations in {:.3f} s ({:.3f} s for facts){}\n", rows, classes,
                  iterations, seconds, fact_seconds, limit.empty() ? "" : "; stopped: " + limit);
  for (const egraph::RuleReport& rule : fired) {
    result += fmt::format("{:40} {:7} matches {:7} rows {:6} unions {:8.3f} ms\n", rule.name, rule.matches, rule.rows,
                          rule.unions, 1e3 * time(rule));
  }
  return result;
}

Expected<bool> Saturated::knows(const Graph& other) {
  const std::vector<egraph::Value> outputs = LUMEN_TRY(encoding_->encode(other));
  if (outputs.size() != roots_.size()) return error("the graphs have different numbers of outputs");
  LUMEN_TRY(egraph().rebuild());
  const egraph::SortId sort = encoding_->tensor_sort();
  return std::equal(outputs.begin(), outputs.end(), roots_.begin(),
                    [&](egraph::Value a, egraph::Value b) { return egraph().find(sort, a) == egraph().find(sort, b); });
}

Expected<Saturated> saturate(const Graph& graph, const SaturateOptions& options) {
  Saturated result;
  result.graph_ = &graph;
  result.program_ = std::make_unique<egraph::Program>();
  egraph::Program& program = *result.program_;
  if (options.trace) program.egraph().enable_tracing();
  result.encoding_ = std::make_unique<Encoding>(LUMEN_TRY(Encoding::declare(program)));
  add_rule_primitives(program.egraph());
  LUMEN_TRY(load_rules(program, options));
  result.roots_ = LUMEN_TRY(result.encoding_->encode(graph));
  LUMEN_TRY(Saturation(program, options, result.report_).run());
  if (!options.check) return result;
  Expected<void> sound = check_terms(program.egraph(), *result.encoding_);
  if (sound.ok()) return result;
  if (options.trace) return std::move(sound).take_diag();
  // Once more, to learn which rule it was.
  SaturateOptions traced = options;
  traced.trace = true;
  return saturate(graph, traced);
}

}  // namespace lumen
