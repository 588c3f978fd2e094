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

// By name, so that the order in which kernels were found changes neither the files nor the key.
Expected<std::vector<const Source*>> sorted_sources(std::span<const Source> sources) {
  if (sources.empty()) return error("[cpu] no kernels to compile");
  std::vector<const Source*> sorted;
  for (const Source& source : sources) {
    if (!is_identifier(source.name)) {
      return error(fmt::format("[cpu] the kernel name \"{}\" is not a C identifier", source.name));
    }
    sorted.push_back(&source);
  }
  std::ranges::sort(sorted, {}, [](const Source* s) -> const std::string& { return s->name; });
  const auto twice = std::ranges::adjacent_find(sorted, {}, [](const Source* s) { return s->name; });
  if (twice != sorted.end()) return error(fmt::format("[cpu] two kernels are called \"{}\"", (*twice)->name));
  return sorted;
}

// The C files: as many as compilers run at once, about equally long. `#line` makes errors name the kernel.
std::vector<std::string> batch(std::span<const Source* const> sources, const std::string& prelude, size_t files) {
  std::vector<std::vector<const Source*>> parts(std::min(files, sources.size()));
  std::vector<size_t> lengths(parts.size(), 0);
  std::vector<const Source*> longest_first(sources.begin(), sources.end());
  std::ranges::stable_sort(longest_first, std::greater<>(), [](const Source* s) { return s->text.size(); });
  for (const Source* source : longest_first) {
    const auto shortest = static_cast<size_t>(std::ranges::min_element(lengths) - lengths.begin());
    parts[shortest].push_back(source);
    lengths[shortest] += source->text.size() + 1;
  }
  std::vector<std::string> texts;
  for (const auto& part : parts) {
    std::string text = prelude.empty() ? "" : fmt::format("#line 1 \"prelude\"\n{}\n", prelude);
    for (const Source* source : part) text += fmt::format("#line 1 \"{}\"\n{}\n", source->name, source->text);
    texts.push_back(std::move(text));
  }
  return texts;
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

constexpr const char* kLinkFlags[] = {"-shared", "-Wl,-z,defs", "-lm"};
constexpr const char* kLibrary = "kernels.so";

// From C files to work.file(kLibrary). One file is compiled and linked by one command.
Expected<> build(const std::vector<std::string>& texts, const std::vector<std::string>& program_and_flags, int at_once,
                 std::chrono::milliseconds limit, WorkDir& work) {
  std::vector<Job> jobs;
  Job link{{{program_and_flags[0]}, work.file("link.log")}, "kernels-0.c"};
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string name = fmt::format("kernels-{}", i), object = work.file(name + ".o");
    LUMEN_TRY(write_file(work.file(name + ".c"), texts[i]));
    Job job{{program_and_flags, work.file(name + ".log")}, name + ".c"};
    job.command.argv.push_back(work.file(name + ".c"));
    if (texts.size() > 1) job.command.argv.insert(job.command.argv.end(), {"-c", "-o", object});
    jobs.push_back(std::move(job));
    link.command.argv.push_back(object);
  }
  Job& last = texts.size() > 1 ? link : jobs[0];
  last.command.argv.insert(last.command.argv.end(), {"-o", work.file(kLibrary)});
  last.command.argv.insert(last.command.argv.end(), std::begin(kLinkFlags), std::end(kLinkFlags));
  LUMEN_TRY(run_jobs(jobs, at_once, limit, work));
  if (texts.size() > 1) LUMEN_TRY(run_jobs({link}, 1, limit, work));
  return {};
}

}  // namespace

Expected<std::shared_ptr<Library>> Compiler::compile(std::span<const Source> sources,
                                                     const CompileOptions& options) const {
  const std::vector<const Source*> sorted = LUMEN_TRY(sorted_sources(sources));
  std::vector<std::string> program_and_flags = {path_};
  program_and_flags.insert(program_and_flags.end(), flags_.begin(), flags_.end());
  program_and_flags.insert(program_and_flags.end(), options.flags.begin(), options.flags.end());

  // Lengths keep the parts apart; the layout of the files is not in it, because it does not change the functions.
  std::string content = fmt::format("{}\n{}\n", version_, level_name(target_.level));
  const auto add = [&](const std::string& text) { content += fmt::format("{} {}\n", text.size(), text); };
  for (const std::string& word : program_and_flags) add(word);
  for (const char* word : kLinkFlags) add(word);
  add(options.prelude);
  for (const Source* source : sorted) {
    add(source->name);
    add(source->text);
  }
  const CacheKey key = CacheKey::of(content);
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

  WorkDir work = LUMEN_TRY(WorkDir::make());
  const int at_once = options.jobs > 0 ? options.jobs : cpu().cores;
  const std::vector<std::string> texts = batch(sorted, options.prelude, static_cast<size_t>(at_once));
  LUMEN_TRY(build(texts, program_and_flags, at_once, options.limit, work));
  const std::string made = work.file(kLibrary);
  Expected<std::shared_ptr<Library>> library = Library::open(made);
  if (!library) return std::move(library).take_diag().note("source: " + work.keep_only("kernels-0.c"));
  if (cache_ != nullptr) cache_->store(key, LUMEN_TRY(read_file(made)));
  return library;
}

}  // namespace lumen::cpu
