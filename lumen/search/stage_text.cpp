#include "lumen/search/stage_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "lumen/ir/text.h"
#include "lumen/kernel/carve.h"
#include "lumen/kernel/title.h"
#include "lumen/search/tuning_entry.h"

namespace lumen::search {

namespace {

constexpr size_t kNameDigits = 12;
constexpr std::string_view kInterpreted = "interpreted";
constexpr std::string_view kReaders = "readers";
constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

Diag error_at(std::string_view file, int line, std::string message) {
  return Diag{std::move(message), {std::string(file), line, 1}, {}};
}

struct Line {
  int number;
  std::string_view name, rest;
};

// "name: rest" lines; # begins a comment.
Expected<std::vector<Line>> lines_of(std::string_view text, std::string_view file) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return error_at(file, number, fmt::format("expected `NAME: …`, got `{}`", line));
    }
    lines.push_back({number, trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))});
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trimmed(text)).empty()) {
    const size_t end = std::min(text.find_first_of(kBlank), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// The number that follows `prefix`, which is the rest of the text.
std::optional<size_t> numbered(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  size_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Expected<NodeId> value_named(std::string_view word, const Reads& reads, std::string_view file, int line) {
  const std::optional<size_t> number = numbered("%", word);
  if (!number || *number >= reads.order().size()) {
    return error_at(file, line,
                    fmt::format("the graph has no value {}: it has %0 to %{}", word, reads.order().size() - 1));
  }
  const NodeId id = reads.order()[*number];
  if (!reads.computes(id)) {
    return error_at(file, line,
                    fmt::format("{} is a {}, which is no kernel's: whoever reads it computes it", word,
                                reads.graph()[id].op->name));
  }
  return id;
}

std::string slot_text(uint32_t slot) { return fmt::format("slot {}", slot); }

bool has_scratch(const Program& program, size_t call) {
  return program.kernels[program.calls[call].kernel].text.scratch != Expr(0);
}

std::string home_text(const Program& program, uint32_t value) {
  const Home& home = program.homes[value];
  switch (home.kind) {
    case Home::Kind::input:
      return fmt::format("input {}", home.number);
    case Home::Kind::output:
      return fmt::format("output {}", home.number);
    case Home::Kind::arena:
      return slot_text(program.plan.slots[home.number]);
  }
  return "";
}

}  // namespace

std::string kernel_name(const Graph& body) { return "k" + kernel_hash(print(body)).substr(0, kNameDigits); }

std::string print_groups(const Reads& reads, std::span<const Group> groups) {
  std::string text =
      "# The values of rewritten.llir that each kernel computes. Views, constants and the like are in none: whoever "
      "reads\n# them computes them.\n";
  if (!reads.left().empty()) text += std::string(kReaders) + ":";
  for (const NodeId id : reads.left()) text += fmt::format(" %{}", reads.position(id));
  if (!reads.left().empty()) text += "  # computed by whoever reads it, too\n";
  for (const Group& group : groups) {
    const Carved carved = carve(reads.graph(), reads.with_free(group), reads.results_of(group));
    text += kernel_name(*carved.body) + ":";
    for (const NodeId id : group) text += fmt::format(" %{}", reads.position(id));
    text += fmt::format("  # {}\n", kernel_title(*carved.body));
  }
  return text;
}

Expected<ParsedGroups> parse_groups(std::string_view text, const Reads& reads, std::string_view file) {
  ParsedGroups parsed;
  std::map<NodeId, int> line_of;
  for (const Line& line : LUMEN_TRY(lines_of(text, file))) {
    Group& group = line.name == kReaders ? parsed.left : parsed.groups.emplace_back();
    for (const std::string_view word : words_of(line.rest)) {
      const NodeId id = LUMEN_TRY(value_named(word, reads, file, line.number));
      const auto [known, is_new] = line_of.emplace(id, line.number);
      if (!is_new) {
        return error_at(file, line.number, fmt::format("{} is in line {} already", word, known->second));
      }
      group.push_back(id);
    }
    if (group.empty()) return error_at(file, line.number, fmt::format("kernel {} has no values", line.name));
    reads.sort(group);
  }
  for (const NodeId id : reads.order()) {
    if (!reads.computes(id) || line_of.contains(id)) continue;
    return error(fmt::format("{}: %{} ({}) is in no kernel", file, reads.position(id), reads.graph()[id].op->name));
  }
  for (const NodeId id : parsed.left) {
    if (!reads.is_result(id)) continue;
    return error(fmt::format("{}: %{} is an output, which cannot be left to readers", file, reads.position(id)));
  }
  return parsed;
}

std::string print_schedules(std::span<const std::string> names, std::span<const ProgramKernel> kernels) {
  std::string text = "# How each kernel runs.\n";
  for (size_t k = 0; k < kernels.size(); ++k) {
    text += fmt::format("{}: {}  # {}\n", names[k], kernels[k].schedule.empty() ? kInterpreted : kernels[k].schedule,
                        kernel_title(*kernels[k].body));
  }
  return text;
}

Expected<Schedules> parse_schedules(std::string_view text, std::string_view file) {
  Schedules schedules;
  for (const Line& line : LUMEN_TRY(lines_of(text, file))) {
    if (line.rest.empty()) return error_at(file, line.number, fmt::format("kernel {} has no schedule", line.name));
    const std::string schedule(line.rest == kInterpreted ? "" : line.rest);
    if (!schedules.emplace(line.name, schedule).second) {
      return error_at(file, line.number, fmt::format("kernel {} has two schedules", line.name));
    }
  }
  return schedules;
}

std::string print_plan(const Program& program, std::span<const std::string> names) {
  std::string text = fmt::format(
      "# {} calls of {} kernels, in order. What is neither input nor output lives in slots of one arena, each as large "
      "as what\n# lives there in turn.\n",
      program.calls.size(), program.kernels.size());
  for (size_t k = 0; k < program.calls.size(); ++k) {
    const ProgramCall& call = program.calls[k];
    text += fmt::format("# call {}: {} {}\n", k, names[call.kernel], kernel_title(*program.kernels[call.kernel].body));
    for (const uint32_t value : call.operands) {
      text += fmt::format("#   reads v{} {} in {}\n", value, program.values[value].str(), home_text(program, value));
    }
    for (const uint32_t value : call.results) {
      const bool inner = program.homes[value].kind == Home::Kind::arena;
      text += inner ? fmt::format("v{}: {}  # {}\n", value, home_text(program, value), program.values[value].str())
                    : fmt::format("#   makes v{} {} in {}\n", value, program.values[value].str(),
                                  home_text(program, value));
    }
    if (has_scratch(program, k)) {
      text += fmt::format("scratch{}: {}\n", k, slot_text(program.plan.slots[program.inner.size() + k]));
    }
  }
  for (const ProgramCopy& copy : program.copies) {
    text +=
        fmt::format("# output \"{}\" is a copy of v{}\n", program.graph->outputs()[copy.output].name.str(), copy.value);
  }
  return text;
}

Expected<MemoryPlan> parse_plan(std::string_view text, const Program& program, std::string_view file) {
  std::map<std::string, size_t, std::less<>> places;  // in plan.slots, by name
  for (size_t k = 0; k < program.inner.size(); ++k) places[fmt::format("v{}", program.inner[k])] = k;
  for (size_t k = 0; k < program.calls.size(); ++k) {
    if (has_scratch(program, k)) places[fmt::format("scratch{}", k)] = program.inner.size() + k;
  }
  MemoryPlan plan = program.plan;
  std::map<size_t, int> line_of;  // by place
  for (const Line& line : LUMEN_TRY(lines_of(text, file))) {
    const auto place = places.find(line.name);
    if (place == places.end()) {
      return error_at(file, line.number, fmt::format("the arena of this program has no {}", line.name));
    }
    const auto [known, is_new] = line_of.emplace(place->second, line.number);
    if (!is_new) return error_at(file, line.number, fmt::format("{} is in line {} already", line.name, known->second));
    // More slots than things to put there are of no use.
    const std::optional<size_t> slot = numbered("slot ", line.rest);
    if (!slot || *slot >= plan.slots.size()) {
      return error_at(file, line.number,
                      fmt::format("expected `slot 0` to `slot {}`, got `{}`", plan.slots.size() - 1, line.rest));
    }
    plan.slots[place->second] = static_cast<uint32_t>(*slot);
  }
  for (const auto& [name, place] : places) {
    if (!line_of.contains(place)) return error(fmt::format("{}: {} has no slot", file, name));
  }
  // Scratch of no bytes is out of the way.
  plan.count = static_cast<uint32_t>(plan.slots.size());
  for (size_t k = 0; k < program.calls.size(); ++k) {
    if (!has_scratch(program, k)) plan.slots[program.inner.size() + k] = plan.count++;
  }
  return plan;
}

}  // namespace lumen::search
