#include "tests/egraph/corpus.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string join(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : between) + parts[i];
  return text;
}

// The folder a program runs in; the current one until this goes.
class Folder {
 public:
  explicit Folder(const fs::path& program) : before_(fs::current_path()) {
    const bool fails = program.parent_path().filename() == "fail";
    const fs::path topic = fails ? program.parent_path().parent_path() : program.parent_path();
    fs::path here = program.parent_path();
    if (fs::is_directory(topic / "data")) {
      std::string name = (fs::temp_directory_path() / "egg-XXXXXX").string();
      scratch_ = here = mkdtemp(name.data());
      fs::copy(topic / "data", here / "data", fs::copy_options::recursive);
      fs::copy(program, here);
    }
    for (const auto& entry : fs::recursive_directory_iterator(here)) given_.push_back(entry.path());
    fs::current_path(here);
  }
  ~Folder() {
    fs::current_path(before_);
    if (!scratch_.empty()) fs::remove_all(scratch_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string written() const {
    if (scratch_.empty()) return {};
    std::vector<std::string> parts;
    for (const auto& entry : fs::recursive_directory_iterator(scratch_)) {
      if (!entry.is_regular_file() || std::find(given_.begin(), given_.end(), entry.path()) != given_.end()) continue;
      parts.push_back("; file " + fs::relative(entry.path(), scratch_).string() + "\n" + read_text(entry.path()));
    }
    std::sort(parts.begin(), parts.end());
    return join(parts, "");
  }

 private:
  fs::path before_;
  fs::path scratch_;
  std::vector<fs::path> given_;
};

// Reads one term at `at` and gives it with the elements of sets, multisets and maps in the order of their text.
std::string ordered_term(const std::string& line, size_t& at) {
  const auto skip = [&] { at = std::min(line.find_first_not_of(' ', at), line.size()); };
  skip();
  const size_t start = at;
  if (line[at] == '"') {
    at = std::min(line.find('"', at + 1), line.size() - 1) + 1;
    return line.substr(start, at - start);
  }
  if (line[at] != '(') {
    at = std::min(line.find_first_of(" ()", std::max(at, start + 1)), line.size());
    return line.substr(start, at - start);
  }
  std::vector<std::string> items;
  ++at;
  for (skip(); at < line.size() && line[at] != ')'; skip()) items.push_back(ordered_term(line, at));
  ++at;
  const std::string head = items.empty() ? "" : items[0];
  if (head == "set-of" || head == "multiset-of") std::sort(items.begin() + 1, items.end());
  if (head == "map-insert" && items.size() == 4) {
    std::string& inner = items[1];  // "(map-empty)" or "{k v}{k v}", sorted
    std::vector<std::string> entries{"{" + items[2] + " " + items[3] + "}"};
    static const std::regex entry("\\{[^{}]*\\}");
    for (std::sregex_iterator e(inner.begin(), inner.end(), entry), end; e != end; ++e) entries.push_back(e->str());
    std::sort(entries.begin(), entries.end());
    return join(entries, "");
  }
  return "(" + join(items, " ") + ")";
}

std::string ordered_line(const std::string& line) {
  if (line.find("set-of") == std::string::npos && line.find("map-insert") == std::string::npos) return line;
  std::vector<std::string> terms;
  for (size_t at = 0; at < line.size();) terms.push_back(ordered_term(line, at));
  return join(terms, " ");
}

std::string without_times(const std::string& text) {
  static const std::regex times("[0-9]+\\.[0-9]+s");
  return std::regex_replace(text, times, "_s");
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Outcome::text() const {
  return without_times(join(outputs, "")) + files + (error.empty() ? "" : error + "\n");
}

std::vector<fs::path> programs_of(const fs::path& topic) {
  std::vector<fs::path> programs;
  for (const fs::path& folder : {topic, topic / "fail"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".egg") programs.push_back(entry.path());
    }
  }
  std::sort(programs.begin(), programs.end());
  return programs;
}

std::optional<Outcome> run_program(const fs::path& program, const Treatment& treatment) {
  const std::string file = program.filename().string();
  std::string text = read_text(program);
  if (treatment.reparse) {
    const std::shared_ptr<Source> source = make_source(file, text);  // the commands live in it
    const auto commands = parse_program(source);
    if (!commands.ok()) return std::nullopt;
    text.clear();
    for (const Command& command : *commands) text += print_command(command) + "\n";
  }
  ProgramOptions options;
  options.run.threads = treatment.threads;
  options.run.parallel_from = 0;
  options.run.seminaive = treatment.seminaive;
  options.shuffle_rules = treatment.shuffle;
  options.echo_costs = true;
  Outcome outcome;
  const Folder folder(program);
  Program run(options, [&](std::string_view output) { outcome.outputs.emplace_back(output); });
  const Expected<void> result = run.run(make_source(file, text));
  if (!result.ok()) {
    outcome.error = result.diag().str();
    outcome.message = result.diag().message;
  }
  outcome.files = folder.written();
  return outcome;
}

std::vector<std::string> without_order(const std::vector<std::string>& outputs) {
  std::vector<std::string> result;
  for (const std::string& output : outputs) {
    if (output.starts_with("Overall statistics")) continue;
    std::vector<std::string> lines = lines_of(output);
    const bool has_cost = !lines.empty() && lines.back().starts_with("; cost ");
    if (has_cost && lines.size() == 2) {
      result.push_back(lines.back());
      continue;
    }
    for (std::string& line : lines) line = ordered_line(line);
    if (output.starts_with("(\n")) std::sort(lines.begin(), lines.end());
    result.push_back(join(lines, "\n"));
  }
  return result;
}

}  // namespace lumen::egraph
