#include "lumen/egraph/lang/scope.h"

#include <algorithm>

#include "lumen/base/nearest.h"

namespace lumen::egraph {

namespace {

// Sorted, because the order of a hash map must not decide between equally near names.
template <class T>
void add_names(const NameMap<T>& map, std::vector<std::string_view>& names) {
  for (const auto& [name, value] : map) names.push_back(name);
}

std::string suggestion(std::string_view name, std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  const std::optional<std::string> guess = nearest(name, names);
  return guess ? "; did you mean `" + *guess + "`?" : "";
}

}  // namespace

void Scope::update(const EGraph& graph) {
  for (; known_sorts_ < graph.sorts().size(); ++known_sorts_) {
    sorts_.emplace(graph.sorts()[known_sorts_].name, static_cast<SortId>(known_sorts_));
  }
  for (; known_tables_ < graph.table_count(); ++known_tables_) {
    const TableId id = static_cast<TableId>(known_tables_);
    tables_.emplace(graph.table(id).name, id);
  }
  for (; known_primitives_ < graph.primitives().size(); ++known_primitives_) {
    primitives_[graph.primitives()[known_primitives_].name].push_back(static_cast<PrimitiveId>(known_primitives_));
  }
}

std::span<const PrimitiveId> Scope::primitives(std::string_view name) const {
  const auto at = primitives_.find(name);
  return at == primitives_.end() ? std::span<const PrimitiveId>() : std::span<const PrimitiveId>(at->second);
}

const Global* Scope::global(std::string_view name) const {
  const auto at = globals_.find(name);
  return at == globals_.end() ? nullptr : &at->second;
}

std::vector<std::string> Scope::global_names() const {
  std::vector<std::pair<uint32_t, std::string>> indexed;
  for (const auto& [name, global] : globals_) indexed.emplace_back(global.index, name);
  std::sort(indexed.begin(), indexed.end());
  std::vector<std::string> names;
  for (auto& [index, name] : indexed) names.push_back(std::move(name));
  return names;
}

std::string_view Scope::declared_as(std::string_view name) const {
  if (sort(name).value_or(0) >= kBuiltinSorts) return "a sort";
  if (tables_.contains(name)) return "a function";
  if (globals_.contains(name) || reserved_.contains(name)) return "a global";
  if (rulesets_.contains(name)) return "a ruleset";
  return {};
}

std::string Scope::suggest_callable(std::string_view name) const {
  std::vector<std::string_view> names;
  add_names(tables_, names);
  for (const auto& [primitive, ids] : primitives_) {
    if (primitive.find(' ') == std::string::npos) names.push_back(primitive);
  }
  return suggestion(name, std::move(names));
}

std::string Scope::suggest_sort(std::string_view name) const {
  std::vector<std::string_view> names;
  add_names(sorts_, names);
  return suggestion(name, std::move(names));
}

std::string Scope::suggest_ruleset(std::string_view name) const {
  std::vector<std::string_view> names;
  add_names(rulesets_, names);
  return suggestion(name, std::move(names));
}

}  // namespace lumen::egraph
