// Which ops become one kernel, what the tuner remembers, and that a policy changes nothing but the speed.
#include "lumen/search/group.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "lumen/search/estimate.h"
#include "lumen/search/lower.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

using search::Group;
using search::Reads;
using tests::ScratchDir;

std::shared_ptr<Graph> softmax_graph() {
  auto graph = std::make_shared<Graph>();
  softmax(graph->input("x", {64, 128}), -1).output("y");
  return graph;
}

size_t calls(const Graph& graph, FusionPolicy fusion) {
  CompileOptions options;
  options.fusion = fusion;
  options.measure = options.verify = false;
  return compile_program(graph, options).variants[0].binary.program.calls.size();
}

TEST(Group, merges_nothing_that_is_refused) {
  const std::shared_ptr<Graph> graph = softmax_graph();
  const Reads reads(*graph);
  const std::vector<Group> groups = search::group(reads, [](const Group&) { return false; });
  EXPECT_TRUE(std::all_of(groups.begin(), groups.end(), [](const Group& each) { return each.size() == 1; }));
  EXPECT_EQ(search::group(reads, [](const Group&) { return true; }).size(), 1u);
}

// a feeds b and c, b feeds c: a and c cannot be one without b.
TEST(Group, never_needs_itself) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {8, 8});
  const Tensor a = exp2(x);
  const Tensor b = sum(a, {1}, true);
  (a * b).output("c");
  const Reads reads(*graph);
  const auto without_sum = [&](const Group& group) {
    return std::none_of(group.begin(), group.end(),
                        [&](NodeId id) { return (*graph)[id].op->family == OpFamily::reduce; });
  };
  const std::vector<Group> groups = search::group(reads, without_sum);
  EXPECT_TRUE(carve_all(*graph, reads.parts_of(groups)).ok());
  EXPECT_EQ(groups.size(), 3u);
}

TEST(Group, policies_differ_in_kernels) {
  EXPECT_EQ(calls(*softmax_graph(), FusionPolicy::always), 1u);
  EXPECT_GT(calls(*softmax_graph(), FusionPolicy::never), 3u);
}

TEST(Group, products_take_what_is_around_them) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {64, 96}, bf16);
  const Tensor w = graph->input("w", {128, 96}, bf16);
  const Tensor bias = graph->input("bias", {128}, bf16);
  gelu(linear(x, w, bias)).output("y");
  EXPECT_EQ(calls(*graph, FusionPolicy::always), 1u);
}

TEST(Estimate, counts_what_is_computed_again) {
  auto graph = std::make_shared<Graph>();
  const Tensor row = graph->input("row", {1024});
  const Tensor tall = graph->input("tall", {4096, 1024});
  (tall + exp2(row)).output("y");
  auto again = std::make_shared<Graph>();
  (again->input("tall", {4096, 1024}) + exp2(again->input("tall2", {4096, 1024}))).output("y");
  auto plain = std::make_shared<Graph>();
  (plain->input("tall", {4096, 1024}) + plain->input("row", {1024})).output("y");
  Machine slow;
  slow.elements = 1e9;  // so that computing decides
  const double fused = search::estimate(*graph, {}, slow);
  EXPECT_GT(fused, 2 * search::estimate(*plain, {}, slow));  // 4096 times the row
  EXPECT_NEAR(fused, search::estimate(*again, {}, slow), 0.1 * fused);
}

TEST(Tuner, measures_once) {
  const ScratchDir dir;
  search::TuningDb db = search::TuningDb::open(dir / "t.db").value();
  const std::shared_ptr<cpu::CpuDevice> device = cpu::CpuDevice::find().value();
  const std::shared_ptr<const Graph> body = softmax_graph();
  const std::shared_ptr<const Graph> bodies[] = {body, body};
  const auto tuned = [&](int64_t measured) {
    search::Tuner tuner(*device, {{}, true, &db});
    const std::vector<search::Tuned> found = tuner.tune(bodies).value();
    EXPECT_EQ(tuner.measured(), measured);
    EXPECT_EQ(found[0].schedule, "fold");
    EXPECT_GT(found[0].seconds, 0);
    EXPECT_LT(found[0].seconds, 1);
    return found[0].seconds;
  };
  const double first = tuned(1);
  EXPECT_EQ(tuned(0), first);
  EXPECT_EQ(db.stats().value().measured, 1);
}

TEST(Tuner, interprets_what_no_kernel_computes) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {8, 8});
  (sum(x, {0}) + sum(x, {1})).output("y");  // reductions over different axes are no kernel
  const std::shared_ptr<cpu::CpuDevice> device = cpu::CpuDevice::find().value();
  search::Tuner tuner(*device, {{}, false, nullptr});
  const std::shared_ptr<const Graph> bodies[] = {graph};
  EXPECT_EQ(tuner.tune(bodies).value()[0].schedule, "");
}

}  // namespace
}  // namespace lumen
