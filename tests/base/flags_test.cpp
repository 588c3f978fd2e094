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
  EXPECT_EQ(message_for({"LUMEN_BACKEND=gpu"}), "LUMEN_BACKEND=\"gpu\" is not one of cpu, cuda, reference");
  EXPECT_EQ(message_for({"LUMEN_CACHE="}), "LUMEN_CACHE=\"\" is not a folder, or `none`");
  EXPECT_EQ(message_for({"LUMEN_BLAS="}), "LUMEN_BLAS=\"\" is not a library, or `none`");
  EXPECT_EQ(message_for({"LUMEN_CC="}), "LUMEN_CC=\"\" is not a name or a path");
  EXPECT_EQ(message_for({"LUMEN_CACHE_MB=0"}), "LUMEN_CACHE_MB=\"0\" is not an integer from 1 to 16777216");
}

TEST(Flags, ParsesValuesAndIgnoresOthers) {
  const std::vector<std::string> environment = {"PATH=/bin",     "LUMEN_DEBUG=4",  "LUMENX=1",
                                                "LUMEN_SEED=12", "HOME=/home/a=b", "LUMEN_CC=/opt/cc"};
  const Flags parsed = parse_flags(environment).value();
  EXPECT_EQ(parsed.debug, 4);
  EXPECT_EQ(parsed.seed, 12);
  EXPECT_EQ(parsed.path, "/bin");
  EXPECT_EQ(parsed.home, "/home/a=b");
  EXPECT_EQ(parsed.cc, "/opt/cc");
}

TEST(Flags, Defaults) {
  const Flags parsed = parse_flags({}).value();
  EXPECT_EQ(parsed.debug, 0);
  EXPECT_EQ(parsed.seed, 0);
  EXPECT_EQ(parsed.threads, 0);
  EXPECT_EQ(parsed.cache, "");
  EXPECT_EQ(parsed.cc, "");
  EXPECT_EQ(parsed.home, "");
}

TEST(Flags, Markdown) {
  const std::string text = flags_markdown();
  EXPECT_TRUE(text.starts_with("# Flags\n\nEnvironment variables that Lumen reads")) << text;
  for (const char* row :
       {"| `LUMEN_BACKEND` | one of cpu, cuda, reference | cpu | What a graph is compiled for. |\n",
        "| `LUMEN_CACHE` | a folder, or `none` | `~/.cache/lumen` | Where compiled kernels and measured times are kept "
        "between runs. |\n",
        "| `LUMEN_SEED` | an integer, 0 or more | 0 | Seed of the random inputs that `lumen run` makes. |\n"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << text;
  }
}

TEST(Flags, say_where_things_are_kept) {
  const auto folder = [](std::vector<std::string> environment) {
    return parse_flags(environment).value().cache_folder();
  };
  EXPECT_EQ(folder({}), "");
  EXPECT_EQ(folder({"HOME=/h"}), "/h/.cache/lumen");
  EXPECT_EQ(folder({"HOME=/h", "LUMEN_CACHE=/c d"}), "/c d");
  EXPECT_EQ(folder({"HOME=/h", "LUMEN_CACHE=none"}), "");
}

}  // namespace
}  // namespace lumen
