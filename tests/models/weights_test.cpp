#include "models/weights.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

std::string bind_error(const std::string& path, Session& session) {
  Expected<Weights> weights = Weights::open(path);
  if (!weights.ok()) return weights.diag().str();
  const Expected<void> bound = weights->bind(session);
  return bound.ok() ? "" : bound.diag().str();
}

TEST(Weights, names_what_is_missing) {
  const ScratchDir dir;
  EXPECT_EQ(bind_error(dir.path(), *std::make_unique<Session>(graph_of({}))),
            dir.path() + ": has neither model.safetensors nor model.safetensors.index.json");
  write_safetensors(dir / "model.safetensors", Tensors{{"b", filled(f32, {2}, 1)}}).value();
  Session session(graph_of({{"a", {f32, {2}}}, {"b", {f32, {2}}}, {"c", {f32, {2}}}}));
  EXPECT_EQ(bind_error(dir.path(), session), "the files lack 2 of the model's parameters: a, c");
}

TEST(Weights, names_what_does_not_fit) {
  const ScratchDir dir;
  write_safetensors(dir / "model.safetensors", Tensors{{"a", filled(f32, {3}, 1)}}).value();
  Session session(graph_of({{"a", {bf16, {2}}}}));
  EXPECT_EQ(bind_error(dir.path(), session), "parameter \"a\" is bf16[2], the file has f32[3]");
}

TEST(Weights, an_index_stays_in_its_folder) {
  const ScratchDir dir;
  std::ofstream(dir / "model.safetensors.index.json") << R"({"weight_map": {"a": "../a.safetensors"}})";
  Session session(graph_of({}));
  EXPECT_EQ(bind_error(dir.path(), session),
            dir / "model.safetensors.index.json" + ": the file of \"a\" is not a name");
  std::ofstream(dir / "model.safetensors.index.json") << "{";
  EXPECT_EQ(bind_error(dir.path(), session),
            dir / "model.safetensors.index.json" + ": not a JSON object with a weight_map");
}

TEST(Weights, converts_stacks_and_finds_by_the_shorter_name) {
  const ScratchDir dir;
  write_safetensors(dir / "one.safetensors",
                    Tensors{{"wte.weight", filled(f32, {2}, 1)}, {"m.experts.0.up.weight", filled(bf16, {2}, 10)}})
      .value();
  write_safetensors(dir / "two.safetensors", Tensors{{"m.experts.1.up.weight", filled(f32, {2}, 20)}}).value();
  std::ofstream(dir / "model.safetensors.index.json")
      << R"({"weight_map": {"wte.weight": "one.safetensors", "m.experts.1.up.weight": "two.safetensors"}})";
  Session session(graph_of({{"transformer.wte.weight", {bf16, {2}}}, {"m.experts.up.weight", {f32, {2, 2}}}}));
  Weights weights = Weights::open(dir.path()).value();
  weights.bind(session).value();
  session.execute();
  EXPECT_EQ(session.get<float>("transformer.wte.weight.out"), (std::vector<float>{1, 2}));
  EXPECT_EQ(session.get<float>("m.experts.up.weight.out"), (std::vector<float>{10, 11, 20, 21}));
}

TEST(Weights, floats_at_an_odd_place_are_aligned) {
  const ScratchDir dir;
  HostTensor byte{u8, {1}, {Lane{.i = 7}}};
  write_safetensors(dir / "model.safetensors", Tensors{{"a", byte}, {"b", filled(f32, {2}, 1)}}).value();
  Session session(graph_of({{"a", {u8, {1}}}, {"b", {f32, {2}}}}));
  Weights weights = Weights::open(dir.path()).value();
  weights.bind(session).value();
  session.execute();
  EXPECT_EQ(session.get<float>("b.out"), (std::vector<float>{1, 2}));
  EXPECT_EQ(session.get<int64_t>("a.out"), std::vector<int64_t>{7});
}

}  // namespace
}  // namespace lumen::models
