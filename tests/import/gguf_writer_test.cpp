#include <algorithm>

#include "lumen/import/blocks.h"
#include "lumen/import/gguf.h"
#include "tests/import/files.h"
#include "tests/import/gguf_bytes.h"

namespace lumen::testing {
namespace {

class GgufWriter : public ImportTest {
 protected:
  static TensorToWrite some(const char* name, const StorageType& type, std::vector<int64_t> dims) {
    const auto size = static_cast<size_t>(stored_bytes(type, dims).value_or(0));
    return {name, type, std::move(dims), [size] { return std::vector<std::byte>(size, std::byte{3}); }};
  }
};

TEST_F(GgufWriter, RefusesWhatTheFormatLacks) {
  const std::string file = path("a.gguf");
  const auto write = [&](const char* name, const StorageType& type, std::vector<int64_t> dims) {
    return write_gguf(file, {}, {some(name, type, std::move(dims))}).diag().str();
  };
  EXPECT_EQ(write("a", DType::u8, {2}), file + ": tensor \"a\": GGUF cannot hold u8[2]");
  EXPECT_EQ(write("a", DType::f32, {1, 1, 1, 1, 1}), file + ": tensor \"a\": GGUF cannot hold f32[1,1,1,1,1]");
  EXPECT_EQ(write("a", BlockType::q8_0, {3, 40}), file + ": tensor \"a\": GGUF cannot hold q8_0[3,40]");
  EXPECT_EQ(write("\xff", DType::f32, {2}), file + ": a tensor's name is no UTF-8 text");
  EXPECT_EQ(write_gguf(file, {}, {some("a", DType::f32, {1}), some("a", DType::f32, {1})}).diag().str(),
            file + ": tensor \"a\" is given twice");
  EXPECT_EQ(write_gguf(file, {{"general.alignment", GgufValue::of_u32(64)}}, {}).diag().str(),
            file + ": the alignment is not for the caller to give");
  TensorToWrite broken = some("a", DType::f32, {1});
  broken.bytes = [] { return Expected<std::vector<std::byte>>(error("no bytes")); };
  EXPECT_EQ(write_gguf(file, {}, {broken}).diag().str(), "no bytes");
  EXPECT_EQ(files(), 0u);
}

TEST_F(GgufWriter, WritesTheKnownBytes) {
  const std::string file = path("w.gguf");
  ASSERT_TRUE(write_gguf(file, {{"a", GgufValue::of_u32(7)}}, {some("w", DType::f32, {3, 2})}).ok());
  EXPECT_EQ(contents(file), padded(gguf_start(1, 1) + gguf_u32("a", 7) + gguf_tensor("w", {2, 3}, 0, 0)) +
                                padded(std::string(24, '\3')));
}

TEST_F(GgufWriter, RoundTrips) {
  const std::string file = path("all.gguf");
  GgufMetadata metadata;
  for (const GgufType type : {GgufType::u8, GgufType::i8, GgufType::u16, GgufType::i16, GgufType::u32, GgufType::i32,
                              GgufType::u64, GgufType::i64, GgufType::bool_}) {
    metadata[std::string(name(type))] = GgufValue::of(type, 1);
    metadata["[" + std::string(name(type)) + "]"] = GgufValue::of_array(type, GgufValue::Integers{0, 1});
  }
  metadata["minus"] = GgufValue::of(GgufType::i16, -300);
  metadata["f32"] = GgufValue::of_f32(0.5);
  metadata["f64"] = GgufValue::of_array(GgufType::f64, GgufValue::Floats{0.1, -2});
  metadata["s"] = GgufValue::of_string("text");
  metadata["none"] = GgufValue::of_array(GgufType::string, GgufValue::Strings{});
  std::vector<TensorToWrite> tensors{some("empty", DType::f32, {0, 3}), some("scalar", DType::f32, {})};
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::i64}) {
    tensors.push_back(some(std::string(name(dtype)).c_str(), dtype, {3, 5}));
  }
  for (const BlockInfo& about : all_block_types()) {
    tensors.push_back(some(std::string(about.name).c_str(), about.type, {3, 512}));
  }
  size_t wrote = 0;
  ASSERT_TRUE(write_gguf(file, metadata, tensors, [&](size_t bytes) { wrote += bytes; }).ok());
  const std::string first = contents(file);
  std::ranges::reverse(tensors);
  ASSERT_TRUE(write_gguf(file, metadata, tensors).ok());
  EXPECT_EQ(contents(file), first);
  const Gguf read = Gguf::open(file).value();
  EXPECT_EQ(read.metadata(), metadata);
  EXPECT_EQ(read.entries().size(), tensors.size());
  size_t bytes = 0;
  for (const TensorToWrite& tensor : tensors) {
    const Gguf::Entry& entry = read.entries().at(tensor.name);
    EXPECT_EQ(storage_type(entry.type), tensor.type);
    EXPECT_EQ(entry.dims, tensor.dims);
    EXPECT_EQ(static_cast<int64_t>(entry.bytes.size()), stored_bytes(tensor.type, tensor.dims));
    bytes += entry.bytes.size();
  }
  EXPECT_EQ(bytes, wrote);
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace lumen::testing
