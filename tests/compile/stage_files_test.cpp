// LUMEN_DUMP and LUMEN_OVERRIDE: every stage is written, and read back edited.
#include "lumen/search/stage_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "tests/support/error_of.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

namespace fs = std::filesystem;
using tests::error_of;

constexpr const char* kGraphText = "lumen 1\n%x = Input() :name \"x\" :shape [3]\n";

// y = exp2(x) * 2, and a product of matrices.
std::shared_ptr<Graph> small_graph() {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {3});
  (exp2(x) * 2.0 + x).output("y");
  const Tensor a = graph->input("a", {16, 24}), b = graph->input("b", {24, 32});
  matmul(a, b).output("z");
  return graph;
}

class Stages {
 public:
  explicit Stages(std::shared_ptr<Graph> graph = small_graph()) : graph_(std::move(graph)) {
    options_.measure = false;
    options_.c_flags = {"-O1", "-w"};
    options_.dump = dir_ / "dump";
    compile_program(*graph_, options_);
    name_ = fmt::format("{:016x}", graph_->hash());
    options_.dump.clear();
    options_.overrides = dir_ / "override";
    fs::create_directories(options_.overrides + "/" + name_);
  }

  std::set<std::string> dumped() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_ / "dump/" + name_)) names.insert(entry.path().filename());
    return names;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(dir_ / "dump/" + name_ + "/" + name);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  // A file of the override.
  void give(const std::string& name, const std::string& text) const {
    std::ofstream(options_.overrides + "/" + name_ + "/" + name) << text;
  }
  // One that was dumped, with a part of its text replaced.
  void edit(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read(name);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " lacks " << from << "\n" << text;
    give(name, text.replace(at, from.size(), to));
  }
  void give_all() const {
    fs::copy(dir_ / "dump", options_.overrides, fs::copy_options::overwrite_existing | fs::copy_options::recursive);
  }

  Program program() const { return compile_program(*graph_, options_).variants[0].binary.program; }
  // The error, with the folder left out.
  std::string failure() const {
    std::string text = error_of([&] { compile_program(*graph_, options_); });
    const std::string folder = options_.overrides + "/" + name_ + "/";
    for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }
  std::vector<float> y() const {
    Session session = make_session(compile_program(*graph_, options_));
    session.set("x", {0, 1, 2});
    session.set("a", std::vector<float>(16 * 24, 1));
    session.set("b", std::vector<float>(24 * 32, 1));
    session.execute();
    return session.get<float>("y");
  }
  // The kernel whose schedule begins so.
  std::string kernel(const std::string& schedule) const {
    const std::string text = read("schedules.txt");
    const size_t at = text.find(": " + schedule);
    return text.substr(text.rfind('\n', at) + 1, at - text.rfind('\n', at) - 1);
  }

  CompileOptions options_;

 private:
  const tests::ScratchDir dir_;
  std::shared_ptr<Graph> graph_;
  std::string name_;
};

TEST(StageFiles, an_override_that_does_not_fit_is_an_error) {
  const Stages stages;
  const auto failure_with = [&](const std::string& name, const std::string& text) {
    stages.give(name, text);
    std::string message = stages.failure();
    fs::remove_all(stages.options_.overrides);
    fs::create_directories(stages.options_.overrides + "/" + fmt::format("{:016x}", small_graph()->hash()));
    return message;
  };
  EXPECT_EQ(failure_with("graph.hlir", std::string(kGraphText) + "output \"y\" = %q\n"),
            "graph.hlir:3:14: %q is not defined above\n  note: output \"y\" = %q\n  note:              ^");
  EXPECT_EQ(failure_with("rewritten.llir", std::string(kGraphText) + "output \"y\" = %x\n"),
            "rewritten.llir: a graph with other inputs, outputs or dims: input x f32[3], output y f32[3]\n"
            "  note: it stands for one with input x f32[3], input a f32[16,24], input b f32[24,32], output y f32[3], "
            "output z f32[16,32]");
  EXPECT_EQ(failure_with("groups.txt", "k: %3\n"), "groups.txt needs rewritten.llir beside it, whose values it names");
  EXPECT_EQ(failure_with("schedules.txt", "kx: map\n").substr(0, 41), "schedules.txt: no kernel is called kx; th");
  EXPECT_EQ(failure_with("schedules.txt", "kx\n"), "schedules.txt:1:1: expected `NAME: …`, got `kx`");
  EXPECT_EQ(failure_with("schedules.txt", "k: map\nk: fold\n"), "schedules.txt:2:1: kernel k has two schedules");
  EXPECT_EQ(failure_with("schedules.txt", "\nk:\n"), "schedules.txt:2:1: kernel k has no schedule");
  const std::string map = stages.kernel("map");
  EXPECT_TRUE(failure_with("schedules.txt", map + ": scan\n")
                  .starts_with("schedules.txt: kernel " + map + " cannot run as `scan`: "));
  EXPECT_EQ(failure_with("rewriten.llir", ""), "rewriten.llir belongs to no stage, part or kernel of this program");
  EXPECT_EQ(failure_with("part0.groups.txt", ""),
            "part0.groups.txt belongs to no stage, part or kernel of this program");
  EXPECT_EQ(failure_with("kx.c", ""), "kx.c belongs to no stage, part or kernel of this program");
  EXPECT_TRUE(failure_with(map + ".c", "int x;").starts_with(map + ".c: the kernel has a step k"));
  fs::remove_all(stages.options_.overrides);
  EXPECT_NE(stages.failure().find("has no folder"), std::string::npos);
}

