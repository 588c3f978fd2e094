#include "lumen/search/stage_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lumen/base/file.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/stage_text.h"

namespace lumen::search {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kGraph = "graph.hlir", kRewritten = "rewritten.llir", kGroups = "groups.txt",
                           kSchedules = "schedules.txt", kPlan = "plan.txt";

// What a dump has and an override need not.
bool is_only_to_read(const std::string& name) {
  return name.starts_with("candidate") || (name.starts_with("k") && name.ends_with(".llir")) ||
         (name.starts_with("part") && name.find(".candidate") != std::string::npos);
}

std::string interface_of(const Graph& graph) {
  std::string text;
  for (const Expr& dim : graph.dims()) {
    text += fmt::format("dim {} {}..{}, ", dim.dim_name(), dim.dim_bounds().first, dim.dim_bounds().second);
  }
  for (const NodeId id : graph.inputs()) {
    text += fmt::format("input {} {}, ", graph[id].as<Input>().name.str(), graph[id].type.str());
  }
  for (const Output& output : graph.outputs()) {
    text += fmt::format("output {} {}{}, ", output.name.str(), graph[output.value].type.str(),
                        output.alias ? " updates " + graph[*output.alias].as<Input>().name.str() : "");
  }
  return text.empty() ? text : text.substr(0, text.size() - 2);
}

// The group as one kernel, unless it is a single op, or loops: those may have none.
Expected<void> check_group(const Reads& reads, const Group& group, const Target& target, const std::string& file) {
  const bool loops =
      std::ranges::any_of(group, [&](NodeId id) { return reads.graph()[id].op->family == OpFamily::loop; });
  const bool alone = group.size() == 1 && reads.left().empty();
  if (alone || loops || computed_by_one_kernel(reads, target)(group)) return {};
  std::string values;
  for (const NodeId id : group) values += fmt::format(" %{}", reads.position(id));
  return error(fmt::format("{}: no kind of kernel computes{} together", file, values));
}

}  // namespace

Expected<StageFiles> StageFiles::open(const std::string& dump, const std::string& overrides, const Graph& graph) {
  StageFiles files;
  const std::string name = fmt::format("{:016x}", graph.hash());
  std::error_code failure;
  if (!dump.empty()) {
    files.dump_ = dump + "/" + name;
    fs::create_directories(files.dump_, failure);
    if (failure) return error(fmt::format("LUMEN_DUMP: cannot make the folder {}: {}", files.dump_, failure.message()));
  }
  if (!overrides.empty()) {
    files.overrides_ = overrides + "/" + name;
    for (const auto& entry : fs::directory_iterator(files.overrides_, failure)) {
      files.present_.insert(entry.path().filename().string());
    }
    files.unread_ = files.present_;
    if (failure) {
      return error(
          fmt::format("LUMEN_OVERRIDE={} has no folder {} for this graph: {}", overrides, name, failure.message()));
    }
  }
  return files;
}

Expected<void> StageFiles::write(const std::string& name, std::string_view text) const {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return write_file(dump_ + "/" + name, std::span(&bytes, 1));
}

Expected<std::optional<std::string>> StageFiles::read(const std::string& name) {
  if (!present_.contains(name)) return std::optional<std::string>();
  unread_.erase(name);
  const MappedFile file = LUMEN_TRY(MappedFile::open(overrides_ + "/" + name));
  return std::optional(std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()));
}

Expected<std::shared_ptr<const Graph>> StageFiles::read_graph(const std::string& name, const Graph& like,
                                                              const OpTable& ops, const Stage& stage) {
  const std::optional<std::string> text = LUMEN_TRY(read(name));
  if (!text) return std::shared_ptr<const Graph>();
  std::shared_ptr<const Graph> given = LUMEN_TRY(parse(*text, ops, overrides_ + "/" + name));
  const Expected<void> verified = lumen::verify(*given, stage);
  if (!verified.ok()) return error(fmt::format("{}/{}: {}", overrides_, name, verified.diag().str()));
  if (interface_of(*given) == interface_of(like)) return given;
  return error(fmt::format("{}/{}: a graph with other inputs, outputs or dims: {}", overrides_, name,
                           interface_of(*given)))
      .note("it stands for one with " + interface_of(like));
}

Expected<std::shared_ptr<const Graph>> StageFiles::graph(const std::shared_ptr<const Graph>& graph) {
  const std::shared_ptr<const Graph> given =
      LUMEN_TRY(read_graph(std::string(kGraph), *graph, hlir_ops(), hlir_stage()));
  const std::shared_ptr<const Graph> result = given ? given : graph;
  if (!dump_.empty()) LUMEN_TRY(write(std::string(kGraph), print(*result)));
  return result;
}

