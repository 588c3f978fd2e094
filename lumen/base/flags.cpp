#include "lumen/base/flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "lumen/base/nearest.h"

namespace lumen {
namespace {

constexpr std::string_view kPrefix = "LUMEN_";

struct FlagDef {
  std::string_view name;
  std::variant<int64_t Flags::*, std::string Flags::*> member;
  int64_t least;  // of an integer, as is `most`
  int64_t most;
  std::string_view text_default;  // of a text
  std::string_view doc;

  bool is_text() const { return member.index() == 1; }
  std::string allowed() const {
    if (is_text()) return "a path";
    if (most == INT64_MAX) return fmt::format("an integer, {} or more", least);
    return fmt::format("an integer from {} to {}", least, most);
  }
};

constexpr FlagDef kFlags[] = {
    {"LUMEN_DEBUG", &Flags::debug, 0, 4, "",
     "How much is logged to stderr: 0 warnings, 1 stages, 2 decisions, 3 programs, 4 everything."},
    {"LUMEN_SEED", &Flags::seed, 0, INT64_MAX, "", "Seed of the random inputs that `lumen run` makes."},
    {"LUMEN_CACHE", &Flags::cache, 0, 0, "`$XDG_CACHE_HOME/lumen` or `~/.cache/lumen`",
     "Folder of what may be made again but takes time: the tuning database."},
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
  if (def->is_text()) {
    if (text.empty()) return error(fmt::format("{}=\"\" is not {}", name, def->allowed()));
    flags.*std::get<1>(def->member) = text;
    return {};
  }
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = status == std::errc() && end == text.data() + text.size();
  if (!whole || value < def->least || value > def->most) {
    return error(fmt::format("{}=\"{}\" is not {}", name, text, def->allowed()));
  }
  flags.*std::get<0>(def->member) = value;
  return {};
}

// The value of a variable that other programs define too; empty when it is not there.
std::string_view shared_variable(std::span<const std::string> environment, std::string_view name) {
  for (const std::string_view entry : environment) {
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return entry.substr(name.size() + 1);
  }
  return {};
}

std::string default_cache(std::span<const std::string> environment) {
  const std::string_view caches = shared_variable(environment, "XDG_CACHE_HOME");
  if (!caches.empty()) return fmt::format("{}/lumen", caches);
  const std::string_view home = shared_variable(environment, "HOME");
  return home.empty() ? "" : fmt::format("{}/.cache/lumen", home);
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
  if (flags.cache.empty()) flags.cache = default_cache(environment);
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
    const std::string shown =
        row.is_text() ? std::string(row.text_default) : fmt::to_string(defaults.*std::get<0>(row.member));
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.allowed(), shown, row.doc);
  }
  return text;
}

}  // namespace lumen