TEST(StageFiles, groups_that_do_not_fit_are_errors) {
  const Stages stages;
  stages.give("rewritten.llir", stages.read("rewritten.llir"));
  const auto failure_with = [&](const std::string& text) {
    stages.give("groups.txt", text);
    return stages.failure();
  };
  EXPECT_EQ(failure_with("k: %99\n").substr(0, 45), "groups.txt:1:1: the graph has no value %99: i");
  EXPECT_EQ(failure_with("k: 3\n").substr(0, 43), "groups.txt:1:1: the graph has no value 3: i");
  EXPECT_EQ(failure_with("k: %0\n"),
            "groups.txt:1:1: %0 is a Input, which is no kernel's: whoever reads it computes it");
  EXPECT_EQ(failure_with("# nothing\nk:\n"), "groups.txt:2:1: kernel k has no values");
  EXPECT_EQ(failure_with("k: %3\nj: %3\n"), "groups.txt:2:1: %3 is in line 1 already");
  EXPECT_EQ(failure_with("k: %3\n").substr(0, 14), "groups.txt: %6");
}

TEST(StageFiles, every_stage_is_dumped) {
  const Stages stages;
  const std::set<std::string> names = stages.dumped();
  for (const char* name : {"graph.hlir", "rewritten.llir", "groups.txt", "schedules.txt", "plan.txt"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_TRUE(names.contains(stages.kernel("map") + ".c"));
  EXPECT_TRUE(names.contains(stages.kernel("map") + ".llir"));
  EXPECT_EQ(names.size(), 9u);  // two kernels
}

TEST(StageFiles, a_copy_of_a_dump_changes_nothing) {
  Stages stages;
  const auto texts = [&] {
    std::string text;
    for (const ProgramKernel& kernel : stages.program().kernels) text += kernel.text.text + kernel.schedule;
    return text;
  };
  const std::string overrides = std::exchange(stages.options_.overrides, "");
  const std::string before = texts();
  stages.options_.overrides = overrides;
  stages.give_all();
  EXPECT_EQ(texts(), before);
}

TEST(StageFiles, a_graph_is_overridden) {
  const Stages stages;
  stages.edit("graph.hlir", "f32(2)", "f32(3)");
  EXPECT_EQ(stages.y(), (std::vector<float>{3, 7, 14}));
}

TEST(StageFiles, a_program_is_overridden_and_verified) {
  Stages stages;
  stages.edit("rewritten.llir", "f32(2)", "f32(3)");
  EXPECT_NE(stages.failure().find("does not compute the graph"), std::string::npos);
  EXPECT_NE(stages.failure().find("was it given, by LUMEN_OVERRIDE?"), std::string::npos);
  stages.options_.verify = false;
  EXPECT_EQ(stages.y(), (std::vector<float>{3, 7, 14}));
}

TEST(StageFiles, groups_are_overridden) {
  const Stages stages;
  EXPECT_EQ(stages.program().kernels.size(), 2u);
  stages.give("rewritten.llir", stages.read("rewritten.llir"));
  const std::string map = stages.kernel("map") + ": ";
  const std::string groups = stages.read("groups.txt");
  const size_t first = groups.find(map) + map.size();
  const std::string value = groups.substr(first, groups.find(' ', first) - first);
  stages.edit("groups.txt", map + value, "one: " + value + "\ntwo:");
  EXPECT_EQ(stages.program().kernels.size(), 3u);
  EXPECT_EQ(stages.y(), (std::vector<float>{2, 5, 10}));
}

TEST(StageFiles, a_schedule_is_overridden) {
  const Stages stages;
  const auto schedule_of = [](const Program& program) {
    for (const ProgramKernel& kernel : program.kernels) {
      if (kernel.schedule != "map") return kernel.schedule;
    }
    return std::string();
  };
  const std::string chosen = schedule_of(stages.program());
  const std::string other = "gemm mr=4 nr=16 kc=24 mc=8 nc=32";
  ASSERT_NE(chosen, other);
  stages.give("schedules.txt", stages.kernel(chosen) + ": " + other + "\n");
  EXPECT_EQ(schedule_of(stages.program()), other);
  stages.give("schedules.txt", stages.kernel(chosen) + ": interpreted\n");
  EXPECT_EQ(schedule_of(stages.program()), "");
}

TEST(StageFiles, the_text_of_a_kernel_is_overridden_and_verified) {
  Stages stages;
  stages.edit(stages.kernel("map") + ".c", "0x1p+1f", "0x1p+2f");
  EXPECT_NE(stages.failure().find("does not compute the graph"), std::string::npos);
  stages.options_.verify = false;
  EXPECT_EQ(stages.y(), (std::vector<float>{4, 9, 18}));
}

// The lines of a dumped plan that can be edited: "v3: slot 0\n" …
std::string slots_of(const std::string& plan) {
  std::istringstream in(plan);
  std::string slots;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) slots += line.substr(0, line.find("  #")) + "\n";
  }
  return slots;
}

