#include "lumen/search/rewrite.h"

#include <gtest/gtest.h>

#include <fstream>

#include "lumen/frontend/ops.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "tests/rules/samples.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

std::string best_of(const Graph& graph) { return print(*rewrite(graph).value().candidates[0].graph); }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Rewrite, sums_of_squares_stay_sums) {
  Graph graph;
  sum(square(graph.input("x", {64, 256, 3})), {0, 2}).output("y");
  EXPECT_FALSE(has(best_of(graph), "Contract"));
}

TEST(Rewrite, products_of_every_layout_become_contractions) {
  const std::vector<std::string> layouts = {"mk,kn->mn",    "km,nk->nm",   "k,nk->n",
                                            "bmk,bkn->bmn", "mk,bkn->bnm", "ak,k->a"};
  for (const std::string& layout : layouts) {
    Graph graph;
    std::vector<Tensor> factors;
    const auto shape = [&](std::string_view letters) {
      std::vector<Expr> dims;
      for (const char letter : letters) dims.push_back(letter == 'b' ? 3 : letter == 'k' ? 64 : 40);
      return Shape(dims);
    };
    const size_t comma = layout.find(',');
    factors.push_back(graph.input("a", shape(layout.substr(0, comma))));
    factors.push_back(graph.input("b", shape(layout.substr(comma + 1, layout.find('-') - comma - 1))));
    einsum(layout, factors).output("y");
    const std::string text = best_of(graph);
    EXPECT_TRUE(has(text, "Contract(%0, %1)") || has(text, "Contract(%1, %0)")) << layout << "\n" << text;
    EXPECT_FALSE(has(text, "View")) << layout << "\n" << text;
    EXPECT_FALSE(has(text, "SumReduce")) << layout << "\n" << text;
  }
}

// Whether there are fewer results to scale, as many as there are numbers of a factor, or more.
TEST(Rewrite, scales_leave_products_of_8_bits_of_all_sizes) {
  for (const int64_t rows : {16, 512, 3000}) {
    Graph graph;
    const Tensor x = cast(graph.input("x", {rows, 512}, f8e4m3), f32) * graph.input("s", {1});
    const Tensor w = cast(graph.input("w", {512, 512}, f8e5m2), f32) * graph.input("t", {1});
    cast(matmul(x, transpose(w)), bf16).output("y");
    const std::string text = best_of(graph);
    EXPECT_TRUE(has(text, "%4 = Cast(%") && has(text, "%5 = Cast(%") && has(text, "Contract(%4, %5)")) << text;
  }
}

// Scales of whole tensors, of rows and of columns leave a product of floats of 8 bits, which a library multiplies then.
// In bf16 they do not: what they give is rounded before it is summed.
TEST(Rewrite, scales_leave_products_of_8_bits) {
  for (const bool each : {false, true}) {
    for (const DType wide : {bf16, f32}) {
      Graph graph;
      const Tensor x = cast(graph.input("x", {64, 256}, f8e4m3), wide);
      const Tensor w = cast(graph.input("w", {128, 256}, f8e4m3), wide);
      const Tensor s = graph.input("s", each ? Shape{64, 1} : Shape{1}, wide);
      const Tensor t = graph.input("t", each ? Shape{128, 1} : Shape{1}, wide);
      matmul(cast(x * s, f32), transpose(cast(w * t, f32))).output("y");
      const std::string text = best_of(graph);
      const bool left = has(text, "%4 = Cast(%0)") && has(text, "%5 = Cast(%1)") && has(text, "Contract(%4, %5)");
      EXPECT_EQ(left, wide == f32) << text;
    }
  }
}

TEST(Rewrite, only_what_is_gathered_is_dequantised) {
  Graph graph;
  const Tensor codes = graph.input("table", {32000, 64}, i8), scales = graph.input("scales", {32000});
  const Tensor tokens = graph.input("tokens", {5}, i64);
  embedding(tokens, cast(codes, f32) * unsqueeze(scales, 1)).output("y");
  const std::string text = best_of(graph);
  EXPECT_TRUE(has(text, "Gather(%0, %2) :axis 0 -> i8[5,64]")) << text;
  EXPECT_FALSE(has(text, "f32[32000,64]")) << text;
}

TEST(Rewrite, gives_the_same_programs_every_time) {
  const testing::Sample block = testing::transformer_block({}, bf16);
  const Rewritten first = rewrite(*block.graph).value();
  const Rewritten second = rewrite(*block.graph).value();
  ASSERT_EQ(first.candidates.size(), second.candidates.size());
  for (size_t k = 0; k < first.candidates.size(); ++k) {
    EXPECT_EQ(print(*first.candidates[k].graph), print(*second.candidates[k].graph));
    EXPECT_TRUE(verify(*first.candidates[k].graph, llir_stage()).ok());
    if (k == 0) continue;
    EXPECT_LE(first.candidates[k - 1].cost, first.candidates[k].cost);
    EXPECT_FALSE(first.candidates[k - 1].graph->equals(*first.candidates[k].graph));
  }
}

TEST(Rewrite, says_which_limit_stopped_it) {
  const testing::Sample block = testing::transformer_block({}, f32);
  RewriteOptions options;
  options.saturate.iterations = 1;
  const Rewritten few = rewrite(*block.graph, options).value();
  EXPECT_EQ(few.report.limit, "iterations: 1");
  options.saturate = {};
  options.saturate.rows = 400;
  const Rewritten small = rewrite(*block.graph, options).value();
  EXPECT_TRUE(small.report.limit.starts_with("rows: ")) << small.report.limit;
  // What was found until then is sound.
  const std::vector<HostTensor> inputs = testing::random_inputs(*block.graph, block.dims, 3);
  EXPECT_TRUE(testing::agree(testing::run_expanded(*small.candidates[0].graph, inputs, block.dims),
                             testing::run_expanded(*block.graph, inputs, block.dims), true));
}

TEST(RuleFiles, are_read_from_a_folder) {
  const tests::ScratchDir folder;
  EXPECT_EQ(read_rules(folder / "none").diag().message,
            "cannot read the folder of rules " + (folder / "none") + ": No such file or directory");
  EXPECT_EQ(read_rules(folder.path()).diag().message, "the folder of rules " + folder.path() + " has no file *.egg");
  std::ofstream(folder / "b.egg") << "(rewrite (Exp2 ?x) ?x :ruleset exact)";
  std::ofstream(folder / "a.egg") << "; nothing";
  const std::vector<RuleFile> files = read_rules(folder.path()).value();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "a.egg");
  EXPECT_EQ(files[1].text, "(rewrite (Exp2 ?x) ?x :ruleset exact)");
}

TEST(RuleFiles, mistakes_have_a_place) {
  Graph graph;
  graph.input("x", {3}).output("y");
  SaturateOptions options;
  options.rules = {{"mine.egg", "\n(rewrite (SumReduce ?x :axes 1) ?x :ruleset exact)"}};
  const auto wrong = saturate(graph, options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_TRUE(wrong.diag().str().starts_with("mine.egg:2:24: `SumReduce` has no field `axes`")) << wrong.diag().str();
}

}  // namespace
}  // namespace lumen
