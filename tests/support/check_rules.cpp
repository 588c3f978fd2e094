#include <algorithm>
#include <map>
#include <utility>

#include "lumen/base/check.h"
#include "tests/support/naive_engine.h"
#include "tests/support/random_rules.h"

namespace lumen::egraph::naive {

namespace {

constexpr size_t kMostRows = 120;
constexpr uint64_t kBudget = 300000;

// The rows of every table at one moment.
struct Dump {
  std::vector<std::vector<NaiveRow>> tables;
  std::vector<uint64_t> canonical;  // the rows without the names of ids, sorted
};

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
  return h ^ (h >> 32);
}

// Names classes by what is said about them: in each round the colour of a class takes up the rows it occurs in.
class Colours {
 public:
  Colours(const EGraph& graph, const std::vector<std::vector<NaiveRow>>& tables) : graph_(graph), tables_(tables) {}

  std::vector<uint64_t> rows() {
    std::vector<uint64_t> out;
    for (size_t known = 0, round = 0; round < 12; ++round) {
      std::map<std::pair<SortId, Value>, std::vector<uint64_t>> seen;
      out.clear();
      for (TableId t = 0; t < tables_.size(); ++t) {
        for (const NaiveRow& row : tables_[t]) {
          const uint64_t colour = row_colour(t, row);
          out.push_back(colour);
          for (size_t c = 0; c < row.columns.size(); ++c) mention(sort_of(t, c), row.columns[c], mix(colour, c), seen);
        }
      }
      colours_.clear();
      std::vector<uint64_t> distinct;
      for (auto& [id, facts] : seen) {
        std::sort(facts.begin(), facts.end());
        uint64_t h = id.first;
        for (const uint64_t fact : facts) h = mix(h, fact);
        colours_[id] = h;
        distinct.push_back(h);
      }
      std::sort(distinct.begin(), distinct.end());
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      if (distinct.size() == known && round > 1) break;
      known = distinct.size();
    }
    out.push_back(colours_.size());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  using Seen = std::map<std::pair<SortId, Value>, std::vector<uint64_t>>;
  SortId sort_of(TableId t, size_t column) const {
    const TableDecl& decl = graph_.table(t);
    return column < decl.params.size() ? decl.params[column] : decl.result;
  }
  uint64_t row_colour(TableId t, const NaiveRow& row) const {
    uint64_t h = mix(t, row.subsumed);
    for (size_t c = 0; c < row.columns.size(); ++c) h = mix(h, colour(sort_of(t, c), row.columns[c]));
    return h;
  }
  uint64_t colour(SortId sort, Value value) const {
    const Sort& s = graph_.sorts()[sort];
    if (sort == kI64) return static_cast<uint64_t>(to_i64(s, value));
    if (s.kind == SortKind::base) return value;
    if (s.kind == SortKind::eq) {
      const auto known = colours_.find({sort, value});
      return known == colours_.end() ? 1 : known->second;
    }
    uint64_t h = s.sequences().at(value).size();
    visit_elements(s, s.sequences().at(value), [&](SortId e, Value element) { h = mix(h, colour(e, element)); });
    return h;
  }
  void mention(SortId sort, Value value, uint64_t fact, Seen& seen) const {
    const Sort& s = graph_.sorts()[sort];
    if (s.kind == SortKind::eq) seen[{sort, value}].push_back(fact);
    if (s.kind != SortKind::container) return;
    uint64_t place = 0;
    visit_elements(s, s.sequences().at(value),
                   [&](SortId e, Value element) { mention(e, element, mix(fact, ++place), seen); });
  }

  const EGraph& graph_;
  const std::vector<std::vector<NaiveRow>>& tables_;
  std::map<std::pair<SortId, Value>, uint64_t> colours_;
};

std::string text_of(const EGraph& graph, const Dump& dump) {
  std::string text;
  for (TableId t = 0; t < dump.tables.size(); ++t) {
    for (const NaiveRow& row : dump.tables[t]) {
      text += "  " + graph.table(t).name + "(";
      for (size_t c = 0; c < row.columns.size(); ++c) {
        const TableDecl& decl = graph.table(t);
        const SortId sort = c < decl.params.size() ? decl.params[c] : decl.result;
        if (c == decl.params.size()) text += ") =";
        text += " ";
        if (graph.sorts()[sort].kind != SortKind::container) {
          text += sort == kI64 ? std::to_string(to_i64(graph.sorts()[kI64], row.columns[c]))
                               : std::to_string(row.columns[c]);
          continue;
        }
        text += "[";
        for (const Value v : graph.sorts()[sort].sequences().at(row.columns[c])) text += " " + std::to_string(v);
        text += " ]";
      }
      text += row.subsumed ? " subsumed\n" : "\n";
    }
  }
  return text;
}

Dump dump_of(EGraph& graph) {
  Dump dump;
  dump.tables.resize(graph.table_count());
  for (TableId t = 0; t < graph.table_count(); ++t) {
    graph.for_each_row(t, [&](std::span<const Value> columns, bool subsumed) {
      dump.tables[t].push_back({{columns.begin(), columns.end()}, subsumed, 0});
    });
  }
  dump.canonical = Colours(graph, dump.tables).rows();
  return dump;
}

// The naive engine's dumps after each step, as far as it can go.
std::vector<Dump> run_naively(const RandomRules& rules, bool seminaive) {
  NaiveEngine engine(rules.declared);
  std::vector<std::pair<SortId, Value>> globals;
  const std::vector<Value> constants = engine.run_actions(rules.constants.variables, rules.constants.actions);
  for (size_t i = 0; i < constants.size(); ++i) globals.emplace_back(rules.global_sorts[i], constants[i]);
  engine.set_globals(std::move(globals));
  std::vector<Dump> dumps;
  for (const RandomRules::Step& step : rules.steps) {
    engine.run_actions(step.actions.variables, step.actions.actions);
    if (!engine.run(step.rules, seminaive, kBudget) || engine.row_count() > kMostRows) break;
    Dump& dump = dumps.emplace_back();
    dump.tables = engine.tables();
    dump.canonical = Colours(rules.declared, dump.tables).rows();
  }
  return dumps;
}

struct Treatment {
  const char* name;
  int threads;
  bool seminaive;
  bool copy;  // before every step; the original goes on, too
};

// The engine's dumps after `steps` steps; a text when it failed.
std::optional<std::string> run_engine(const RandomRules& rules, const Treatment& treatment, size_t steps,
                                      std::vector<Dump>& dumps) {
  EGraph graph = rules.declared;
  RunOptions options;
  options.threads = treatment.threads;
  options.parallel_from = 0;
  options.seminaive = treatment.seminaive;
  options.limits.rows = 100 * kMostRows;
  const auto constants = graph.run_actions(rules.constants.variables, rules.constants.actions);
  if (!constants.ok()) return constants.diag().str();
  for (size_t i = 0; i < constants->size(); ++i) graph.add_global(rules.global_sorts[i], (*constants)[i]);
  for (size_t s = 0; s < steps; ++s) {
    const RandomRules::Step& step = rules.steps[s];
    EGraph original;
    if (treatment.copy) {
      original = std::move(graph);
      graph = original;
      if (!original.run(step.rules, options).ok()) return "running the original of a copy failed";
    }
    const auto acted = graph.run_actions(step.actions.variables, step.actions.actions);
    if (!acted.ok()) return acted.diag().str();
    const Dump before = dump_of(graph);
    const Expected<IterationReport> report = graph.run(step.rules, options);
    if (!report.ok()) return report.diag().str();
    if (!report->limit.empty()) return "limit: " + report->limit;
    dumps.push_back(dump_of(graph));
    if (!report->changed && dumps.back().canonical != before.canonical) return "a change was not reported";
  }
  return std::nullopt;
}

bool same_rows(const Dump& a, const Dump& b) {
  const auto same = [](const NaiveRow& x, const NaiveRow& y) {
    return x.columns == y.columns && x.subsumed == y.subsumed;
  };
  return std::equal(
      a.tables.begin(), a.tables.end(), b.tables.begin(), b.tables.end(),
      [&](const auto& x, const auto& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end(), same); });
}

std::string difference(const EGraph& graph, const std::string& what, size_t step, const Dump& expected,
                       const Dump& got) {
  return what + ": another result after step " + std::to_string(step) + "\nexpected\n" + text_of(graph, expected) +
         "got\n" + text_of(graph, got);
}

}  // namespace

