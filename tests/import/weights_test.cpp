#include "lumen/import/weights.h"

#include "lumen/import/safetensors.h"
#include "tests/import/files.h"
#include "tests/import/gguf_bytes.h"

namespace lumen::testing {
namespace {

class WeightsFiles : public ImportTest {
 protected:
  using Tensors = std::map<std::string, HostTensor, std::less<>>;
  void shard(const char* file, const std::vector<std::string>& names) const {
    Tensors tensors;
    for (const std::string& name : names) tensors[name] = tensor(DType::f32, {2}, {1, 2});
    ASSERT_TRUE(write_safetensors(path(file), tensors).ok());
  }
  std::string failure(const char* what = "") const {
    const Expected<Weights> result = Weights::open(path(what));
    return result.ok() ? "no error" : result.diag().str();
  }
  // An index of a in one.safetensors and b in two.safetensors.
  std::string put_index() const {
    return put("model.safetensors.index.json",
               R"({"metadata":{"total_size":16},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  }
};

TEST_F(WeightsFiles, RefusesFoldersWithoutWeights) {
  EXPECT_EQ(failure(), path("") + ": the folder has neither model.safetensors nor model.safetensors.index.json");
  EXPECT_EQ(failure("absent"), path("absent") + ": cannot open: No such file or directory");
  EXPECT_EQ(failure(), path("") + ": the folder has neither model.safetensors nor model.safetensors.index.json");
}

TEST_F(WeightsFiles, RefusesIndexesThatLie) {
  const std::string index = path("model.safetensors.index.json");
  const auto with = [&](std::string_view text) {
    put("model.safetensors.index.json", text);
    return failure();
  };
  EXPECT_EQ(with("[]"), index + ": the index is not a JSON object");
  EXPECT_EQ(with("{}"), index + ": no \"weight_map\" from names to files");
  EXPECT_EQ(with(R"({"weight_map":{}})"), index + ": an index of no tensors");
  EXPECT_EQ(with(R"({"weight_map":{"a":1}})"), index + ": tensor \"a\" is in no file: 1");
  EXPECT_EQ(with(R"({"weight_map":{"a":"../a.safetensors"}})"),
            index + ": tensor \"a\" is in \"../a.safetensors\", which is no file of this folder");
  EXPECT_EQ(with(R"({"weight_map":{"a":"x","a":"y"}})"), index + ": name \"a\" occurs twice in the index");
  put_index();
  shard("one.safetensors", {"a"});
  EXPECT_EQ(failure(), index + ": the shard two.safetensors is missing; 1 tensors are in it");
  shard("two.safetensors", {"c"});
  EXPECT_EQ(failure(), index + ": two.safetensors has tensor \"c\", which the index does not have");
  shard("two.safetensors", {"a", "b"});
  EXPECT_EQ(failure(), path("two.safetensors") + ": tensor \"a\" is also in " + path("one.safetensors"));
  shard("one.safetensors", {"b"});
  shard("two.safetensors", {"a"});
  EXPECT_EQ(failure(), index + ": two.safetensors has tensor \"a\", which the index puts into one.safetensors");
  shard("one.safetensors", {"a"});
  ASSERT_TRUE(write_safetensors(path("two.safetensors"), Tensors{}).ok());
  EXPECT_EQ(failure(), index + ": two.safetensors has no tensor \"b\"");
}

TEST_F(WeightsFiles, OpensEveryForm) {
  shard("one.safetensors", {"a"});
  shard("two.safetensors", {"b"});
  const std::string index = put_index();
  for (const std::string& given : {path(""), index}) {
    const Weights weights = Weights::open(given).value();
    EXPECT_EQ(weights.files(), (std::vector{path("one.safetensors"), path("two.safetensors")}));
    EXPECT_EQ(weights.entries().size(), 2u);
    EXPECT_EQ(weights.find("b").value()->bytes.size(), 8u);
    EXPECT_EQ(weights.gguf(), nullptr);
  }
  shard("model.safetensors", {"c"});
  EXPECT_EQ(Weights::open(path("")).value().find("c").value()->type_name, "f32");
  put("any.bin",
      padded(gguf_start(2, 1) + gguf_u32("k", 5) + gguf_tensor("w", {32, 2}, 8, 0) + gguf_tensor("iq", {256}, 16, 96)) +
          std::string(96 + 66, '\0'));
  const Weights weights = Weights::open(path("any.bin")).value();
  EXPECT_EQ(weights.gguf()->integer("k").value(), 5);
  EXPECT_EQ(weights.find("w").value()->type_name, "q8_0");
  EXPECT_EQ(weights.find("w").value()->dims, (std::vector<int64_t>{2, 32}));
  EXPECT_EQ(weights.find("iq").diag().str(),
            path("any.bin") + ": tensor \"iq\" has the type IQ2_XXS, which is not supported");
  EXPECT_EQ(weights.find("iqq").diag().str(), path("any.bin") + ": no tensor \"iqq\"; did you mean \"iq\"?");
}

// Part `number` of `count`, with tensors of one f32 each.
std::string gguf_part(uint32_t number, uint32_t count, const std::vector<const char*>& names, uint32_t total = 3) {
  std::string text = gguf_start(names.size(), 3) + gguf_u32("split.no", number) + gguf_u32("split.count", count) +
                     gguf_u32("split.tensors.count", total);
  for (size_t k = 0; k < names.size(); ++k) text += gguf_tensor(names[k], {1}, 0, 32 * k);
  return padded(text) + std::string(names.empty() ? 0 : 32 * names.size() - 28, '\1');
}

TEST_F(WeightsFiles, RefusesPartsThatDoNotBelongTogether) {
  const std::string first = path("m-00001-of-00002.gguf"), second = path("m-00002-of-00002.gguf");
  put("m-00001-of-00002.gguf", gguf_part(0, 2, {"a", "b"}));
  EXPECT_EQ(failure("m-00001-of-00002.gguf"), first + ": part 2 of 2 is missing: " + second);
  put("m-00002-of-00002.gguf", gguf_part(1, 3, {"c"}));
  EXPECT_EQ(failure("m-00001-of-00002.gguf"), second + ": part 2 of 2 is wanted, this is part 2 of 3");
  put("m-00002-of-00002.gguf", gguf_part(1, 2, {"b"}));
  EXPECT_EQ(failure("m-00001-of-00002.gguf"), second + ": tensor \"b\" is also in " + first);
  put("m-00002-of-00002.gguf", gguf_part(1, 2, {"c", "d"}));
  EXPECT_EQ(failure("m-00001-of-00002.gguf"),
            first + ": metadata \"split.tensors.count\" is 3, the 2 parts have 4 tensors");
  put("m-00002-of-00002.gguf", "GGUF");
  EXPECT_NE(failure("m-00001-of-00002.gguf"), "no error");
  put("other.gguf", gguf_part(1, 2, {"c"}));
  EXPECT_EQ(failure("other.gguf"),
            path("other.gguf") + ": it is part 2 of 2, so its name must end in \"-00002-of-00002.gguf\"");
  put("other.gguf", gguf_part(2, 2, {"c"}));
  EXPECT_EQ(failure("other.gguf"),
            path("other.gguf") + ": metadata \"split.no\" is 2 and \"split.count\" 2: there is no such part");
}

TEST_F(WeightsFiles, AnyPartStandsForAll) {
  put("m-00001-of-00002.gguf", gguf_part(0, 2, {"a", "b"}));
  put("m-00002-of-00002.gguf", gguf_part(1, 2, {"c"}));
  put("whole.gguf", gguf_part(0, 1, {"a"}, 1));
  for (const char* const given : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
    const Weights weights = Weights::open(path(given)).value();
    EXPECT_EQ(weights.files(), (std::vector{path("m-00001-of-00002.gguf"), path("m-00002-of-00002.gguf")}));
    EXPECT_EQ(weights.entries().size(), 3u);
    EXPECT_EQ(weights.gguf()->integer("split.no").value(), 0);
    EXPECT_EQ(weights.find("c").value()->bytes.size(), 4u);
  }
  EXPECT_EQ(Weights::open(path("whole.gguf")).value().entries().size(), 1u);
}

TEST_F(WeightsFiles, TellsAllThatDoesNotFitAtOnce) {
  shard("model.safetensors", {"a", "b", "c", "d"});
  const Weights weights = Weights::open(path("")).value();
  EXPECT_EQ(check_weights(weights,
                          std::vector<WantedWeight>{
                              {"b", {2}, DType::f16}, {"a", {3}, {}}, {"c", {2}, {}}, {"x", {4, 5}, DType::f32}})
                .diag()
                .str(),
            path("") +
                ": the weights do not fit: 1 missing, 1 unexpected, 2 mismatched\n"
                "  note: missing: x f32[4,5]\n"
                "  note: unexpected: d f32[2]\n"
                "  note: mismatched: b is f32[2], f16[2] is wanted\n"
                "  note: mismatched: a is f32[2], f32[3] is wanted");
  std::vector<WantedWeight> many;
  for (int k = 0; k < 20; ++k) many.push_back({"layer." + std::to_string(k), {1}, {}});
  const std::string text = check_weights(weights, many).diag().str();
  EXPECT_NE(text.find(": 20 missing, 4 unexpected\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  note: missing: layer.7 [1]\n  note: missing: and 12 more\n"), std::string::npos) << text;
  EXPECT_TRUE(
      check_weights(weights,
                    std::vector<WantedWeight>{{"a", {2}, {}}, {"b", {2}, {}}, {"c", {2}, DType::f32}, {"d", {2}, {}}})
          .ok());
}

}  // namespace
}  // namespace lumen::testing
