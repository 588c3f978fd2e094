#include "lumen/base/flags.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lumen {
namespace {

std::string message_for(const std::vector<std::string>& environment) {
  const Expected<Flags> parsed = parse_flags(environment);
  return parsed ? "" : parsed.diag().str();
}

TEST(Flags, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(message_for({"LUMEN_DEBGU=1"}), "unknown environment variable LUMEN_DEBGU; did you mean LUMEN_DEBUG?");
  EXPECT_EQ(message_for({"LUMEN_SEEDS=1"}), "unknown environment variable LUMEN_SEEDS; did you mean LUMEN_SEED?");
  EXPECT_EQ(message_for({"LUMEN_debug=1"}), "unknown environment variable LUMEN_debug; did you mean LUMEN_DEBUG?");
  EXPECT_EQ(message_for({"LUMEN_ENTIRELY_OTHER=1"}),
            "unknown environment variable LUMEN_ENTIRELY_OTHER (docs/flags.md lists them)");
}

TEST(Flags, BadValueNamesFlagValueAndWhatIsAllowed) {
  EXPECT_EQ(message_for({"LUMEN_DEBUG=5"}), "LUMEN_DEBUG=\"5\" is not an integer from 0 to 4");
  EXPECT_EQ(message_for({"LUMEN_DEBUG="}), "LUMEN_DEBUG=\"\" is not an integer from 0 to 4");
  EXPECT_EQ(message_for({"LUMEN_DEBUG=2x"}), "LUMEN_DEBUG=\"2x\" is not an integer from 0 to 4");
  EXPECT_EQ(message_for({"LUMEN_SEED=-1"}), "LUMEN_SEED=\"-1\" is not an integer, 0 or more");
  EXPECT_EQ(message_for({"LUMEN_SEED=9223372036854775808"}),
            "LUMEN_SEED=\"9223372036854775808\" is not an integer, 0 or more");
  EXPECT_EQ(message_for({"LUMEN_CACHE="}), "LUMEN_CACHE=\"\" is not a path");
}

TEST(Flags, ParsesValuesAndIgnoresOthers) {
  const std::vector<std::string> environment = {"PATH=/bin", "LUMEN_DEBUG=4", "LUMENX=1", "LUMEN_SEED=12"};
  const Flags parsed = parse_flags(environment).value();
  EXPECT_EQ(parsed.debug, 4);
  EXPECT_EQ(parsed.seed, 12);
}

TEST(Flags, Defaults) {
  const Flags parsed = parse_flags({}).value();
  EXPECT_EQ(parsed.debug, 0);
  EXPECT_EQ(parsed.seed, 0);
  EXPECT_EQ(parsed.cache, "");
}

TEST(Flags, TheCacheIsWhereTheNearestVariableSays) {
  const auto cache = [](const std::vector<std::string>& environment) { return parse_flags(environment)->cache; };
  EXPECT_EQ(cache({"HOME=/h", "XDG_CACHE_HOME=/x", "LUMEN_CACHE=/c d"}), "/c d");
  EXPECT_EQ(cache({"HOME=/h", "XDG_CACHE_HOME=/x"}), "/x/lumen");
  EXPECT_EQ(cache({"HOMES=/s", "HOME=/h", "XDG_CACHE_HOME="}), "/h/.cache/lumen");
}

TEST(Flags, Markdown) {
  EXPECT_EQ(flags_markdown(),
            "# Flags\n\n"
            "Environment variables that Lumen reads; an unknown `LUMEN_*` is an error. "
            "Made by `lumen flags --markdown`.\n\n"
            "| name | value | default | meaning |\n|---|---|---|---|\n"
            "| `LUMEN_DEBUG` | an integer from 0 to 4 | 0 | How much is logged to stderr: "
            "0 warnings, 1 stages, 2 decisions, 3 programs, 4 everything. |\n"
            "| `LUMEN_SEED` | an integer, 0 or more | 0 | Seed of the random inputs that `lumen run` makes. |\n"
            "| `LUMEN_CACHE` | a path | `$XDG_CACHE_HOME/lumen` or `~/.cache/lumen` | Folder of what may be made "
            "again but takes time: the tuning database. |\n");
}

}  // namespace
}  // namespace lumen
