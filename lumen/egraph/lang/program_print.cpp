#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lumen/egraph/extract/extract.h"
#include "lumen/egraph/lang/program.h"
#include "lumen/egraph/lang/text_file.h"

namespace lumen::egraph {

namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Expected<void> Program::write_or_print(const std::optional<std::string_view>& file, std::string_view text,
                                       const Span& span) {
  if (!file) {
    print(text);
    return {};
  }
  const Expected<void> written = write_text(path_of(*file), text, false);
  if (!written.ok()) return error_at(span, written.diag().message);
  return {};
}

Expected<std::vector<Program::PrintedRow>> Program::rows_of_table(TableId table, uint64_t limit) {
  LUMEN_TRY(state_.graph.rebuild());
  const TableDecl& decl = state_.graph.table(table);
  Extractor extractor(state_.graph, {costs_for({}), {}});
  const auto show = [](const std::optional<Extracted>& term) { return term ? term->text : "Unextractable"; };
  std::vector<PrintedRow> rows;
  state_.graph.for_each_row(table, [&](std::span<const Value> columns, bool) {
    if (rows.size() >= limit) return;
    const std::span<const Value> args = columns.first(columns.size() - 1);
    PrintedRow& row = rows.emplace_back();
    row.call = show(extractor.call(table, args));
    for (size_t i = 0; i < args.size(); ++i) row.args.push_back(show(extractor.best(decl.params[i], args[i])));
    if (decl.relation) {
      row.value = row.call;
    } else if (decl.result != kUnit) {
      row.value = show(extractor.best(decl.result, columns.back()));
    }
  });
  return rows;
}

// A global is shown as a function without arguments.
Expected<std::vector<Program::PrintedRow>> Program::row_of_global(std::string_view name, uint64_t limit) {
  if (limit == 0) return std::vector<PrintedRow>();
  LUMEN_TRY(state_.graph.rebuild());
  const TypedValue global = *find_global(name);
  Extractor extractor(state_.graph, {costs_for({global}), {}});
  const std::optional<Extracted> value = extractor.best(global.sort, global.value);
  return std::vector{PrintedRow{fmt::format("({})", name), {}, value ? value->text : "Unextractable"}};
}

Expected<void> Program::run(const PrintFunctionCommand& c, const Span& span) {
  begin();
  const std::optional<TableId> table = state_.scope.table(c.name);
  if (!table && state_.scope.global(c.name) == nullptr) {
    return error_at(span, fmt::format("unbound function `{}`{}", c.name, state_.scope.suggest_callable(c.name)));
  }
  const uint64_t limit = c.rows.value_or(~uint64_t{0});
  std::string text = c.csv ? "" : "(\n";
  for (const PrintedRow& row : LUMEN_TRY(table ? rows_of_table(*table, limit) : row_of_global(c.name, limit))) {
    if (!c.csv) {
      text += "   " + row.call + (row.value.empty() ? "\n" : fmt::format(" -> {}\n", row.value));
      continue;
    }
    text += csv_field(c.name);
    for (const std::string& arg : row.args) text += "," + csv_field(arg);
    if (!row.value.empty()) text += "," + csv_field(row.value);
    text += "\n";
  }
  if (!c.csv) text += ")\n";
  return write_or_print(c.file, text, span);
}

Expected<void> Program::run(const PrintSizeCommand& c, const Span& span) {
  begin();
  LUMEN_TRY(state_.graph.rebuild());
  if (!c.name.empty()) {
    const std::optional<TableId> table = state_.scope.table(c.name);
    if (!table) {
      return error_at(span, fmt::format("unbound function `{}`{}", c.name, state_.scope.suggest_callable(c.name)));
    }
    print(fmt::format("{}\n", state_.graph.row_count(*table)));
    return {};
  }
  std::vector<std::pair<std::string_view, size_t>> sizes;
  for (TableId t = 0; t < state_.graph.table_count(); ++t) {
    const bool hidden = std::find(state_.hidden.begin(), state_.hidden.end(), t) != state_.hidden.end();
    if (hidden || state_.graph.table(t).name.starts_with('@')) continue;
    sizes.emplace_back(state_.graph.table(t).name, state_.graph.row_count(t));
  }
  std::sort(sizes.begin(), sizes.end());
  std::string text;
  for (const auto& [name, size] : sizes) text += fmt::format("{}({} {})", text.empty() ? "" : "\n ", name, size);
  print(fmt::format("({})\n", text));
  return {};
}

Expected<void> Program::run(const PrintStatsCommand& c, const Span& span) {
  begin();
  std::string text = "Overall statistics:\n";
  for (RuleId rule = 0; rule < state_.graph.rule_count(); ++rule) {
    const RuleReport& report = state_.graph.report(rule);
    if (report.runs == 0) continue;
    const std::string name = report.name.size() > 80 ? report.name.substr(0, 80) + "..." : report.name;
    text += fmt::format("Rule {}: search and apply {:.3f}s, num matches {}\n", name,
                        report.search_seconds + report.apply_seconds, report.matches);
  }
  for (const RulesetReport& report : ruleset_reports()) {
    text += fmt::format("Ruleset {}: search {:.3f}s, merge {:.3f}s, rebuild {:.3f}s\n", report.name,
                        report.search_seconds, report.apply_seconds, report.rebuild_seconds);
  }
  return write_or_print(c.file, text, span);
}

}  // namespace lumen::egraph
