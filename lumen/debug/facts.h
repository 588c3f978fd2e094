// Facts about values (type_of, constant_of, factors, …): how one came to be stated, or why it was not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lumen/debug/inspection.h"

namespace lumen::debug {

// One fact of the chain, after the one that needs it.
struct FactStep {
  int depth = 0;
  std::string fact;                 // "type_of"
  std::string of;                   // "%3", or "#17" for a class that the graph has no value of
  std::string op;                   // "Mul f32[4,8]", of the graph's value
  std::vector<std::string> values;  // empty: the fact is missing
  std::string rule;                 // that states it; when it is missing, the one that might
  std::string cause;                // when it is missing and no other fact is to blame: why
};

struct FactTrace {
  bool found = false;
  std::vector<FactStep> steps;  // the fact itself first
  // Why the first of the missing facts is missing; empty when the fact was found.
  std::string cause() const;
  std::string text() const;
};

// `fact` may be dtype or shape, which are both in type_of. An error when there is no such fact.
Expected<FactTrace> trace_fact(Inspection& inspection, std::string_view fact, NodeId var);

// The first value in the graph's order that lacks the fact; of one op, unless `op` is empty.
Expected<std::optional<NodeId>> first_without_fact(Inspection& inspection, std::string_view fact, std::string_view op);

// What is stated of a value: "type_of f32[4,8]", "factors %1 %2".
std::vector<std::string> facts_of(Inspection& inspection, egraph::Value tensor);

}  // namespace lumen::debug
