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

}  // namespace

Comparison run_case(const Case& test, bool symbolic) try {
  const Function* function = find_function(test.function);
  if (function == nullptr) throw Error(error("the function is not in the table of tests/conformance"));
  const auto graph = std::make_shared<Graph>();
  const Results results = function->call(Call(*graph, add_inputs(*graph, test, symbolic), test.args));
  if (results.size() != test.expected.size()) {
    throw Error(error(fmt::format("expected {} results, got {}", test.expected.size(), results.size())));
  }
  for (size_t k = 0; k < results.size(); ++k) results[k].output(output_name(k));
  check_round_trip(*graph);

  Session session = compile(*graph);
  set_inputs(session, test, symbolic);
  session.execute();
  Comparison worst;
  for (size_t k = 0; k < results.size(); ++k) {
    Comparison one = compare(test.expected[k], session.tensor(output_name(k)));
    if (!one.passed && results.size() > 1) one.problem = fmt::format("result {}: {}", k, one.problem);
    if (!one.passed) return one;
    worst.ratio = std::max(worst.ratio, one.ratio);
  }
  return worst;
} catch (const Error& problem) {
  return {false, std::numeric_limits<double>::infinity(), problem.what()};
}

}  // namespace lumen::conformance
