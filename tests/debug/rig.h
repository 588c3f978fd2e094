// Inspections for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lumen/debug/cases.h"
#include "lumen/debug/inspection.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"

namespace lumen::debug {

inline std::unique_ptr<Inspection> inspect_case(std::string_view name, const InspectionOptions& options = {}) {
  return Inspection::make(make_case(name, 1024).value(), options).value();
}

inline std::unique_ptr<Inspection> inspect_text(std::string_view text, const InspectionOptions& options = {}) {
  return Inspection::make(parse(text, hlir_ops()).value(), options).value();
}

// The message of an error; empty when there is none.
template <class T>
std::string error_of(const Expected<T>& result) {
  return result.ok() ? "" : result.diag().str();
}

// The only node of an op.
inline NodeId only(const Inspection& inspection, std::string_view op) {
  std::vector<NodeId> found;
  for (const NodeId id : inspection.graph().order()) {
    if (inspection.graph()[id].op->name == op) found.push_back(id);
  }
  EXPECT_EQ(found.size(), 1u) << op;
  return found.at(0);
}

// The built-in rules without one; it must be there.
inline std::vector<RuleFile> rules_without(std::string_view part) {
  std::vector<RuleFile> files = built_in_rules();
  for (RuleFile& file : files) {
    const size_t at = file.text.find(part);
    if (at == std::string::npos) continue;
    file.text.erase(at, part.size());
    return files;
  }
  ADD_FAILURE() << "no rule reads " << part;
  return files;
}

inline std::vector<RuleFile> rules_with(const std::string& rule) {
  std::vector<RuleFile> files = built_in_rules();
  files.push_back({"more.egg", rule});
  return files;
}

}  // namespace lumen::debug
