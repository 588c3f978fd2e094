// The cases that generate.py wrote: cases.jsonl, one case a line, and data.bin with the elements.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/ir/host_tensor.h"

namespace lumen::conformance {

struct ExpectedTensor {
  HostTensor tensor;
  bool exact = false;  // every bit but those of a NaN
  double rtol = 0;
  double atol = 0;
  double gpu_atol = 0;  // what a GPU may add to it
};

struct Case {
  std::string function;
  std::string what;
  bool symbolic = false;  // to be run a second time, with symbols for the dims
  std::vector<std::variant<std::monostate, HostTensor, bool, int64_t, double>> operands;  // monostate: left out
  nlohmann::json args;
  std::vector<ExpectedTensor> expected;
};

class CaseFile {
 public:
  // Reads both files of the folder.
  static Expected<CaseFile> open(const std::string& folder);
  size_t size() const { return lines_.size(); }
  Expected<Case> read(size_t k) const;

 private:
  Expected<HostTensor> read_tensor(const nlohmann::json& row) const;

  std::vector<std::string> lines_;
  std::string data_;
};

}  // namespace lumen::conformance
