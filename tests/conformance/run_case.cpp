#include "tests/conformance/run_case.h"

#include <fmt/format.h>

#include <limits>

#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/lumen.h"
#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

constexpr int64_t kSmallestSymbol = 2;
constexpr int64_t kLargestSymbol = 64;

bool is_symbol(int64_t size) { return size >= kSmallestSymbol && size <= kLargestSymbol; }
std::string symbol_name(int64_t size) { return fmt::format("n{}", size); }
std::string input_name(size_t k) { return fmt::format("x{}", k); }
std::string output_name(size_t k) { return fmt::format("y{}", k); }

Shape shape_of(Graph& graph, const HostTensor& tensor, bool symbolic) {
  std::vector<Expr> dims;
  for (const int64_t size : tensor.dims) {
    const bool symbol = symbolic && is_symbol(size);
    dims.push_back(symbol ? graph.dim(symbol_name(size), kSmallestSymbol, kLargestSymbol) : Expr(size));
  }
  return dims;
}

std::vector<std::optional<Operand>> add_inputs(Graph& graph, const Case& test, bool symbolic) {
  std::vector<std::optional<Operand>> operands;
  for (size_t k = 0; k < test.operands.size(); ++k) {
    const auto& operand = test.operands[k];
    if (const auto* tensor = std::get_if<HostTensor>(&operand)) {
      operands.emplace_back(graph.input(input_name(k), shape_of(graph, *tensor, symbolic), tensor->dtype));
    } else if (const auto* truth = std::get_if<bool>(&operand)) {
      operands.emplace_back(*truth);
    } else if (const auto* integer = std::get_if<int64_t>(&operand)) {
      operands.emplace_back(*integer);
    } else if (const auto* real = std::get_if<double>(&operand)) {
      operands.emplace_back(*real);
    } else {
      operands.emplace_back();
    }
  }
  return operands;
}

void check_round_trip(const Graph& graph) {
  const std::string text = print(graph);
  const std::shared_ptr<Graph> again = parse(text, hlir_ops()).value();
  if (print(*again) != text || !again->equals(graph)) throw Error(error("the graph changed through text:\n" + text));
}

void set_inputs(Session& session, const Case& test, bool symbolic) {
  for (size_t k = 0; k < test.operands.size(); ++k) {
    const auto* tensor = std::get_if<HostTensor>(&test.operands[k]);
    if (tensor == nullptr) continue;
    for (const int64_t size : tensor->dims) {
      if (symbolic && is_symbol(size)) session.set_dim(symbol_name(size), size);
    }
    session.set(input_name(k), *tensor);
  }
}

// A case whose graph is built, or why it could not be.
struct Built {
  std::shared_ptr<Graph> graph;
  size_t results = 0;
  std::string problem;
};

Comparison failed(const std::string& problem) { return {false, std::numeric_limits<double>::infinity(), problem}; }

Built build(const CaseRun& run) try {
  const Case& test = *run.test;
  const Function* function = find_function(test.function);
  if (function == nullptr) throw Error(error("the function is not in the table of tests/conformance"));
  const auto graph = std::make_shared<Graph>();
  const Results results = function->call(Call(*graph, add_inputs(*graph, test, run.symbolic), test.args));
  if (results.size() != test.expected.size()) {
    throw Error(error(fmt::format("expected {} results, got {}", test.expected.size(), results.size())));
  }
  for (size_t k = 0; k < results.size(); ++k) results[k].output(output_name(k));
  check_round_trip(*graph);
  return {graph, results.size(), {}};
} catch (const Error& problem) {
  return {nullptr, 0, problem.what()};
}

Comparison execute(const CaseRun& run, const Built& built, Session& session) try {
  set_inputs(session, *run.test, run.symbolic);
  session.execute();
  Comparison worst;
  for (size_t k = 0; k < built.results; ++k) {
    Comparison one = compare(run.test->expected[k], session.tensor(output_name(k)));
    if (!one.passed && built.results > 1) one.problem = fmt::format("result {}: {}", k, one.problem);
    if (!one.passed) return one;
    worst.ratio = std::max(worst.ratio, one.ratio);
  }
  return worst;
} catch (const Error& problem) {
  return failed(problem.what());
}

}  // namespace

std::vector<Comparison> run_cases(std::span<const CaseRun> runs, const CompileOptions& options) {
  std::vector<Built> built;
  std::vector<const Graph*> graphs;
  for (const CaseRun& run : runs) {
    built.push_back(build(run));
    if (built.back().graph != nullptr) graphs.push_back(built.back().graph.get());
  }
  std::vector<Comparison> comparisons;
  try {
    std::vector<Session> sessions = compile_all(graphs, options);
    size_t next = 0;
    for (size_t k = 0; k < runs.size(); ++k) {
      const bool ran = built[k].graph != nullptr;
      comparisons.push_back(ran ? execute(runs[k], built[k], sessions[next++]) : failed(built[k].problem));
    }
  } catch (const Error& problem) {
    if (runs.size() == 1) return {failed(problem.what())};
    // One of them does not compile: each on its own.
    for (const CaseRun& run : runs) comparisons.push_back(run_cases(std::span(&run, 1), options)[0]);
  }
  return comparisons;
}

}  // namespace lumen::conformance
