// What holds of every graph a test builds: its text reads back to an equal graph that prints the same bytes.
#pragma once

#include <gtest/gtest.h>

#include "lumen/ir/text.h"

namespace lumen {

inline void expect_round_trip(const Graph& graph, const OpTable& ops) {
  const std::string text = print(graph);
  const auto read = parse(text, ops, "round_trip");
  ASSERT_TRUE(read.ok()) << read.diag().str() << "\nin\n" << text;
  EXPECT_EQ(print(**read), text);
  EXPECT_TRUE(graph.equals(**read)) << text;
  EXPECT_EQ(graph.hash(), (*read)->hash()) << text;
}

}  // namespace lumen
