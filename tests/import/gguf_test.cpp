#include "lumen/import/gguf.h"

#include <cstring>

#include "lumen/import/blocks.h"
#include "tests/import/files.h"
#include "tests/import/gguf_bytes.h"

namespace lumen::testing {
namespace {

std::string failure(std::string_view file) {
  const Expected<Gguf> result = Gguf::parse(bytes_of(file), "a.gguf");
  return result.ok() ? "no error" : result.diag().str();
}
// What a file says that has one metadata value, or one tensor and `data`.
std::string with_value(const std::string& value) { return failure(gguf_start(0, 1) + value); }
std::string with_tensor(const std::string& tensor, size_t data) {
  return failure(padded(gguf_start(1, 0) + tensor) + std::string(data, '\0'));
}

class GgufFile : public ImportTest {};

TEST_F(GgufFile, RefusesWhatIsNone) {
  EXPECT_EQ(failure(""), "a.gguf: truncated at byte 0: the magic takes 4 bytes, 0 are left");
  EXPECT_EQ(failure("ggml1234"), "a.gguf: not a GGUF file: it does not start with GGUF");
  EXPECT_EQ(failure("GGUF" + u32(1)), "a.gguf: GGUF version 1, 2 and 3 are known");
  EXPECT_EQ(failure("GGUF" + u32(4)), "a.gguf: GGUF version 4, 2 and 3 are known");
  EXPECT_EQ(failure("GGUF" + u32(0x03000000)), "a.gguf: a big-endian GGUF file, which cannot be read");
  EXPECT_EQ(failure(gguf_start(0, 0)), "no error");
  EXPECT_EQ(failure(gguf_start(0, 0, 2)), "no error");
  EXPECT_EQ(Gguf::open(path("absent")).diag().str(), path("absent") + ": cannot open: No such file or directory");
}

TEST_F(GgufFile, RefusesCountsThatCannotBe) {
  EXPECT_EQ(failure(gguf_start(1, 0)), "a.gguf: 1 tensors do not fit in 0 bytes");
  EXPECT_EQ(failure(gguf_start(~uint64_t{0}, 0)), "a.gguf: 18446744073709551615 tensors do not fit in 0 bytes");
  EXPECT_EQ(failure(gguf_start(0, uint64_t{1} << 60) + std::string(64, '\0')),
            "a.gguf: 1152921504606846976 metadata values do not fit in 64 bytes");
  EXPECT_EQ(with_value(counted("a") + u32(9) + u32(4) + u64(uint64_t{1} << 62)),
            "a.gguf: truncated: metadata \"a\" has 4611686018427387904 values of type u32, 0 bytes are left");
  EXPECT_EQ(with_value(u64(~uint64_t{0}) + u32(8) + u64(0)),
            "a.gguf: truncated at byte 32: a metadata key takes 18446744073709551615 bytes, 12 are left");
}

TEST_F(GgufFile, RefusesMetadataThatLies) {
  EXPECT_EQ(with_value(gguf_u32("a", 7)), "no error");
  EXPECT_EQ(with_value(counted("a") + u32(13) + u32(7)), "a.gguf: metadata \"a\": unknown type 13");
  EXPECT_EQ(with_value(counted("a") + u32(9) + u32(9) + u64(0)), "a.gguf: metadata \"a\": an array of arrays");
  EXPECT_EQ(with_value(counted("a") + u32(7) + "\x02"), "a.gguf: metadata \"a\": a bool of 2");
  EXPECT_EQ(with_value(gguf_u32("", 7)), "a.gguf: the metadata key at byte 24 is no UTF-8 text");
  EXPECT_EQ(with_value(gguf_u32("\xc0\x80", 7)), "a.gguf: the metadata key at byte 24 is no UTF-8 text");
  EXPECT_EQ(with_value(gguf_u32("\xed\xa0\x80", 7)), "a.gguf: the metadata key at byte 24 is no UTF-8 text");
  EXPECT_EQ(with_value(gguf_u32("\xe2\x96\x81", 7)), "no error");
  EXPECT_EQ(failure(gguf_start(0, 2) + gguf_u32("a", 7) + gguf_u32("a", 7)), "a.gguf: metadata \"a\" occurs twice");
  EXPECT_EQ(with_value(gguf_u32("general.alignment", 24)), "a.gguf: an alignment of 24 is no power of two");
  EXPECT_EQ(with_value(gguf_u32("general.alignment", 0)), "a.gguf: an alignment of 0 is no power of two");
  EXPECT_EQ(with_value(gguf_string("general.alignment", "32")),
            "a.gguf: metadata \"general.alignment\" is string, u32 is wanted");
}

TEST_F(GgufFile, RefusesTensorsThatLie) {
  EXPECT_EQ(with_tensor(gguf_tensor("w", {2, 3}, 0, 0), 24), "no error");
  EXPECT_EQ(with_tensor(gguf_tensor("w", {2, 3}, 0, 0), 23),
            "a.gguf: tensor \"w\": F32[3,2] takes 24 bytes, the data ends 23 after offset 0");
  EXPECT_EQ(with_tensor(gguf_tensor("w", {2, 3}, 0, 16), 64),
            "a.gguf: tensor \"w\": offset 16 is no multiple of the alignment 32");
  EXPECT_EQ(with_tensor(gguf_tensor("w", {2}, 0, uint64_t{1} << 63), 32),
            "a.gguf: tensor \"w\": offset 9223372036854775808 is outside the 32 bytes of data");
  EXPECT_EQ(with_tensor(gguf_tensor("w", {1, 1, 1, 1, 1}, 0, 0), 32),
            "a.gguf: tensor \"w\": 5 dims, at most 4 are possible");
  EXPECT_EQ(with_tensor(gguf_tensor("w", {~uint64_t{0}}, 0, 0), 32),
            "a.gguf: tensor \"w\": a dim of 18446744073709551615 is too large");
  EXPECT_EQ(with_tensor(gguf_tensor("w", {uint64_t{1} << 40, uint64_t{1} << 40}, 0, 0), 32),
            "a.gguf: tensor \"w\": F32[1099511627776,1099511627776] is no whole number of blocks, or too large");
  EXPECT_EQ(with_tensor(gguf_tensor("w", {33}, 8, 0), 64),
            "a.gguf: tensor \"w\": Q8_0[33] is no whole number of blocks, or too large");
  EXPECT_EQ(with_tensor(gguf_tensor("\xff", {1}, 0, 0), 32), "a.gguf: the tensor's name at byte 24 is no UTF-8 text");
}

TEST_F(GgufFile, RefusesOverlapsGapsAndRepetitions) {
  const auto two = [](uint64_t second, size_t data, const char* name = "b", uint32_t type = 0) {
    return failure(padded(gguf_start(2, 0) + gguf_tensor("a", {16}, type, 0) + gguf_tensor(name, {8}, 0, second)) +
                   std::string(data, '\0'));
  };
  EXPECT_EQ(two(64, 96), "no error");
  EXPECT_EQ(two(64, 96 + 31), "no error");
  EXPECT_EQ(two(32, 96), "a.gguf: tensor \"b\": offset 32 lies in the tensor before it");
  EXPECT_EQ(two(0, 96), "a.gguf: tensor \"b\": offset 0 lies in the tensor before it");
  EXPECT_EQ(two(96, 128), "a.gguf: bytes 64 to 96 of the data belong to no tensor");
  EXPECT_EQ(two(64, 128), "a.gguf: bytes 96 to 128 of the data belong to no tensor");
  EXPECT_EQ(two(64, 96, "a"), "a.gguf: tensor \"a\" occurs twice");
  EXPECT_EQ(two(0, 96, "b", 77), "a.gguf: tensor \"b\": offset 0 lies in the tensor before it");
}

TEST_F(GgufFile, EveryTruncationIsAnError) {
  const std::string array = counted("c") + u32(9) + u32(8) + u64(2) + counted("x") + counted("yz");
  const std::string file = padded(gguf_start(2, 3) + gguf_u32("a", 1) + gguf_string("b", "text") + array +
                                  gguf_tensor("v", {8}, 0, 0) + gguf_tensor("w", {32, 16}, 8, 32)) +
                           std::string(32 + 34 * 16, '\1');
  EXPECT_EQ(failure(file), "no error");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(failure(std::string_view(file).substr(0, size)), "no error") << size;
  }
}

TEST_F(GgufFile, OpensWithTensorsOfUnknownTypes) {
  const std::string text = padded(gguf_start(3, 0) + gguf_tensor("iq", {256}, 16, 0) + gguf_tensor("new", {7}, 77, 96) +
                                  gguf_tensor("w", {2, 1}, 0, 128)) +
                           std::string(136, '\0');
  const Gguf file = Gguf::parse(bytes_of(text), "a.gguf").value();
  EXPECT_EQ(name(file.entries().at("iq").type), "IQ2_XXS");
  EXPECT_EQ(name(file.entries().at("new").type), "type 77");
  EXPECT_TRUE(file.entries().at("iq").bytes.empty());
  EXPECT_EQ(file.entries().at("w").bytes.size(), 8u);
  EXPECT_EQ(file.entries().at("w").dims, (std::vector<int64_t>{1, 2}));
}

TEST_F(GgufFile, MetadataHasItsTypes) {
  const std::string text = gguf_start(0, 6) + gguf_u32("u", 7) + gguf_string("s", "text") +
                           (counted("i") + u32(1) + "\xff") + (counted("big") + u32(10) + u64(~uint64_t{0})) +
                           (counted("f") + u32(6) + u32(0x3fc00000)) +
                           (counted("list") + u32(9) + u32(3) + u64(2) + little(0xfffe, 2) + little(5, 2));
  const Gguf file = Gguf::parse(bytes_of(text), "a.gguf").value();
  EXPECT_EQ(file.integer("u").value(), 7);
  EXPECT_EQ(file.integer("i").value(), -1);
  EXPECT_EQ(file.number("f").value(), 1.5);
  EXPECT_EQ(file.number("u").value(), 7.0);
  EXPECT_EQ(file.number("big").value(), 0x1p64);
  EXPECT_EQ(file.string("s").value(), "text");
  EXPECT_EQ(file.integers("list").value(), (std::vector<int64_t>{-2, 5}));
  EXPECT_EQ(file.numbers("list").value(), (std::vector<double>{-2, 5}));
  EXPECT_EQ(file.integer("big").diag().str(), "a.gguf: metadata \"big\" is 18446744073709551615, which is too large");
  EXPECT_EQ(file.integer("s").diag().str(), "a.gguf: metadata \"s\" is string, an integer is wanted");
  EXPECT_EQ(file.integer("list").diag().str(), "a.gguf: metadata \"list\" is [i16], a single value is wanted");
  EXPECT_EQ(file.integers("u").diag().str(), "a.gguf: metadata \"u\" is u32, an array is wanted");
  EXPECT_EQ(file.boolean("u").diag().str(), "a.gguf: metadata \"u\" is u32, a bool is wanted");
  EXPECT_EQ(file.strings("lisst").diag().str(), "a.gguf: no metadata \"lisst\"; did you mean \"list\"?");
}

}  // namespace
}  // namespace lumen::testing
