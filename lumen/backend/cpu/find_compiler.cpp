// Which compiler, and which flags it takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/process.h"
#include "lumen/backend/cpu/work_dir.h"
#include "lumen/base/flags.h"
#include "lumen/base/log.h"

namespace lumen::cpu {
namespace {

// What `program --version` prints first.
Expected<std::string> ask_version(const std::string& program, std::chrono::milliseconds limit, const WorkDir& work) {
  const Command command{{program, "--version"}, work.file("version")};
  const Outcome outcome = run_commands({&command, 1}, 1, limit)[0];
  if (!outcome.ok()) return error(fmt::format("`{} --version` {}", program, outcome.str(limit)));
  const std::string text = LUMEN_TRY(read_file(command.log));
  std::string line = text.substr(0, text.find('\n'));
  if (line.empty()) return error(fmt::format("`{} --version` printed nothing", program));
  return line;
}

// Flags that a compiler may be too old for, and what it means to do without them.
struct Extension {
  std::vector<std::string> flags;
  void (*forget)(CpuFeatures& f);
};

void lower(CpuFeatures& f, Level level) {
  if (f.level > level) f = f.as_if(level).value();
}

std::vector<Extension> extensions(const CpuFeatures& f) {
  std::vector<Extension> out;
  const auto add = [&](bool has, std::vector<std::string> flags, void (*forget)(CpuFeatures&)) {
    if (has) out.push_back({std::move(flags), forget});
  };
  add(f.avx2, {"-mavx2", "-mfma", "-mf16c"}, [](CpuFeatures& t) { lower(t, Level::generic); });
  add(f.avx512, {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"},
      [](CpuFeatures& t) { lower(t, Level::avx2); });
  add(f.avx512_vnni, {"-mavx512vnni"}, [](CpuFeatures& t) { t.avx512_vnni = false; });
  add(f.avx512_bf16, {"-mavx512bf16"}, [](CpuFeatures& t) { t.avx512_bf16 = false; });
  add(f.avx512_fp16, {"-mavx512fp16"}, [](CpuFeatures& t) { t.avx512_fp16 = false; });
  add(f.amx_tile, {"-mamx-tile", "-mamx-bf16", "-mamx-int8"}, [](CpuFeatures& t) { lower(t, Level::avx512); });
  add(f.dotprod, {"-march=armv8.2-a+dotprod"}, [](CpuFeatures& t) { t.dotprod = false; });
  return out;
}

std::vector<std::string> all_flags(std::span<const Extension> list) {
  std::vector<std::string> out;
  for (const Extension& e : list) out.insert(out.end(), e.flags.begin(), e.flags.end());
  return out;
}

// Whether each of these flag lists compiles an empty file.
std::vector<Outcome> try_flags(const std::string& program, std::span<const std::vector<std::string>> lists,
                               std::chrono::milliseconds limit, const WorkDir& work) {
  std::vector<Command> commands;
  for (const auto& list : lists) {
    Command command{{program, "-Werror"}, work.file(fmt::format("flags-{}", commands.size()))};
    command.argv.insert(command.argv.end(), list.begin(), list.end());
    for (const char* word : {"-fsyntax-only", "-x", "c", "/dev/null"}) command.argv.emplace_back(word);
    commands.push_back(std::move(command));
  }
  return run_commands(commands, cpu().cores, limit);
}

// Those that the compiler knows, with one question in the usual case; `target` loses the others.
std::vector<std::string> accepted_flags(const std::string& program, CpuFeatures& target,
                                        std::chrono::milliseconds limit, const WorkDir& work) {
  const std::vector<Extension> wanted = extensions(target);
  const std::vector<std::string> together = all_flags(wanted);
  if (wanted.empty() || try_flags(program, {&together, 1}, limit, work)[0].ok()) return together;
  std::vector<std::vector<std::string>> lists;
  for (const Extension& e : wanted) lists.push_back(e.flags);
  const std::vector<Outcome> each = try_flags(program, lists, limit, work);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (each[i].ok()) continue;
    LUMEN_LOG(1, fmt::format("{} does not know {}", program, fmt::join(wanted[i].flags, " ")));
    wanted[i].forget(target);
  }
  // A lost level takes its extras with it.
  return all_flags(extensions(target));
}

// Kernels are checked against the reference with a tolerance, so contraction is welcome; NaN and infinity keep their
// meaning. Emitted code reads memory as other types. No math function sets errno for anyone.
constexpr const char* kBaseFlags[] = {"-std=gnu11",
                                      "-O3",
                                      "-fPIC",
                                      "-w",
                                      "-ffp-contract=fast",
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fno-strict-aliasing",
                                      "-fno-plt",
                                      "-fno-stack-protector"};

}  // namespace

CompilerSearch CompilerSearch::from_flags() {
  CompilerSearch search;
  search.cc = lumen::flags().cc;
  search.path = lumen::flags().path;
  return search;
}

Expected<Compiler> Compiler::find(const CompilerSearch& search, const CpuFeatures& features,
                                  std::shared_ptr<ObjectCache> cache) {
  const WorkDir work = LUMEN_TRY(WorkDir::make());
  std::vector<std::string> names = {"gcc", "clang", "cc"};
  if (!search.cc.empty()) names = {search.cc};
  Diag nothing = error(
      search.cc.empty() ? fmt::format("[cpu] no C compiler found: tried {} in PATH=\"{}\"; install one or set LUMEN_CC",
                                      fmt::join(names, ", "), search.path)
                        : fmt::format("[cpu] no C compiler found: LUMEN_CC is \"{}\"", search.cc));
  for (const std::string& name : names) {
    Compiler found;
    found.path_ = find_program(name, search.path);
    if (found.path_.empty()) {
      nothing.notes.push_back(fmt::format("{}: no such program", name));
      continue;
    }
    Expected<std::string> version = ask_version(found.path_, search.limit, work);
    if (!version) {
      nothing.notes.push_back(version.diag().message);
      continue;
    }
    found.version_ = *version;
    found.flags_.assign(std::begin(kBaseFlags), std::end(kBaseFlags));
    found.target_ = features;
    for (std::string& flag : accepted_flags(found.path_, found.target_, search.limit, work)) {
      found.flags_.push_back(std::move(flag));
    }
    found.cache_ = std::move(cache);
    LUMEN_LOG(
        1, fmt::format("C compiler: {} ({}), level {}", found.path_, found.version_, level_name(found.target_.level)));
    return found;
  }
  return nothing;
}

}  // namespace lumen::cpu
