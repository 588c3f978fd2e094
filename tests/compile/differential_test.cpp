// Random graphs, compiled in every way for the CPU (or what LUMEN_BACKEND says), against the reference: bit for bit, as
// their numbers are exact.
#include <gtest/gtest.h>

#include <random>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/compile.h"
#include "tests/compile/shrink.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/graphs/values.h"

namespace lumen {
namespace {

using testing::make_exact_graph;
using testing::RandomGraph;

constexpr uint64_t kGraphs = 700;            // of each policy
constexpr uint64_t kCompiledTogether = 100;  // compiled together

struct Way {
  const char* name;
  FusionPolicy fusion;
  bool rewrite;
};

class Differential : public ::testing::TestWithParam<Way> {};

// Rules may change the sign of a zero.
HostTensor without_signs_of_zero(HostTensor tensor) {
  for (Lane& lane : tensor.lanes) {
    if (is_float(tensor.dtype) && lane.f == 0) lane.f = 0;
  }
  return tensor;
}

std::string difference(const RandomGraph& given, Session& session) try {
  const Graph& graph = *given.graph;
  std::vector<const HostTensor*> inputs;
  for (size_t k = 0; k < given.inputs.size(); ++k) {
    inputs.push_back(&given.inputs[k]);
    session.set(graph[graph.inputs()[k]].as<Input>().name.str(), given.inputs[k]);
  }
  for (const Expr& dim : graph.dims()) session.set_dim(dim.dim_name(), *given.dims.get(dim.dim_name()));
  const std::vector<HostTensor> wanted = interpret(graph, inputs, given.dims).value();
  session.execute();
  for (size_t k = 0; k < wanted.size(); ++k) {
    const std::string name = graph.outputs()[k].name.str();
    const ::testing::AssertionResult same =
        testing::same(without_signs_of_zero(session.tensor(name)), without_signs_of_zero(wanted[k]));
    if (!same) return "output " + name + ": " + same.message();
  }
  return {};
} catch (const Error& problem) {
  return problem.what();
}

// Compiled on its own; a graph that does not compile fails, too.
std::string failure_alone(const RandomGraph& given, const CompileOptions& options) try {
  Session session = compile(*given.graph, options);
  return difference(given, session);
} catch (const Error& problem) {
  return problem.what();
}

TEST_P(Differential, computes_what_the_reference_computes) {
  CompileOptions options = CompileOptions::from_flags();
  options.fusion = GetParam().fusion;
  options.rewrite = GetParam().rewrite;
  options.measure = false;
  options.c_flags = {"-O1", "-w"};
  const uint64_t first = std::random_device{}();
  for (uint64_t start = first; start < first + kGraphs; start += kCompiledTogether) {
    std::vector<RandomGraph> given;
    std::vector<const Graph*> graphs;
    for (uint64_t seed = start; seed < start + kCompiledTogether; ++seed) given.push_back(make_exact_graph(seed));
    for (const RandomGraph& each : given) graphs.push_back(each.graph.get());
    std::vector<Session> sessions = compile_all(graphs, options);
    for (size_t k = 0; k < given.size(); ++k) {
      const std::string problem = difference(given[k], sessions[k]);
      if (problem.empty()) continue;
      options.verify = false;
      FAIL() << problem << "\nseed " << start + k << "; to keep as tests/regress/NAME.hlir:\n"
             << testing::shrunk(given[k], [&](const RandomGraph& each) { return failure_alone(each, options); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Differential,
                         ::testing::Values(Way{"never", FusionPolicy::never, true},
                                           Way{"always", FusionPolicy::always, true},
                                           Way{"profile", FusionPolicy::profile, true},
                                           Way{"as_written", FusionPolicy::always, false}),
                         [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace lumen
