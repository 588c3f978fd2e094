// Whether rules have made terms that no graph can have.
#pragma once

#include <string>
#include <vector>

#include "lumen/search/encode.h"

namespace lumen {

struct TermFault {
  enum class Kind : uint8_t {
    refused,  // the op's infer refuses the operands
    dtype,    // of another dtype than its class
    shape,    // of another shape
    unknown,  // the class has no type
  };
  Kind kind;
  egraph::Value tensor;  // the class
  std::string message;
  std::string rule;  // that made the term, when the e-graph is traced
};

// All of them, in the order of ops and rows.
std::vector<TermFault> term_faults(egraph::EGraph& graph, const Encoding& encoding);

// An error for the first term that the op's infer refuses, or whose type is not that of its class. It names the rule
// that made the term when the e-graph is traced.
Expected<void> check_terms(egraph::EGraph& graph, const Encoding& encoding);

// The rule that made the term of a row; empty when it was given, or nothing is traced.
std::string maker_of(egraph::EGraph& graph, const Encoding& encoding, const TermOp& op,
                     std::span<const egraph::Value> row);

}  // namespace lumen
