#include "lumen/base/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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
  int64_t least;
  int64_t most;
  std::string_view text;        // what a text flag may be
  std::string_view if_not_set;  // what an empty text flag means
  std::string_view doc;
  std::span<const std::string_view> words =
      {};  // when not empty, the only values of a text flag; the first is the default

  std::string allowed() const {
    if (!words.empty()) return fmt::format("one of {}", fmt::join(words, ", "));
    if (!text.empty()) return std::string(text);
    if (most == INT64_MAX) return fmt::format("an integer, {} or more", least);
    return fmt::format("an integer from {} to {}", least, most);
  }
  std::string default_value(const Flags& defaults) const {
    if (const auto* number = std::get_if<int64_t Flags::*>(&member)) return fmt::format("{}", defaults.**number);
    return std::string(words.empty() ? if_not_set : words[0]);
  }
};

constexpr FlagDef number_flag(std::string_view name, int64_t Flags::*member, int64_t least, int64_t most,
                              std::string_view doc) {
  return {name, member, least, most, {}, {}, doc};
}

constexpr FlagDef text_flag(std::string_view name, std::string Flags::*member, std::string_view text,
                            std::string_view if_not_set, std::string_view doc) {
  return {name, member, 0, 0, text, if_not_set, doc};
}

constexpr FlagDef choice_flag(std::string_view name, std::string Flags::*member,
                              std::span<const std::string_view> words, std::string_view doc) {
  return {name, member, 0, 0, {}, {}, doc, words};
}

constexpr std::string_view kBackends[] = {"cpu", "cuda", "reference"};
constexpr std::string_view kFusions[] = {"profile", "always", "never"};

constexpr FlagDef kFlags[] = {
    choice_flag("LUMEN_BACKEND", &Flags::backend, kBackends, "What a graph is compiled for."),
    text_flag("LUMEN_BLAS", &Flags::blas, "a library, or `none`", "`libopenblas.so.0`, where there is one",
              "OpenBLAS, whose products of matrices compete with the kernels of the CPU backend."),
    text_flag("LUMEN_CACHE", &Flags::cache, "a folder, or `none`", "`~/.cache/lumen`",
              "Where compiled kernels and measured times are kept between runs."),
    number_flag("LUMEN_CACHE_MB", &Flags::cache_mb, 1, 1 << 24,
                "How large the cache may grow, in MiB, before its least recently used entries go."),
    text_flag("LUMEN_CC", &Flags::cc, "a name or a path", "the first of gcc, clang, cc",
              "The C compiler that makes the kernels of the CPU backend."),
    number_flag("LUMEN_DEBUG", &Flags::debug, 0, 4,
                "How much is logged to stderr: 0 warnings, 1 stages, 2 decisions, 3 programs, 4 everything."),
    text_flag("LUMEN_DUMP", &Flags::dump, "a folder", "nothing is written",
              "Where every stage of a compilation writes what it decided, in a folder for each graph."),
    choice_flag("LUMEN_FUSION", &Flags::fusion, kFusions,
                "What is made one kernel: what is faster so, all that can be, or nothing."),
    text_flag("LUMEN_FUSION_PROFILE", &Flags::fusion_profile, "a file", "what is faster is measured",
              "Times of fused and unfused patterns, by `lumen fusion profile` on this machine: they decide."),
    text_flag("LUMEN_OVERRIDE", &Flags::overrides, "a folder", "nothing is read",
              "Where stages read what to do instead: files as LUMEN_DUMP writes them, edited."),
    text_flag("LUMEN_RULES", &Flags::rules, "a folder", "the built-in rules",
              "Where the rewrite rules, *.egg, are read from."),
    number_flag("LUMEN_SEED", &Flags::seed, 0, INT64_MAX, "Seed of the random inputs that `lumen run` makes."),
    number_flag("LUMEN_THREADS", &Flags::threads, 0, 4096,
                "How many threads the CPU backend works with; 0 for all cores that this process may use."),
    text_flag("LUMEN_WORKER", &Flags::worker, "a program, or `none`",
              "`lumen`: this program, one beside it, or on the PATH",
              "The program that runs kernels for a GPU first, so that one that fails or hangs does no harm here."),
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
  if (const auto* text_member = std::get_if<std::string Flags::*>(&def->member)) {
    const bool known =
        def->words.empty() ? !text.empty() : std::find(def->words.begin(), def->words.end(), text) != def->words.end();
    if (!known) return error(fmt::format("{}=\"{}\" is not {}", name, text, def->allowed()));
    flags.** text_member = text;
    return {};
  }
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = status == std::errc() && end == text.data() + text.size();
  if (!whole || value < def->least || value > def->most) {
    return error(fmt::format("{}=\"{}\" is not {}", name, text, def->allowed()));
  }
  flags.*std::get<int64_t Flags::*>(def->member) = value;
  return {};
}

}  // namespace

std::string Flags::cache_folder() const {
  if (cache == "none") return "";
  if (!cache.empty()) return cache;
  return home.empty() ? "" : home + "/.cache/lumen";
}

Expected<Flags> parse_flags(std::span<const std::string> environment) {
  Flags flags;
  for (const std::string_view entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    if (entry.starts_with("HOME=")) flags.home = entry.substr(equals + 1);
    if (entry.starts_with("PATH=")) flags.path = entry.substr(equals + 1);
    if (entry.starts_with("CUDA_HOME=")) flags.cuda_home = entry.substr(equals + 1);
    if (!entry.starts_with(kPrefix)) continue;
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
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.allowed(), row.default_value(defaults), row.doc);
  }
  return text;
}

}  // namespace lumen