// y = x . w . w . w . w
std::shared_ptr<Graph> products() {
  auto graph = std::make_shared<Graph>();
  Tensor x = graph->input("x", {16, 16});
  const Tensor w = graph->input("w", {16, 16});
  for (int k = 0; k < 4; ++k) x = matmul(x, w);
  x.output("y");
  return graph;
}

TEST(StageFiles, a_plan_is_overridden_and_checked) {
  Stages stages(products());
  EXPECT_EQ(slots_of(stages.read("plan.txt")), "v2: slot 0\nv3: slot 1\nv4: slot 0\n") << stages.read("plan.txt");
  stages.give("plan.txt", "v2: slot 5\nv3: slot 1  # and so on\n\nv4: slot 2\n");
  const Program program = stages.program();
  EXPECT_EQ(std::vector(program.plan.slots.begin(), program.plan.slots.begin() + 3), (std::vector<uint32_t>{5, 1, 2}));
  Session session = make_session(compile_program(*products(), stages.options_));
  session.set("x", std::vector<float>(256, 1));
  session.set("w", std::vector<float>(256, 0.125F));
  session.execute();
  EXPECT_EQ(session.get<float>("y"), std::vector<float>(256, 16));
  stages.options_.dump = stages.options_.overrides + "/again";
  stages.program();
  std::ifstream again(stages.options_.dump + fmt::format("/{:016x}/plan.txt", products()->hash()));
  EXPECT_EQ(slots_of(std::string(std::istreambuf_iterator<char>(again), {})), "v2: slot 5\nv3: slot 1\nv4: slot 2\n");
}

TEST(StageFiles, a_plan_that_does_not_fit_is_an_error) {
  const Stages stages(products());
  const auto failure_with = [&](const std::string& text) {
    stages.give("plan.txt", text);
    return stages.failure();
  };
  EXPECT_EQ(failure_with("v2: slot 1\nv3: slot 1\nv4: slot 0\n"), "plan.txt: call 1 writes what it reads");
  EXPECT_EQ(failure_with("v2: slot 0\nv3: slot 1\n"), "plan.txt: v4 has no slot");
  EXPECT_EQ(failure_with("v2: slot 0\nv2: slot 1\n"), "plan.txt:2:1: v2 is in line 1 already");
  EXPECT_EQ(failure_with("v0: slot 0\n"), "plan.txt:1:1: the arena of this program has no v0");
  EXPECT_EQ(failure_with("scratch9: slot 0\n"), "plan.txt:1:1: the arena of this program has no scratch9");
  EXPECT_EQ(failure_with("v2: 0\n"), "plan.txt:1:1: expected `slot 0` to `slot 6`, got `0`");
  EXPECT_EQ(failure_with("v2: slot 7\n"), "plan.txt:1:1: expected `slot 0` to `slot 6`, got `slot 7`");
  EXPECT_EQ(failure_with("v2: slot -1\n"), "plan.txt:1:1: expected `slot 0` to `slot 6`, got `slot -1`");
  EXPECT_EQ(failure_with("v2 slot 1\n"), "plan.txt:1:1: expected `NAME: …`, got `v2 slot 1`");
}

TEST(StageFiles, parts_have_names_of_their_own) {
  auto graph = std::make_shared<Graph>();
  Tensor x = graph->input("x", {8, 16});
  for (int k = 0; k < 6; ++k) {
    const auto weight = [&](const char* name, Shape shape) {
      return graph->input(fmt::format("{}{}", name, k), std::move(shape), f32, InputKind::weight);
    };
    const Tensor h = rms_norm(x, weight("norm", {16}));
    x = x + matmul(silu(matmul(h, weight("up", {16, 24}))), weight("down", {24, 16}));
  }
  matmul(x, transpose(x)).output("y");
  const Stages stages(graph);
  const std::set<std::string> names = stages.dumped();
  EXPECT_TRUE(names.contains("graph.hlir"));
  EXPECT_TRUE(names.contains("part0.graph.hlir"));
  EXPECT_TRUE(names.contains("part0.groups.txt"));
  EXPECT_TRUE(names.contains("part1.schedules.txt"));
  EXPECT_FALSE(names.contains("groups.txt"));
  stages.give_all();
  EXPECT_GT(stages.program().calls.size(), 6u);
  stages.edit("part0.graph.hlir", "Add", "Mul");
  EXPECT_EQ(stages.failure(), "part0.graph.hlir: not the part that graph.hlir is cut into; edit that instead");
  stages.give("part0.graph.hlir", stages.read("part0.graph.hlir"));
  stages.give("part9.schedules.txt", "");
  EXPECT_EQ(stages.failure(), "part9.schedules.txt belongs to no stage, part or kernel of this program");
}

}  // namespace
}  // namespace lumen
