#include "tests/conformance/case_file.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <sstream>

namespace lumen::conformance {

using nlohmann::json;

namespace {

double float_of(const json& value) {
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return value.get<double>();
}

Expected<std::string> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return error(fmt::format("{}: cannot be opened; tests/conformance/generate.py writes it", path));
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

}  // namespace

Expected<CaseFile> CaseFile::open(const std::string& folder) {
  CaseFile file;
  std::istringstream cases(LUMEN_TRY(read_file(folder + "/cases.jsonl")));
  for (std::string line; std::getline(cases, line);) file.lines_.push_back(line);
  file.data_ = LUMEN_TRY(read_file(folder + "/data.bin"));
  return file;
}

Expected<HostTensor> CaseFile::read_tensor(const json& row) const {
  const std::string spelling = row.at("dtype").get<std::string>();
  const std::optional<DType> dtype = parse_dtype(spelling);
  if (!dtype) return error(fmt::format("no dtype `{}`", spelling));
  HostTensor tensor = HostTensor::poisoned(*dtype, row.at("shape").get<std::vector<int64_t>>());
  const auto offset = row.at("offset").get<size_t>();
  const auto bytes = static_cast<size_t>(storage_bytes(*dtype, tensor.numel()));
  if (offset > data_.size() || bytes > data_.size() - offset) return error("data.bin is too short");
  unpack(*dtype, std::as_bytes(std::span(data_).subspan(offset, bytes)), tensor.lanes);
  return tensor;
}

Expected<Case> CaseFile::read(size_t k) const try {
  const json row = json::parse(lines_[k]);
  Case result;
  result.function = row.at("function").get<std::string>();
  result.what = row.at("what").get<std::string>();
  result.symbolic = row.value("symbolic", false);
  result.args = row.at("args");
  for (const json& operand : row.at("operands")) {
    if (operand.is_null()) {
      result.operands.emplace_back();
    } else if (operand.contains("bool")) {
      result.operands.emplace_back(operand["bool"].get<bool>());
    } else if (operand.contains("int")) {
      result.operands.emplace_back(operand["int"].get<int64_t>());
    } else if (operand.contains("float")) {
      result.operands.emplace_back(float_of(operand["float"]));
    } else {
      result.operands.emplace_back(LUMEN_TRY(read_tensor(operand)));
    }
  }
  for (const json& expected : row.at("expected")) {
    result.expected.push_back({LUMEN_TRY(read_tensor(expected)), expected.value("exact", false),
                               expected.value("rtol", 0.0), expected.value("atol", 0.0),
                               expected.value("gpu_atol", 0.0)});
  }
  return result;
} catch (const json::exception& problem) {
  return error(fmt::format("cases.jsonl:{}: {}", k + 1, problem.what()));
}

}  // namespace lumen::conformance
