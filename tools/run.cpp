#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "lumen/base/flags.h"
#include "lumen/compile.h"
#include "lumen/import/npy.h"
#include "lumen/import/safetensors.h"
#include "lumen/ir/random_tensor.h"
#include "lumen/runtime/program_file.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/fusion_choice.h"
#include "tools/run_arguments.h"
#include "tools/statistics.h"
#include "tools/trace_file.h"

namespace lumen::tools {

namespace {

constexpr int64_t kDefaultDim = 7;  // a prime: dims that were mixed up do not fit by accident

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Output& output : graph.outputs()) names.push_back(output.name.str());
  return names;
}

// Values of every dim: as given, else as the files' shapes say, else a small default (said on stderr).
Expected<DimValues> choose_dims(const Graph& graph, const RunOptions& options, const NamedTensors& inputs) {
  DimValues dims = LUMEN_TRY(parse_dims(options.dims, graph));
  for (const auto& [input_name, tensor] : inputs) {
    const Shape& shape = graph[*graph.find_input(input_name)].type.shape;
    for (size_t k = 0; k < std::min(tensor.dims.size(), shape.dims().size()); ++k) {
      const Expr dim = shape.dims()[k];
      if (dim.kind() != ExprKind::dim) continue;
      const int64_t known = dims.get(dim.dim_name()).value_or(tensor.dims[k]);
      if (known != tensor.dims[k]) {
        return error(fmt::format("dim {} is {}, but {} in the file of input {}", dim.dim_name(), known, tensor.dims[k],
                                 input_name));
      }
      dims.set(dim.dim_name(), known);
    }
  }
  for (const Expr dim : graph.dims()) {
    if (dims.get(dim.dim_name())) continue;
    const auto [lo, hi] = dim.dim_bounds();
    const int64_t value = std::clamp(kDefaultDim, lo, hi);
    fmt::print(stderr, "dim {} = {} (--dim sets it)\n", dim.dim_name(), value);
    dims.set(dim.dim_name(), value);
  }
  return dims;
}

// Random values for the inputs that no file gives; state is left to start at zero.
Expected<void> add_random_inputs(const Graph& graph, const RunOptions& options, const DimValues& dims,
                                 NamedTensors& inputs) {
  const Ranges ranges = LUMEN_TRY(parse_ranges(options.ranges, graph, inputs));
  const int64_t seed = options.seed.value_or(flags().seed);
  bool any = false;
  for (const NodeId id : graph.inputs()) {
    const Input& input = graph[id].as<Input>();
    if (input.kind == InputKind::state || inputs.contains(input.name.str())) continue;
    const auto range = ranges.find(input.name.str());
    const std::optional<ValueRange> bounds = range == ranges.end() ? std::nullopt : std::optional(range->second);
    inputs[input.name.str()] =
        random_tensor(input.dtype, LUMEN_TRY(input.shape.evaluate(dims)), input.name.str(), seed, bounds);
    any = true;
  }
  if (any) fmt::print(stderr, "seed {} (--seed sets it)\n", seed);
  return {};
}

// Expected values by output name.
Expected<NamedTensors> read_expected(const Graph& graph, const std::string& diff) {
  const std::vector<std::string> names = output_names(graph);
  if (diff.ends_with(".safetensors")) {
    NamedTensors expected = LUMEN_TRY(read_tensors(diff));
    for (const auto& [output, tensor] : expected) LUMEN_TRY(require_name("output", output, names));
    return expected;
  }
  if (diff.find('=') != std::string::npos) {
    const auto [output, file] = LUMEN_TRY(parse_assignment("--diff", diff));
    LUMEN_TRY(require_name("output", output, names));
    HostTensor wanted = LUMEN_TRY(read_npy(file));
    return NamedTensors{{output, std::move(wanted)}};
  }
  if (names.size() != 1) {
    return error(fmt::format("--diff {}: the graph has {} outputs; say which with NAME=FILE.npy", diff, names.size()));
  }
  HostTensor wanted = LUMEN_TRY(read_npy(diff));
  return NamedTensors{{names[0], std::move(wanted)}};
}

Expected<int> print_difference(const Session& session, const NamedTensors& expected, const RunOptions& options) {
  for (const auto& [output, tensor] : expected) {
    const HostTensor got = session.tensor(output);
    if (got.dims != tensor.dims) {
      return error(fmt::format("--diff: output {} is {}, the file has {}", output, type_text(got), type_text(tensor)));
    }
  }
  int64_t mismatches = 0;
  for (const auto& [output, tensor] : expected) {
    const HostTensor got = session.tensor(output);
    const Difference difference = compare(tensor, got, options.atol, options.rtol);
    mismatches += difference.mismatches;
    fmt::print("{}: {}, {}\n{}\n", output, type_text(got), difference.mismatches == 0 ? "equal" : "DIFFERENT",
               describe(difference, options.atol, options.rtol));
  }
  return mismatches == 0 ? 0 : 1;
}