Expected<void> StageFiles::enter_part(size_t part, const Graph& body) {
  prefix_ = fmt::format("part{}.", part);
  const std::string name = prefix_ + std::string(kGraph);
  const std::optional<std::string> given = LUMEN_TRY(read(name));
  if (given && *given != print(body)) {
    return error(fmt::format("{}/{}: not the part that {} is cut into; edit that instead", overrides_, name, kGraph));
  }
  return dump_.empty() ? Expected<void>() : write(name, print(body));
}

Expected<std::shared_ptr<const Graph>> StageFiles::rewritten(const Graph& graph) {
  return read_graph(prefix_ + std::string(kRewritten), graph, llir_ops(), llir_stage());
}

Expected<Decisions> StageFiles::decisions(const Graph& program, const Target& target) {
  Decisions decided;
  const std::string groups_name = prefix_ + std::string(kGroups), schedules_name = prefix_ + std::string(kSchedules);
  if (const std::optional<std::string> text = LUMEN_TRY(read(groups_name))) {
    if (!fs::exists(overrides_ + "/" + prefix_ + std::string(kRewritten))) {
      return error(fmt::format("{}/{} needs {}{} beside it, whose values it names", overrides_, groups_name, prefix_,
                               kRewritten));
    }
    ParsedGroups parsed = LUMEN_TRY(parse_groups(*text, Reads(program), overrides_ + "/" + groups_name));
    decided.groups = std::move(parsed.groups);
    decided.left = std::move(parsed.left);
    const Reads reads(program, decided.left);
    for (const Group& group : *decided.groups)
      LUMEN_TRY(check_group(reads, group, target, overrides_ + "/" + groups_name));
  }
  if (const std::optional<std::string> text = LUMEN_TRY(read(schedules_name))) {
    decided.schedules = LUMEN_TRY(parse_schedules(*text, overrides_ + "/" + schedules_name));
    decided.file = overrides_ + "/" + schedules_name;
  }
  return decided;
}

Expected<void> StageFiles::finish(Lowered& lowered, std::span<const std::shared_ptr<const Graph>> others) {
  for (size_t k = 0; k < lowered.names.size(); ++k) {
    ProgramKernel& kernel = lowered.program.kernels[k];
    const std::string name = lowered.names[k] + ".c";
    const std::optional<std::string> text = LUMEN_TRY(read(name));
    if (!text) continue;
    for (const KernelStep& step : kernel.text.steps) {
      if (step.product || text->find(step.name) != std::string::npos) continue;
      return error(fmt::format("{}/{}: the kernel has a step {}, which the text lacks", overrides_, name, step.name));
    }
    kernel.text.text = *text;
  }
  return dump_.empty() ? Expected<void>() : dump(lowered, others);
}

Expected<void> StageFiles::dump(const Lowered& lowered, std::span<const std::shared_ptr<const Graph>> others) {
  const Program& program = lowered.program;
  for (size_t k = 0; k < lowered.names.size(); ++k) {
    const ProgramKernel& kernel = program.kernels[k];
    names_[print(*kernel.body)] = lowered.names[k];
    if (!kernel.text.text.empty()) LUMEN_TRY(write(lowered.names[k] + ".c", kernel.text.text));
    LUMEN_TRY(write(lowered.names[k] + ".llir", print(*kernel.body)));
  }
  LUMEN_TRY(write(prefix_ + std::string(kRewritten), print(*program.graph)));
  LUMEN_TRY(write(prefix_ + std::string(kGroups), print_groups(Reads(*program.graph, lowered.left), lowered.groups)));
  LUMEN_TRY(write(prefix_ + std::string(kSchedules), print_schedules(lowered.names, program.kernels)));
  size_t number = 0;
  for (const std::shared_ptr<const Graph>& other : others) {
    LUMEN_TRY(write(fmt::format("{}candidate{}.llir", prefix_, ++number), print(*other)));
  }
  return {};
}

Expected<void> StageFiles::plan(Program& program) {
  if (const std::optional<std::string> text = LUMEN_TRY(read(std::string(kPlan)))) {
    const std::string file = overrides_ + "/" + std::string(kPlan);
    program.plan = LUMEN_TRY(parse_plan(*text, program, file));
    const Expected<void> checked = check_memory(program);
    if (!checked.ok()) return error(fmt::format("{}: {}", file, checked.diag().message));
  }
  if (dump_.empty()) return {};
  std::vector<std::string> names;
  for (const ProgramKernel& kernel : program.kernels) names.push_back(names_[print(*kernel.body)]);
  return write(std::string(kPlan), print_plan(program, names));
}

Expected<void> StageFiles::check_all_read() const {
  for (const std::string& name : unread_) {
    if (!is_only_to_read(name)) {
      return error(fmt::format("{}/{} belongs to no stage, part or kernel of this program", overrides_, name));
    }
  }
  return {};
}

}  // namespace lumen::search
