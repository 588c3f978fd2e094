#include "models/model_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lumen/import/safetensors.h"
#include "lumen/ir/random_tensor.h"
#include "models/model.h"
#include "tests/models/tiny.h"
#include "tests/support/scratch_dir.h"

namespace lumen::models {
namespace {

using tests::ScratchDir;
using Tensors = std::map<std::string, HostTensor, std::less<>>;

std::shared_ptr<Graph> graph_of(const std::vector<std::pair<std::string, TensorType>>& parameters) {
  const auto graph = std::make_shared<Graph>();
  for (const auto& [name, type] : parameters) {
    graph->input(name, type.shape, type.dtype, InputKind::weight).output(name + ".out");
  }
  return graph;
}

HostTensor filled(DType dtype, std::vector<int64_t> dims, double first) {
  HostTensor tensor = HostTensor::poisoned(dtype, std::move(dims));
  for (Lane& lane : tensor.lanes) lane.f = round_to(dtype, first++);
  return tensor;
}

// A folder with any configuration.
void configure(const ScratchDir& dir) { std::ofstream(dir / "config.json") << "{}"; }

std::string bind_error(const std::string& path, Session& session) {
  Expected<ModelFiles> files = ModelFiles::open(path);
  if (!files.ok()) return files.diag().str();
  const Expected<void> bound = files->bind(session);
  return bound.ok() ? "" : bound.diag().str();
}

TEST(ModelFiles, names_everything_that_does_not_fit) {
  const ScratchDir dir;
  Session none(graph_of({}));
  EXPECT_EQ(bind_error(dir / "none", none), dir / "none" + ": No such file or directory");
  write_safetensors(dir / "model.safetensors", Tensors{{"b", filled(f32, {3}, 1)}, {"d", filled(f32, {2}, 1)}}).value();
  EXPECT_EQ(bind_error(dir.path(), none), dir.path() + ": there is no config.json beside the weights");
  configure(dir);
  Session session(graph_of({{"a", {f32, {2}}}, {"b", {f32, {2}}}, {"c", {bf16, {2}}}}));
  const std::string text = bind_error(dir.path(), session);
  EXPECT_NE(text.find("2 missing, 1 of another shape, 1 unexpected"), std::string::npos) << text;
  EXPECT_NE(text.find("missing: a f32[2], c bf16[2]"), std::string::npos) << text;
  EXPECT_NE(text.find("b is f32[2], the file has f32[3]"), std::string::npos) << text;
  EXPECT_NE(text.find("unexpected: d"), std::string::npos) << text;
}

TEST(ModelFiles, stacks_experts_and_finds_by_the_shorter_name) {
  const ScratchDir dir;
  write_safetensors(dir / "one.safetensors",
                    Tensors{{"wte.weight", filled(f32, {2}, 1)}, {"m.experts.0.up.weight", filled(f32, {2}, 10)}})
      .value();
  write_safetensors(dir / "two.safetensors", Tensors{{"m.experts.1.up.weight", filled(f32, {2}, 20)}}).value();
  std::ofstream(dir / "model.safetensors.index.json")
      << R"({"weight_map": {"wte.weight": "one.safetensors", "m.experts.0.up.weight": "one.safetensors",
                            "m.experts.1.up.weight": "two.safetensors"}})";
  configure(dir);
  Session session(graph_of({{"transformer.wte.weight", {f32, {2}}}, {"m.experts.up.weight", {f32, {2, 2}}}}));
  ModelFiles files = ModelFiles::open(dir.path()).value();
  files.bind(session).value();
  session.execute();
  EXPECT_EQ(session.get<float>("transformer.wte.weight.out"), (std::vector<float>{1, 2}));
  EXPECT_EQ(session.get<float>("m.experts.up.weight.out"), (std::vector<float>{10, 11, 20, 21}));
}

TEST(ModelFiles, floats_at_an_odd_place_are_aligned) {
  const ScratchDir dir;
  HostTensor byte{u8, {1}, {Lane{.i = 7}}};
  write_safetensors(dir / "model.safetensors", Tensors{{"a", byte}, {"b", filled(f32, {2}, 1)}}).value();
  configure(dir);
  Session session(graph_of({{"a", {u8, {1}}}, {"b", {f32, {2}}}}));
  ModelFiles files = ModelFiles::open(dir.path()).value();
  files.bind(session).value();
  session.execute();
  EXPECT_EQ(session.get<float>("b.out"), (std::vector<float>{1, 2}));
  EXPECT_EQ(session.get<int64_t>("a.out"), std::vector<int64_t>{7});
}

}  // namespace
}  // namespace lumen::models
