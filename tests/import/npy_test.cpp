#include "lumen/import/npy.h"

#include "tests/import/files.h"

namespace lumen::testing {
namespace {

using namespace std::string_literals;

// A version 1 file with this header and data.
std::string npy(std::string header, std::string_view data) {
  header += '\n';
  return "\x93NUMPY\x01\x00"s + static_cast<char>(header.size()) + '\0' + header + std::string(data);
}

std::string npy_failure(std::string_view file) {
  const Expected<HostTensor> result = parse_npy(bytes_of(file), "a.npy");
  return result.ok() ? "no error" : result.diag().str();
}

class Npy : public ImportTest {};

TEST_F(Npy, RefusesWhatIsNone) {
  EXPECT_EQ(npy_failure(""), "a.npy: not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(npy_failure("PK\3\4"), "a.npy: not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(npy_failure("\x93NUMPY"), "a.npy: truncated: the version is missing");
  EXPECT_EQ(npy_failure("\x93NUMPY\x04\x00xxxxxxxx"s), "a.npy: .npy version 4 is not 1, 2 or 3");
  EXPECT_EQ(npy_failure("\x93NUMPY\x01\x00x"s), "a.npy: truncated: the length of the header is missing");
  EXPECT_EQ(npy_failure("\x93NUMPY\x01\x00\x10\x00{}"s), "a.npy: truncated: a header of 16 bytes, 2 are there");
  EXPECT_EQ(npy_failure("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s), "a.npy: a header of 4294967295 bytes is too long");
  EXPECT_EQ(read_npy(path("absent.npy")).diag().str(), path("absent.npy") + ": cannot open: No such file or directory");
  EXPECT_EQ(read_npy(path(".")).diag().str(), path(".") + ": not a file");
}

TEST_F(Npy, RefusesHeadersThatLie) {
  const auto with = [](const std::string& header) { return npy_failure(npy(header, "12345678")); };
  EXPECT_EQ(with("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"),
            "a.npy: f32[3] needs 12 bytes of data, 8 are there");
  EXPECT_EQ(with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"),
            "a.npy: f32[1] needs 4 bytes of data, 8 are there");
  EXPECT_EQ(with("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
            "a.npy: f32[4294967296,4294967296] needs too many bytes of data, 8 are there");
  EXPECT_EQ(with("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }"),
            "a.npy: not a .npy header: \"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\\n\"");
  for (const char* bad :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x"}) {
    EXPECT_TRUE(with(bad).starts_with("a.npy: not a .npy header: ")) << bad << ": " << with(bad);
  }
}

TEST_F(Npy, RefusesOtherDtypesByName) {
  const auto with = [](const std::string& descr) {
    return npy_failure(npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }", "12345678"));
  };
  EXPECT_EQ(with(">f8"), "a.npy: dtype '>f8' is big-endian");
  EXPECT_EQ(with("<c8"), "a.npy: dtype '<c8' is none that Lumen reads");
  EXPECT_EQ(with("<U2"), "a.npy: dtype '<U2' is none that Lumen reads");
  EXPECT_EQ(with("|O"), "a.npy: dtype '|O' is none that Lumen reads");
  EXPECT_EQ(with(""), "a.npy: dtype '' is none that Lumen reads");
  EXPECT_EQ(write_npy(path("x.npy"), tensor(DType::bf16, {1}, {1})).diag().str(),
            path("x.npy") + ": .npy has no dtype bf16");
  EXPECT_EQ(files(), 0U);
}

TEST_F(Npy, EveryTruncationIsAnError) {
  const std::string file = npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", "\1\0\2\0"s);
  EXPECT_EQ(npy_failure(file), "no error");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(npy_failure(std::string_view(file).substr(0, size)), "no error") << size;
  }
  EXPECT_NE(npy_failure(file + "x"), "no error");
}

TEST_F(Npy, ReadsVersionsAndOrders) {
  const std::string header = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }";
  const std::string data("\0\0\1\0\2\0\3\0\4\0\5\0", 12);
  const HostTensor wanted = tensor(DType::i16, {2, 3}, {0, 2, 4, 1, 3, 5});
  expect_same(parse_npy(bytes_of(npy(header, data)), "f").value(), wanted);
  for (const char version : {'\2', '\3'}) {
    const std::string file =
        "\x93NUMPY"s + version + '\0' + static_cast<char>(header.size()) + "\0\0\0"s + header + data;
    expect_same(parse_npy(bytes_of(file), "f").value(), wanted);
  }
  const std::string scalar = npy("{\"descr\": \"|b1\", \"fortran_order\": False, \"shape\": ()}", "\1");
  expect_same(parse_npy(bytes_of(scalar), "f").value(), tensor(DType::bool_, {}, {1}));
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  const std::string file = path("x.npy");
  ASSERT_TRUE(write_npy(file, tensor(DType::f32, {2}, {1, -2})).ok());
  const std::string wanted = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"s +
                             std::string(60, ' ') + "\n\x00\x00\x80\x3f\x00\x00\x00\xc0"s;
  EXPECT_EQ(contents(file), wanted);
  EXPECT_EQ(files(), 1U) << "the temporary file must be gone";
}

TEST_F(Npy, RoundTripsEveryDtype) {
  for (const DType dtype : {DType::bool_, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
                            DType::u32, DType::u64, DType::f16, DType::f32, DType::f64}) {
    for (const HostTensor& given :
         {tensor(dtype, {2, 2}, {0, 1, 1, 0}), tensor(dtype, {}, {1}), tensor(dtype, {3, 0}, {})}) {
      ASSERT_TRUE(write_npy(path("x.npy"), given).ok());
      expect_same(read_npy(path("x.npy")).value(), given);
    }
  }
}

TEST_F(Npy, AFailedWriteLeavesTheOldFile) {
  const std::string file = put("old.npy", "old");
  EXPECT_FALSE(write_npy(file, tensor(DType::f8e4m3, {1}, {1})).ok());
  EXPECT_EQ(contents(file), "old");
  EXPECT_EQ(write_npy(path("no/such/folder.npy"), tensor(DType::u8, {1}, {1})).diag().str(),
            path("no/such/folder.npy") + ": cannot write: No such file or directory");
}

}  // namespace
}  // namespace lumen::testing
