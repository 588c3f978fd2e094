#include <fmt/format.h>

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/runtime/program_file.h"
#include "tools/commands.h"
#include "tools/explain/page.h"
#include "tools/explain/program_data.h"
#include "tools/files.h"
#include "tools/fusion_choice.h"
#include "tools/language.h"
#include "tools/profile_runs.h"
#include "tools/usual_inputs.h"

namespace lumen::tools {

namespace {

constexpr int64_t kTimedRounds = 15;

Expected<CompileOptions> compile_options(const ExplainArguments& arguments, ExplainedProgram& program, FusionLog& log) {
  CompileOptions options = CompileOptions::from_flags();
  LUMEN_TRY(log.set(options));
  options.rewrite = !arguments.no_rewrite;
  options.measure = !arguments.no_measure;
  options.progress = true;
  options.record = &program.parts;
  return options;
}

Expected<ExplainedProgram> explain_file(const std::string& file, const ExplainArguments& arguments) {
  if (file != "-" && is_program_file(file)) {
    return error(fmt::format("{}: a compiled program does not say how it was found; explain the graph", file));
  }
  ExplainedProgram program;
  program.name = file;
  program.graph = LUMEN_TRY(read_graph(file, &program.statements));
  const DimValues dims = LUMEN_TRY(usual_dims(arguments.dims, *program.graph));
  FusionLog log(arguments.model.fusion);
  const CompileOptions options = LUMEN_TRY(compile_options(arguments, program, log));
  program.backend = options.backend;
  Compiled compiled = compile_program(*program.graph, options);
  program.report = compiled.report;
  Session session = make_session(std::move(compiled));
  fill_inputs(session, dims);
  program.runs.emplace_back("one run", profile_session(session, kTimedRounds));
  return program;
}

Expected<ExplainedProgram> explain_model(const ExplainArguments& arguments) {
  ExplainedProgram program;
  program.name = arguments.model.path;
  ModelArguments model = arguments.model;
  model.measure = !arguments.no_measure;
  const std::unique_ptr<LanguageModel> loaded = LUMEN_TRY(load_model(model, {}, nullptr, &program.parts));
  if (program.parts.empty()) return error("the reference has no kernels to explain; LUMEN_BACKEND must be cpu");
  program.graph = loaded->model.graph;
  program.report = loaded->report;
  program.backend = loaded->backend;
  if (loaded->model.kind != models::ModelKind::causal) return program;
  models::Decoder decoder(std::move(*loaded->session), loaded->model);
  program.runs = profile_decoder(decoder, loaded->model.vocabulary, arguments.prompt, 3);
  return program;
}

}  // namespace

Expected<int> explain_programs(const ExplainArguments& arguments) try {
  std::vector<std::string> files = arguments.diff;
  if (!arguments.file.empty()) files.push_back(arguments.file);
  const size_t given =
      (arguments.diff.empty() ? 0 : 1) + (arguments.file.empty() ? 0 : 1) + (arguments.model.path.empty() ? 0 : 1);
  if (given != 1) return error("one of FILE, --diff A B and --model PATH is needed");
  LUMEN_TRY(check_writable(arguments.output));
  std::vector<ExplainedProgram> programs;
  for (const std::string& file : files) programs.push_back(LUMEN_TRY(explain_file(file, arguments)));
  if (files.empty()) programs.push_back(LUMEN_TRY(explain_model(arguments)));
  const bench::Limits limits = LUMEN_TRY(limits_for(programs[0].backend));
  nlohmann::json data = {{"limits", limits_data(limits)}, {"programs", nlohmann::json::array()}};
  for (const ExplainedProgram& program : programs) data["programs"].push_back(program_data(program, limits));
  const std::string page = explain_page("lumen explain " + programs[0].name, data);
  LUMEN_TRY(write_text(arguments.output, page));
  fmt::print("wrote {}, {} KB\n", arguments.output, page.size() >> 10);
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools
