// `lumen reduce`: the smallest graph for which a command still says what it says.
#include <fmt/format.h>

#include <chrono>

#include "lumen/backend/cpu/process.h"
#include "lumen/backend/cpu/work_dir.h"
#include "lumen/base/progress.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/reduce_graph.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lumen::tools {

namespace {

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string command_for(const std::string& check, const std::string& file) {
  const std::string name = in_quotes(file);
  if (check.find("{}") == std::string::npos) return check + " " + name;
  std::string command = check;
  for (size_t at = command.find("{}"); at != std::string::npos; at = command.find("{}", at + name.size())) {
    command.replace(at, 2, name);
  }
  return command;
}

// What the shell says when it cannot run a command. A check that does so for the whole graph asks nothing.
Expected<void> check_runs(const cpu::Outcome& outcome, const std::string& log) {
  if (outcome.end != cpu::Outcome::End::exited || (outcome.code != 126 && outcome.code != 127)) return {};
  std::string said = LUMEN_TRY(read_text(log));
  said.resize(std::min(said.size(), said.find('\n')));
  return error(
      fmt::format("the check cannot be run: it exits with {}{}{}", outcome.code, said.empty() ? "" : ": ", said));
}

Expected<bool> ask(const ReduceArguments& arguments, const cpu::WorkDir& work, const Graph& graph, bool is_first) {
  const std::string file = work.file("candidate.hlir");
  LUMEN_TRY(write_text(file, print(graph)));
  const cpu::Command command{{"/bin/sh", "-c", command_for(arguments.check, file)}, work.file("log")};
  const std::chrono::milliseconds limit(static_cast<int64_t>(arguments.timeout * 1000));
  const cpu::Outcome outcome = cpu::run_commands(std::span(&command, 1), 1, limit)[0];
  if (outcome.end == cpu::Outcome::End::not_started) return error("cannot run /bin/sh: " + outcome.str(limit));
  if (is_first) LUMEN_TRY(check_runs(outcome, command.log));
  const bool ended = outcome.end == cpu::Outcome::End::exited;
  return arguments.fails ? outcome.end != cpu::Outcome::End::timed_out && !outcome.ok() : ended && outcome.code == 0;
}

}  // namespace

Expected<int> reduce_file(const ReduceArguments& asked) {
  ReduceArguments arguments = asked;
  if (arguments.output == "-") arguments.output.clear();  // stdout, at the end
  const std::shared_ptr<const Graph> graph = LUMEN_TRY(read_any_graph(arguments.file));
  const cpu::WorkDir work = LUMEN_TRY(cpu::WorkDir::make());
  Progress progress("reduce");
  ReduceOptions options;
  options.tries = arguments.tries;
  Expected<void> written;
  std::shared_ptr<const Graph> last;
  options.on_try = [&](const std::shared_ptr<const Graph>& best, size_t) {
    progress.advance();
    progress.set_best(fmt::format("{} nodes", best->order().size()));
    if (best == last || arguments.output.empty() || !written.ok()) return;
    last = best;
    written = write_text(arguments.output, print(*best));  // so that what was found stays when this is stopped
  };
  Expected<Reduced> reduced = reduce_graph(
      graph, [&](const std::shared_ptr<const Graph>& each) { return ask(arguments, work, *each, each == graph); },
      options);
  progress.finish();
  if (!reduced.ok()) {
    return error(fmt::format("{}: {} (--check {}{})", arguments.file, reduced.diag().message,
                             in_quotes(arguments.check), arguments.fails ? " --fails" : ""));
  }
  LUMEN_TRY(std::move(written));
  fmt::print(stderr, "{} of {} nodes are left after {} tries{}\n", reduced->graph->order().size(),
             graph->order().size(), reduced->tried,
             reduced->complete ? ": no step makes it smaller" : ": stopped, --tries allows more");
  if (arguments.output.empty()) {
    fmt::print("{}", print(*reduced->graph));
  } else {
    LUMEN_TRY(write_text(arguments.output, print(*reduced->graph)));
  }
  return 0;
}

}  // namespace lumen::tools
