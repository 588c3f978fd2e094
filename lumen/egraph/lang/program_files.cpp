#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "lumen/egraph/extract/extract.h"
#include "lumen/egraph/lang/program.h"
#include "lumen/egraph/lang/text_file.h"

namespace lumen::egraph {

namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A column of a fact file: numbers, words without quotes, true and false.
std::optional<Value> parse_value(const EGraph& graph, SortId sort, std::string_view text) {
  if (sort == kString) return graph.sorts()[kString].values<std::string>().intern(std::string(text));
  if (sort == kBool && (text == "true" || text == "false")) return text == "true" ? 1 : 0;
  if (sort == kUnit && text == "()") return 0;
  if (sort == kI64) {
    const std::optional<int64_t> number = parse_number<int64_t>(text);
    return number ? std::optional(from_i64(graph.sorts()[kI64], *number)) : std::nullopt;
  }
  if (sort == kF64) {
    const std::optional<double> number = parse_number<double>(text);
    return number ? std::optional(graph.sorts()[kF64].values<double>().intern(*number)) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::string Program::path_of(std::string_view file) const {
  return (std::filesystem::path(options_.fact_directory) / file).string();
}

Expected<void> Program::read_row(TableId table, std::string_view line, const Span& span) {
  const TableDecl& decl = state_.graph.table(table);
  std::vector<SortId> sorts = decl.params;
  if (!decl.constructor && !decl.relation && decl.result != kUnit) sorts.push_back(decl.result);
  const std::vector<std::string_view> columns = split(line, '\t');
  if (columns.size() != sorts.size()) {
    return error_at(span, fmt::format("`{}` needs {} columns, but there are {} in `{}`", decl.name, sorts.size(),
                                      columns.size(), line));
  }
  std::vector<Value> values;
  for (size_t i = 0; i < sorts.size(); ++i) {
    const std::optional<Value> value = parse_value(state_.graph, sorts[i], columns[i]);
    if (!value) {
      return error_at(span,
                      fmt::format("`{}` is no {}, in `{}`", columns[i], state_.graph.sorts()[sorts[i]].name, line));
    }
    values.push_back(*value);
  }
  if (decl.constructor || decl.relation) {
    state_.graph.make(table, values);
    return {};
  }
  const Value result = decl.result == kUnit ? 0 : values.back();
  return state_.graph.set(table, std::span(values).first(decl.params.size()), result);
}

Expected<void> Program::run(const InputCommand& c, const Span& span) {
  begin();
  const std::optional<TableId> table = state_.scope.table(c.name);
  if (!table) {
    return error_at(span, fmt::format("unbound function `{}`{}", c.name, state_.scope.suggest_callable(c.name)));
  }
  const Expected<std::string> text = read_text(path_of(c.file));
  if (!text.ok()) return error_at(span, text.diag().message);
  for (const std::string_view line : split(*text, '\n')) {
    if (!trimmed(line).empty()) LUMEN_TRY(read_row(*table, trimmed(line), span));
  }
  return {};
}

Expected<void> Program::run(const OutputCommand& c, const Span& span) {
  std::vector<TypedValue> values;
  for (const Expr* expr : c.exprs) values.push_back(LUMEN_TRY(evaluate(*expr)));
  begin();
  LUMEN_TRY(state_.graph.rebuild());
  Extractor extractor(state_.graph, {costs_for(values), {}});
  std::string text;
  for (const TypedValue& value : values) {
    const std::optional<Extracted> term = extractor.best(value.sort, value.value);
    if (!term) return error_at(span, "nothing can be extracted from a value");
    text += term->text + "\n";
  }
  const Expected<void> written = write_text(path_of(c.file), text, true);
  if (!written.ok()) return error_at(span, written.diag().message);
  return {};
}

Expected<void> Program::run(const IncludeCommand& c, const Span& span) {
  std::string path(c.file);
  if (!std::filesystem::exists(path)) {
    path = (std::filesystem::path(span.source->file).parent_path() / c.file).string();
  }
  if (std::find(including_.begin(), including_.end(), path) != including_.end()) {
    return error_at(span, fmt::format("{} includes itself", path));
  }
  const Expected<std::string> text = read_text(path);
  if (!text.ok()) return error_at(span, text.diag().message);
  including_.push_back(path);
  Expected<void> result = run_text(*text, path);
  including_.pop_back();
  return result;
}

}  // namespace lumen::egraph
