// All that `lumen debug` can be asked about one graph, answered as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "lumen/debug/inspection.h"

namespace lumen::debug {

struct Questions {
  bool analyze = false;                                             // every value: kernels, class; every kernel; rules
  std::string inspect_op;                                           // OP:KERNEL
  std::string inspect_var;                                          // VAR
  std::optional<std::pair<std::string, std::string>> trace_fact;    // FACT, VAR
  std::string first_missing_fact;                                   // FACT
  std::string within_op;                                            // OP, for the above; empty: any
  std::string check;                                                // missing-kernel, dtype, shape, facts or all
  std::optional<std::pair<std::string, std::string>> why, why_not;  // RULE, VAR
  bool print_egraph = false;

  // Whether nothing is asked: then the summary is the answer.
  bool none() const;
};

struct Answers {
  std::string text;
  std::string json;     // one object; "summary" is always there
  size_t findings = 0;  // of the check
};

// `title` names the graph. An error when a question names what does not exist.
Expected<Answers> answer(Inspection& inspection, const Questions& questions, const std::string& title);

}  // namespace lumen::debug
