#include "lumen/base/flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include "lumen/base/nearest.h"

namespace lumen {
namespace {

constexpr std::string_view kPrefix = "LUMEN_";

struct FlagDef {
  std::string_view name;
  int64_t Flags::*member;
  int64_t least;
  int64_t most;
  std::string_view doc;

  std::string allowed() const {
    if (most == INT64_MAX) return fmt::format("an integer, {} or more", least);
    return fmt::format("an integer from {} to {}", least, most);
  }
};

constexpr FlagDef kFlags[] = {
    {"LUMEN_DEBUG", &Flags::debug, 0, 4,
     "How much is logged to stderr: 0 warnings, 1 stages, 2 decisions, 3 programs, 4 everything."},
    {"LUMEN_SEED", &Flags::seed, 0, INT64_MAX, "Seed of the random inputs that `lumen run` makes."},
};

Expected<> set_flag(Flags& flags, std::string_view name, std::string_view text) {
  const auto* def = std::find_if(std::begin(kFlags), std::end(kFlags), [&](auto& row) { return row.name == name; });
  if (def == std::end(kFlags)) {
    // The prefix, which all share, is no likeness.
    std::vector<std::string_view> names;
    for (const FlagDef& row : kFlags) names.push_back(row.name.substr(kPrefix.size()));
    const auto guess = nearest(name.substr(kPrefix.size()), names);
    return error(
        fmt::format("unknown environment variable {}{}", name,
                    guess ? fmt::format("; did you mean {}{}?", kPrefix, *guess) : " (docs/flags.md lists them)"));
  }
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = status == std::errc() && end == text.data() + text.size();
  if (!whole || value < def->least || value > def->most) {
    return error(fmt::format("{}=\"{}\" is not {}", name, text, def->allowed()));
  }
  flags.*def->member = value;
  return {};
}

}  // namespace

Expected<Flags> parse_flags(std::span<const std::string> environment) {
  Flags flags;
  for (const std::string_view entry : environment) {
    if (!entry.starts_with(kPrefix)) continue;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    LUMEN_TRY(set_flag(flags, entry.substr(0, equals), entry.substr(equals + 1)));
  }
  return flags;
}

const Flags& flags() {
  static const Flags kParsed = [] {
    std::vector<std::string> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return parse_flags(entries).value();
  }();
  return kParsed;
}

std::string flags_markdown() {
  std::string text =
      "# Flags\n\n"
      "Environment variables that Lumen reads; an unknown `LUMEN_*` is an error. Made by `lumen flags --markdown`.\n\n"
      "| name | value | default | meaning |\n|---|---|---|---|\n";
  const Flags defaults;
  for (const FlagDef& row : kFlags) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.allowed(), defaults.*row.member, row.doc);
  }
  return text;
}

}  // namespace lumen
