// tests/regress: graphs that were once compiled wrongly, each in every way against the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lumen/compile.h"
#include "lumen/kernel/contract.h"
#include "tests/compile/shrink.h"
#include "tests/support/source_dir.h"

namespace lumen {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> regress_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(tests::source_dir() / "tests/regress")) {
    if (entry.path().extension() == ".hlir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Regress, every_file_computes_what_the_reference_computes) {
  const std::vector<fs::path> files = regress_files();
  ASSERT_FALSE(files.empty());
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    const std::shared_ptr<Graph> graph = parse(text.str(), llir_ops(), file.filename().string()).value();
    for (const FusionPolicy fusion : {FusionPolicy::never, FusionPolicy::always, FusionPolicy::profile}) {
      for (const bool rewrite : {false, true}) {
        CompileOptions options;
        options.measure = false;  // and so nothing is known to be verified
        options.fusion = fusion;
        options.rewrite = rewrite;
        options.c_flags = {"-O1", "-w"};
        EXPECT_NO_THROW(compile_program(*graph, options)) << file;
      }
    }
  }
}

TEST(Shrink, leaves_what_fails) {
  const auto has_sort = [](const testing::RandomGraph& given) -> std::string {
    const std::vector<NodeId> order = given.graph->order();
    const bool has = std::ranges::any_of(order, [&](NodeId id) { return (*given.graph)[id].op->name == "Sort"; });
    return has ? "it sorts" : "";
  };
  uint64_t seed = 1;
  while (has_sort(testing::make_exact_graph(seed)).empty()) ++seed;
  const std::string text = testing::shrunk(testing::make_exact_graph(seed), has_sort);
  EXPECT_TRUE(text.ends_with("# it sorts\n")) << text;
  EXPECT_EQ(parse(text, llir_ops()).value()->order().size(), 2u) << text;
}

}  // namespace
}  // namespace lumen