std::optional<std::string> check_rules(const std::function<RandomRules()>& draw_again) {
  static constexpr Treatment kPlain{"plain", 1, true, false};
  static constexpr Treatment kThreads{"2 threads", 2, true, false};
  static constexpr Treatment kCopied{"copied", 1, true, true};
  static constexpr Treatment kAll{"semi-naive off", 1, false, false};

  // Drawn again for what must not share pools of values with the others.
  const RandomRules naive_rules = draw_again();
  const RandomRules rules = draw_again();
  const RandomRules threaded_rules = draw_again();
  const auto compare = [&](const RandomRules& program, const Treatment& treatment, const std::vector<Dump>& expected,
                           bool exact, std::vector<Dump>& dumps) -> std::optional<std::string> {
    if (const auto failure = run_engine(program, treatment, expected.size(), dumps)) {
      return std::string(treatment.name) + ": " + *failure + "\n" + program.text();
    }
    for (size_t s = 0; s < expected.size(); ++s) {
      if (exact ? same_rows(expected[s], dumps[s]) : expected[s].canonical == dumps[s].canonical) continue;
      return difference(program.declared, treatment.name, s, expected[s], dumps[s]) + program.text();
    }
    return std::nullopt;
  };

  std::vector<Dump> plain, threaded, copied, all;
  const std::vector<Dump> naive = run_naively(naive_rules, true);
  const bool comparable = !(rules.unites && rules.erases);
  if (comparable) {
    if (auto failure = compare(rules, kPlain, naive, false, plain)) return failure;
    if (auto failure = compare(rules, kAll, run_naively(naive_rules, false), false, all)) return failure;
  } else if (auto failure = run_engine(rules, kPlain, naive.size(), plain)) {
    return *failure + "\n" + rules.text();
  }
  if (auto failure = compare(threaded_rules, kThreads, plain, true, threaded)) return failure;
  return compare(rules, kCopied, plain, false, copied);
}

}  // namespace lumen::egraph::naive
