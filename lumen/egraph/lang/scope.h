// Scope: what the names in a program mean. Sorts, tables and primitives are those of the EGraph, whoever declared them;
// globals and rulesets are the program's own.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/hash.h"
#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/lang/ast.h"

namespace lumen::egraph {

struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const { return hash_bytes(name); }
};
template <class T>
using NameMap = boost::unordered_flat_map<std::string, T, NameHash, std::equal_to<>>;

struct Global {
  uint32_t index = 0;
  SortId sort = 0;
};

class Scope {
 public:
  // Takes in what was declared on the graph since the last time. Of two tables or sorts with one name the first counts.
  void update(const EGraph& graph);

  std::optional<SortId> sort(std::string_view name) const { return find(sorts_, name); }
  std::optional<TableId> table(std::string_view name) const { return find(tables_, name); }
  // The overloads, in order of declaration.
  std::span<const PrimitiveId> primitives(std::string_view name) const;
  const Global* global(std::string_view name) const;
  void add_global(std::string_view name, Global global) { globals_.insert_or_assign(std::string(name), global); }
  std::vector<std::string> global_names() const;  // in order of definition
  std::optional<RulesetId> ruleset(std::string_view name) const { return find(rulesets_, name); }
  void add_ruleset(std::string_view name, RulesetId id) { rulesets_.insert_or_assign(std::string(name), id); }
  // `name` means nothing yet, but nothing else may take it: a let whose value failed.
  void reserve(std::string_view name) { reserved_.insert_or_assign(std::string(name), true); }

  // What the name is declared as ("a sort", "a global", ...), for messages; empty when it is free. Primitives and the
  // built-in sorts do not count: variables may be called i64.
  std::string_view declared_as(std::string_view name) const;

  // ": did you mean `Add`?" for a name that nothing callable has, or nothing.
  std::string suggest_callable(std::string_view name) const;
  std::string suggest_sort(std::string_view name) const;
  std::string suggest_ruleset(std::string_view name) const;

 private:
  template <class T>
  static std::optional<T> find(const NameMap<T>& map, std::string_view name) {
    const auto at = map.find(name);
    return at == map.end() ? std::nullopt : std::optional<T>(at->second);
  }

  NameMap<SortId> sorts_;
  NameMap<TableId> tables_;
  NameMap<std::vector<PrimitiveId>> primitives_;
  NameMap<Global> globals_;
  NameMap<RulesetId> rulesets_;
  NameMap<bool> reserved_;
  size_t known_sorts_ = 0;
  size_t known_tables_ = 0;
  size_t known_primitives_ = 0;
};

}  // namespace lumen::egraph
