#include "lumen/import/safetensors.h"

#include "tests/import/files.h"

namespace lumen::testing {
namespace {

std::string safetensors(const std::string& header, const std::string& data) {
  std::string file;
  for (size_t k = 0; k < 8; ++k) file += static_cast<char>(header.size() >> 8 * k);
  return file + header + data;
}

std::string safetensors_failure(std::string_view file) {
  const Expected<SafeTensors> result = SafeTensors::parse(bytes_of(file), "a.st");
  return result.ok() ? "no error" : result.diag().str();
}

class SafeTensorsFile : public ImportTest {};

TEST_F(SafeTensorsFile, RefusesWhatIsNone) {
  EXPECT_EQ(safetensors_failure(""), "a.st: truncated: 0 bytes, a length takes 8");
  EXPECT_EQ(safetensors_failure("\xff\xff\xff\xff\xff\xff\xff\xff{}"),
            "a.st: a header of 18446744073709551615 bytes is too long");
  EXPECT_EQ(safetensors_failure(safetensors("{}", "").substr(0, 9)),
            "a.st: truncated: a header of 2 bytes, 1 are there");
  EXPECT_EQ(safetensors_failure(safetensors("[]", "")), "a.st: the header is not a JSON object");
  EXPECT_EQ(safetensors_failure(safetensors("{\"a\":}", "")), "a.st: the header is not a JSON object");
  EXPECT_EQ(SafeTensors::open(path("absent")).diag().str(),
            path("absent") + ": cannot open: No such file or directory");
}

TEST_F(SafeTensorsFile, RefusesDescriptionsThatLie) {
  const auto with = [](const std::string& entry) {
    return safetensors_failure(safetensors("{\"w\":" + entry + "}", "12345678"));
  };
  EXPECT_EQ(with("3"), "a.st: tensor \"w\": not a description with dtype, shape and data_offsets");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[2]})"),
            "a.st: tensor \"w\": not a description with dtype, shape and data_offsets");
  EXPECT_EQ(with(R"({"dtype":"C64","shape":[1],"data_offsets":[0,8]})"), "a.st: tensor \"w\": unknown dtype C64");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
            "a.st: tensor \"w\": shape or data_offsets is not a list of sizes");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"),
            "a.st: tensor \"w\": shape or data_offsets is not a list of sizes");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,9]})"),
            "a.st: tensor \"w\": shape or data_offsets is not a list of sizes");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})"),
            "a.st: tensor \"w\": data_offsets [0,12] are outside the 8 bytes of data");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"),
            "a.st: tensor \"w\": data_offsets [8,0] are outside the 8 bytes of data");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
            "a.st: tensor \"w\": F32[3] needs 12 bytes, data_offsets [0,8] give 8");
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,8]})"),
            "a.st: tensor \"w\": F32[4294967296,4294967296,4] needs no number of bytes, data_offsets [0,8] give 8");
  EXPECT_EQ(safetensors_failure(safetensors(R"({"__metadata__":{"a":1}})", "")),
            "a.st: __metadata__ is not a map of strings");
  EXPECT_EQ(safetensors_failure(safetensors(R"({"__metadata__":[]})", "")),
            "a.st: __metadata__ is not a map of strings");
}

TEST_F(SafeTensorsFile, RefusesOverlapsGapsAndRepetitions) {
  const auto two = [](const std::string& a, const std::string& b, const std::string& name = "b") {
    return safetensors_failure(safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + a + "},\"" + name +
                                               R"(":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
                                           "12345678"));
  };
  EXPECT_EQ(two("[0,4]", "[4,8]"), "no error");
  EXPECT_EQ(two("[4,8]", "[0,4]"), "no error");
  EXPECT_EQ(two("[0,4]", "[3,7]"), "a.st: tensors \"a\" and \"b\" overlap");
  EXPECT_EQ(two("[0,4]", "[0,4]"), "a.st: tensors \"a\" and \"b\" overlap");
  EXPECT_EQ(two("[0,4]", "[4,8]", "a"), "a.st: name \"a\" occurs twice in the header");
  const std::string one = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  EXPECT_EQ(safetensors_failure(safetensors(one, "12345")), "a.st: byte 4 of the data belongs to no tensor");
  const std::string late = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})";
  EXPECT_EQ(safetensors_failure(safetensors(late, "12345")), "a.st: byte 0 of the data belongs to no tensor");
}

TEST_F(SafeTensorsFile, EveryTruncationIsAnError) {
  const std::string file = safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "1234");
  EXPECT_EQ(safetensors_failure(file), "no error");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(safetensors_failure(std::string_view(file).substr(0, size)), "no error") << size;
  }
}

TEST_F(SafeTensorsFile, RoundTripsEveryDtype) {
  std::map<std::string, HostTensor, std::less<>> tensors;
  for (const DTypeInfo& about : all_dtypes()) {
    if (about.dtype == DType::tf32 || about.dtype == DType::i4 || about.dtype == DType::u4) continue;
    tensors[std::string(about.name)] = tensor(about.dtype, {2, 4}, {1, 2, 1, 1, 2, 1, 1, 2});
  }
  tensors["empty"] = tensor(DType::f32, {0, 3}, {});
  tensors["scalar"] = tensor(DType::f32, {}, {0.5});
  const std::string file = path("all.safetensors");
  ASSERT_TRUE(write_safetensors(file, tensors, {{"format", "pt"}}).ok());
  const std::string first = contents(file);
  ASSERT_TRUE(write_safetensors(file, tensors, {{"format", "pt"}}).ok());
  EXPECT_EQ(contents(file), first);
  const SafeTensors read = SafeTensors::open(file).value();
  EXPECT_EQ(read.entries().size(), tensors.size());
  EXPECT_EQ(read.metadata().at("format"), "pt");
  for (const auto& [name, given] : tensors) expect_same(read.tensor(name).value(), given);
  EXPECT_EQ(read.tensor("scalr").diag().str(), file + ": no tensor \"scalr\"; did you mean \"scalar\"?");
  EXPECT_EQ(files(), 1U);
}

TEST_F(SafeTensorsFile, WritesTheKnownBytes) {
  const std::string file = path("w.safetensors");
  ASSERT_TRUE(write_safetensors(file, {{"w", tensor(DType::bf16, {2}, {1, -2})}}).ok());
  std::string header = R"({"w":{"data_offsets":[0,4],"dtype":"BF16","shape":[2]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(contents(file), safetensors(header, std::string("\x80\x3f\x00\xc0", 4)));
}

TEST_F(SafeTensorsFile, RefusesToWriteWhatTheFormatLacks) {
  const std::string file = path("x");
  EXPECT_EQ(write_safetensors(file, {{"a", tensor(DType::i4, {2}, {1, 2})}}).diag().str(),
            file + ": tensor \"a\": .safetensors cannot hold i4[2]");
  EXPECT_EQ(write_safetensors(file, {{"a", tensor(DType::f4e2m1, {3}, {1, 2, 3})}}).diag().str(),
            file + ": tensor \"a\": .safetensors cannot hold f4e2m1[3]");
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace lumen::testing
