// Files for the import tests: a fresh folder per test, and bytes in and out.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/ir/host_tensor.h"

namespace lumen::testing {

class ImportTest : public ::testing::Test {
 protected:
  ImportTest() {
    const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("lumen_import_") + info->test_suite_name() + "_" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ImportTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::string put(const char* name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string contents(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  size_t files() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {})); }

 private:
  std::filesystem::path folder_;
};

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline HostTensor tensor(DType dtype, std::vector<int64_t> dims, const std::vector<double>& values) {
  HostTensor result{dtype, std::move(dims), {}};
  for (const double value : values) result.lanes.push_back(Scalar::of(dtype, value).value);
  return result;
}

inline void expect_same(const HostTensor& a, const HostTensor& b) {
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.dims, b.dims);
  ASSERT_EQ(a.lanes.size(), b.lanes.size());
  for (size_t k = 0; k < a.lanes.size(); ++k) EXPECT_EQ(a.lanes[k].i, b.lanes[k].i) << k;
}

}  // namespace lumen::testing
