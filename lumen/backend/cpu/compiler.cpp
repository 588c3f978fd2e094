#include "lumen/backend/cpu/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

#include "lumen/backend/cpu/process.h"
#include "lumen/backend/cpu/work_dir.h"
#include "lumen/base/log.h"

namespace lumen::cpu {
namespace {

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, part);
}

std::vector<std::string> functions_of(const Source& source) {
  std::vector<std::string> names = {source.name};
  names.insert(names.end(), source.others.begin(), source.others.end());
  return names;
}

// By name, so that the order in which kernels were found changes neither the files nor the key.
Expected<std::vector<const Source*>> sorted_sources(std::span<const Source> sources) {
  if (sources.empty()) return error("[cpu] no kernels to compile");
  std::vector<const Source*> sorted;
  for (const Source& source : sources) {
    for (const std::string& name : functions_of(source)) {
      if (!is_identifier(name)) return error(fmt::format("[cpu] the kernel name \"{}\" is not a C identifier", name));
    }
    sorted.push_back(&source);
  }
  std::ranges::sort(sorted, {}, [](const Source* s) -> const std::string& { return s->name; });
  const auto twice = std::ranges::adjacent_find(sorted, {}, [](const Source* s) { return s->name; });
  if (twice != sorted.end()) return error(fmt::format("[cpu] two kernels are called \"{}\"", (*twice)->name));
  return sorted;
}

struct CFile {
  std::string text;
  std::vector<const Source*> sources;
};

// As many as compilers run at once, about equally long. `#line` makes errors name the kernel.
std::vector<CFile> batch(std::span<const Source* const> sources, const std::string& prelude, size_t files) {
  std::vector<CFile> parts(std::min(files, sources.size()));
  for (CFile& part : parts) part.text = prelude.empty() ? "" : fmt::format("#line 1 \"prelude\"\n{}\n", prelude);
  std::vector<const Source*> longest_first(sources.begin(), sources.end());
  std::ranges::stable_sort(longest_first, std::greater<>(), [](const Source* s) { return s->text.size(); });
  for (const Source* source : longest_first) {
    CFile& shortest = *std::ranges::min_element(parts, {}, [](const CFile& part) { return part.text.size(); });
    shortest.text += fmt::format("#line 1 \"{}\"\n{}\n", source->name, source->text);
    shortest.sources.push_back(source);
  }
  return parts;
}

// Takes "name:3:14: " off the front of `line`.
Location take_place(std::string_view& line) {
  Location where;
  std::string_view rest = line;
  int* const numbers[] = {&where.line, &where.column};
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return {};
  where.file = rest.substr(0, colon);
  rest.remove_prefix(colon + 1);
  for (int* number : numbers) {
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), *number);
    if (status != std::errc() || end == rest.data() + rest.size() || *end != ':') return {};
    rest.remove_prefix(static_cast<size_t>(end - rest.data()) + 1);
  }
  line = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  return where;
}

// The first line with an error, or the first of all.
std::string_view first_error(std::string_view log) {
  std::string_view first;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    for (const char* word : {"error:", "undefined reference", "undefined symbol"}) {
      if (line.find(word) != std::string_view::npos) return line;
    }
    if (first.empty()) first = line;
    log.remove_prefix(std::min(log.size(), line.size() + 1));
  }
  return first;
}

struct Job {
  Command command;
  std::string source;  // name of the C file in the WorkDir
};

// What a failed compiler said; keeps the C file it failed on.
Diag failure(const Job& job, const Outcome& outcome, std::chrono::milliseconds limit, WorkDir& work) {
  const Expected<std::string> log = read_file(job.command.log);
  std::string_view line = log.ok() ? first_error(*log) : std::string_view();
  Diag diag;
  if (outcome.end == Outcome::End::exited && !line.empty()) {
    diag.where = take_place(line);
    diag.message = fmt::format("[cpu] {}", line);
  } else {
    diag.message = fmt::format("[cpu] the C compiler {}", outcome.str(limit));
  }
  std::string text;
  for (const std::string& word : job.command.argv) text += (text.empty() ? "" : " ") + word;
  diag.notes = {"command: " + text, "source: " + work.keep_only(job.source)};
  return diag;
}

Expected<> run_jobs(const std::vector<Job>& jobs, int at_once, std::chrono::milliseconds limit, WorkDir& work) {
  std::vector<Command> commands;
  for (const Job& job : jobs) commands.push_back(job.command);
  const std::vector<Outcome> outcomes = run_commands(commands, at_once, limit);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!outcomes[i].ok()) return failure(jobs[i], outcomes[i], limit, work);
  }
  return {};
}

// Each function in a section of its own, of which the linker takes those that are asked for.
constexpr const char* kObjectFlags[] = {"-ffunction-sections", "-fdata-sections"};
constexpr const char* kLinkFlags[] = {"-shared", "-Wl,-z,defs", "-Wl,--gc-sections", "-lm"};
constexpr const char* kLibrary = "kernels.so";

// Lengths keep the parts apart.
std::string joined(std::span<const std::string> parts) {
  std::string content;
  for (const std::string& part : parts) content += fmt::format("{} {}\n", part.size(), part);
  return content;
}

// Runs of the compiler for one library, in a folder of their own.
class Build {
 public:
  Build(std::vector<std::string> program_and_flags, int at_once, std::chrono::milliseconds limit, WorkDir work)
      : command_(std::move(program_and_flags)), at_once_(at_once), limit_(limit), work_(std::move(work)) {}