Expected<void> write_outputs(const Session& session, const Graph& graph, const RunOptions& options,
                             const FileNames& files) {
  for (const auto& [output, file] : files) LUMEN_TRY(write_npy(file, session.tensor(output)));
  if (options.outputs_file.empty()) return {};
  NamedTensors tensors;
  for (const std::string& output : output_names(graph)) tensors[output] = session.tensor(output);
  return write_safetensors(options.outputs_file, tensors);
}

void set_all(Session& session, const Graph& graph, const DimValues& dims, const NamedTensors& inputs) {
  for (const Expr dim : graph.dims()) session.set_dim(dim.dim_name(), *dims.get(dim.dim_name()));
  for (const auto& [input, tensor] : inputs) session.set(input, tensor);
}

// The outputs, by another backend.
NamedTensors outputs_by(const CompileOptions& options, const Graph& graph, const DimValues& dims,
                        const NamedTensors& inputs) {
  Session session = compile(graph, options);
  set_all(session, graph, dims, inputs);
  session.execute();
  NamedTensors outputs;
  for (const std::string& output : output_names(graph)) outputs[output] = session.tensor(output);
  return outputs;
}

Expected<Session> make_session(const RunOptions& options, const Graph& graph, Trace* trace) {
  CompileOptions compiling = CompileOptions::from_flags();
  FusionLog log(options.fusion);
  LUMEN_TRY(log.set(compiling));
  compiling.trace = trace;
  if (!options.backend.empty()) LUMEN_TRY(compiling.set_backend(options.backend));
  return compile(graph, compiling);
}

}  // namespace

Expected<int> run_graph(const RunOptions& options) {
  // Everything that can be wrong with the arguments is found before anything runs or is written.
  TraceFile trace(options.trace);
  std::optional<TraceScope> stage;  // one after the other, so that the trace has all that the command does
  const auto enter = [&](const char* name) { stage.emplace(trace.trace(), name, "command"); };
  enter("read");
  std::optional<Session> session;
  std::shared_ptr<const Graph> graph;
  if (is_program_file(options.file)) {
    session = load_program(options.file);
    graph = session->graph().shared_from_this();
  } else {
    graph = LUMEN_TRY(read_graph(options.file));
  }
  const FileNames output_files = LUMEN_TRY(parse_files("--output", "output", options.outputs, output_names(*graph)));
  for (const auto& [output, file] : output_files) LUMEN_TRY(refuse_stdout("--output", file));
  LUMEN_TRY(refuse_stdout("--outputs", options.outputs_file));
  NamedTensors expected = options.diff.empty() ? NamedTensors{} : LUMEN_TRY(read_expected(*graph, options.diff));
  if (!(options.atol >= 0 && options.rtol >= 0)) return error("--atol and --rtol must not be negative");
  NamedTensors inputs = LUMEN_TRY(read_inputs(*graph, options));
  enter("make inputs");
  const DimValues dims = LUMEN_TRY(choose_dims(*graph, options, inputs));
  LUMEN_TRY(add_random_inputs(*graph, options, dims, inputs));
  std::optional<CompileOptions> other;
  if (!options.compare.empty()) {
    other = CompileOptions::from_flags();
    LUMEN_TRY(other->set_backend(options.compare));
  }
  enter("make the program");
  if (!session) session = LUMEN_TRY(make_session(options, *graph, trace.trace()));
  enter("bind inputs");
  set_all(*session, *graph, dims, inputs);
  session->set_trace(trace.trace());
  enter("run");
  session->execute();
  enter("outputs");
  LUMEN_TRY(write_outputs(*session, *graph, options, output_files));
  if (other) enter("compare");
  if (other) expected = outputs_by(*other, *graph, dims, inputs);
  if (!expected.empty()) return print_difference(*session, expected, options);
  if (!options.outputs_file.empty()) return 0;
  for (const std::string& output : output_names(*graph)) {
    if (output_files.contains(output)) continue;
    fmt::print("{}: {}\n{}\n", output, type_text(session->tensor(output)), summary(session->tensor(output)));
  }
  return 0;
}

}  // namespace lumen::tools
