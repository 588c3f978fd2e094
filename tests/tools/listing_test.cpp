#include <gtest/gtest.h>

#include "lumen/base/flags.h"
#include "lumen/hlir/ops.h"
#include "tests/tools/program.h"

namespace lumen::tests {

TEST(Listing, EveryPrimitiveIsInTheTables) {
  const Finished table = run_lumen({"ops"}), markdown = run_lumen({"ops", "--markdown"});
  EXPECT_EQ(table.status, 0);
  EXPECT_EQ(markdown.status, 0);
  for (const OpDef* op : hlir_ops().ops()) {
    const std::string name(op->name);
    EXPECT_NE(table.out.find("\n" + name + " "), std::string::npos) << name;
    EXPECT_NE(markdown.out.find("\n| `" + name + "` | "), std::string::npos) << name;
  }
}

TEST(Listing, OnePrimitive) {
  const Finished one = run_lumen({"ops", "SumReduce"});
  EXPECT_EQ(one.status, 0);
  EXPECT_EQ(one.out.rfind("SumReduce: ", 0), 0U) << one.out;
  EXPECT_NE(one.out.find("\n  family    reduce\n  operands  1\n"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("\n  :axis     int\n"), std::string::npos) << one.out;
}

TEST(Listing, Flags) {
  const Finished flags = run_lumen({"flags", "--markdown"});
  EXPECT_EQ(flags.status, 0);
  EXPECT_EQ(flags.out, flags_markdown());
}

TEST(Listing, HelpAndVersion) {
  const Finished version = run_lumen({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out, "lumen 0.1.0\n");
  const Finished help = run_lumen({"run", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("Examples:\n"), std::string::npos) << help.out;
}

}  // namespace lumen::tests