  // The bytes of an object for each file.
  Expected<std::vector<std::string>> compile(std::span<const CFile> files) {
    std::vector<Job> jobs;
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string name = fmt::format("kernels-{}", i);
      LUMEN_TRY(write_file(work_.file(name + ".c"), files[i].text));
      Job& job = jobs.emplace_back(Job{{command_, work_.file(name + ".log")}, name + ".c"});
      job.command.argv.insert(job.command.argv.end(), std::begin(kObjectFlags), std::end(kObjectFlags));
      for (std::string word :
           {work_.file(name + ".c"), std::string("-c"), std::string("-o"), work_.file(name + ".o")}) {
        job.command.argv.push_back(std::move(word));
      }
    }
    LUMEN_TRY(run_jobs(jobs, at_once_, limit_, work_));
    std::vector<std::string> objects;
    for (size_t i = 0; i < files.size(); ++i) {
      Expected<std::string> object = read_file(work_.file(fmt::format("kernels-{}.o", i)));
      if (!object.ok()) return std::move(object).take_diag().note("source: " + work_.keep_only(jobs[i].source));
      objects.push_back(std::move(*object));
    }
    return objects;
  }

  // A library of these names only.
  Expected<std::shared_ptr<Library>> link(std::span<const std::string_view> objects,
                                          std::span<const Source* const> sources) {
    Job job{{{command_[0]}, work_.file("link.log")}, "kernels-0.c"};
    for (size_t i = 0; i < objects.size(); ++i) {
      const std::string file = work_.file(fmt::format("linked-{}.o", i));
      LUMEN_TRY(write_file(file, objects[i]));
      job.command.argv.push_back(file);
    }
    std::string names = "{ global: ";
    for (const Source* source : sources) {
      for (const std::string& name : functions_of(*source)) names += name + "; ";
    }
    LUMEN_TRY(write_file(work_.file("names"), names + "local: *; };\n"));
    job.command.argv.insert(job.command.argv.end(),
                            {"-o", work_.file(kLibrary), "-Wl,--version-script=" + work_.file("names")});
    job.command.argv.insert(job.command.argv.end(), std::begin(kLinkFlags), std::end(kLinkFlags));
    LUMEN_TRY(run_jobs({job}, 1, limit_, work_));
    Expected<std::shared_ptr<Library>> library = Library::open(work_.file(kLibrary));
    if (library.ok()) return library;
    return std::move(library).take_diag().note("source: " + work_.keep_only("kernels-0.c"));
  }

 private:
  std::vector<std::string> command_;
  int at_once_;
  std::chrono::milliseconds limit_;
  WorkDir work_;
};

}  // namespace

Expected<std::shared_ptr<Library>> Compiler::compile(std::span<const Source> sources,
                                                     const CompileOptions& options) const {
  const std::vector<const Source*> sorted = LUMEN_TRY(sorted_sources(sources));
  std::vector<std::string> program_and_flags = {path_};
  program_and_flags.insert(program_and_flags.end(), flags_.begin(), flags_.end());
  program_and_flags.insert(program_and_flags.end(), options.flags.begin(), options.flags.end());

  // The layout of the files is in no key, because it does not change the functions.
  std::vector<std::string> setting = {version_, std::string(level_name(target_.level)), options.prelude};
  setting.insert(setting.end(), program_and_flags.begin(), program_and_flags.end());
  setting.insert(setting.end(), std::begin(kObjectFlags), std::end(kObjectFlags));
  setting.insert(setting.end(), std::begin(kLinkFlags), std::end(kLinkFlags));
  const CacheKey setting_key = CacheKey::of(joined(setting));
  std::vector<MadeObject::Kernel> kernels;
  std::vector<std::string> content = {setting_key.hex()};
  for (const Source* source : sorted) {
    std::vector<std::string> parts = functions_of(*source);
    parts.insert(parts.end(), {source->text, setting_key.hex()});
    kernels.push_back({functions_of(*source), CacheKey::of(joined(parts))});
    content.push_back(kernels.back().key.hex());
  }
  const CacheKey key = CacheKey::of(joined(content));
  if (cache_ != nullptr) {
    if (const auto path = cache_->find(key)) {
      Expected<std::string> object = ObjectCache::read(*path);
      Expected<std::shared_ptr<Library>> library =
          object.ok() ? Library::open(*path, std::move(*object)) : std::move(object).take_diag();
      if (library) return library;
      // Evicted just now, or made where the system's libraries are newer.
      LUMEN_LOG(2, library.diag().message);
      cache_->drop(key);
    }
  }

  MadeObjects::Found found;
  if (options.reuse) found = made_->find(kernels);
  std::vector<const Source*> missing;
  for (size_t k = 0; k < sorted.size(); ++k) {
    if (!options.reuse || std::ranges::find(found.missing, k) != found.missing.end()) missing.push_back(sorted[k]);
  }
  const int at_once = options.jobs > 0 ? options.jobs : cpu().cores;
  const std::vector<CFile> files = batch(missing, options.prelude, static_cast<size_t>(at_once));
  Build build(program_and_flags, at_once, options.limit, LUMEN_TRY(WorkDir::make()));
  std::vector<std::string> made = LUMEN_TRY(build.compile(files));
  std::vector<std::string_view> objects(made.begin(), made.end());
  for (const std::shared_ptr<const MadeObject>& object : found.objects) objects.push_back(object->bytes);
  std::shared_ptr<Library> library = LUMEN_TRY(build.link(objects, sorted));
  for (size_t i = 0; i < files.size() && options.reuse; ++i) {
    MadeObject object{{}, std::move(made[i])};
    for (const Source* source : files[i].sources) {
      const auto at = std::ranges::find(sorted, source) - sorted.begin();
      object.kernels.push_back(kernels[static_cast<size_t>(at)]);
    }
    made_->add(std::move(object));
  }
  if (cache_ != nullptr && found.objects.empty()) cache_->store(key, library->object());
  return library;
}

}  // namespace lumen::cpu
