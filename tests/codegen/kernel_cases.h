// Whole graphs as kernels of one kind, with random inputs, compared with the reference.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lumen/codegen/fold.h"
#include "lumen/codegen/map.h"
#include "lumen/kernel/carve.h"
#include "tests/codegen/cuda_emulator.h"
#include "tests/codegen/kernel_harness.h"

namespace lumen::testing {

// As KernelCases wants them: for no target in particular.
inline Expected<KernelText> map_text(const Graph& body, const std::string& name) { return print_map(body, name); }
inline Expected<KernelText> fold_text(const Graph& body, const std::string& name) { return print_fold(body, name); }

class KernelCases {
 public:
  using Printer = std::function<Expected<KernelText>(const Graph&, const std::string&)>;
  explicit KernelCases(Printer printer) : printer_(std::move(printer)) {}

  // Floats are compared within so many units in the last place, of `floor` where they are smaller.
  void add(const Graph& graph, const DimValues& dims, double units, std::string about, double floor = 0) {
    std::vector<NodeId> part, results;
    for (const NodeId id : graph.order()) part.push_back(id);
    for (const Output& output : graph.outputs()) results.push_back(output.value);
    const Carved carved = carve(graph, part, results);
    Case& made = cases_.emplace_back();
    made.body = carved.body;
    made.dims = dims_of(*carved.body, dims);
    for (const NodeId id : carved.operands) made.inputs.push_back(random_tensor(graph[id].type, dims));
    const auto text = printer_(*made.body, "k" + std::to_string(cases_.size() - 1));
    ASSERT_TRUE(text.ok()) << text.diag().message << "\n" << print(graph);
    made.kernel = *text;
    made.about = std::move(about);
    tolerances_.emplace_back(units, floor);
  }
  // In C, and some of them as CUDA text.
  void run_all() {
    run_all(kExactFlags, "cc");
    run_emulated();
  }
  void run_emulated() {
    std::vector<size_t> some;
    for (size_t k = 0; k < cases_.size(); ++k) some.push_back(k);
    std::shuffle(some.begin(), some.end(), random_);
    some.resize(std::min(some.size(), kMostEmulated));
    std::vector<KernelText> kernels;
    for (const size_t k : some) kernels.push_back(cases_[k].kernel);
    const Emulated emulated(kernels);
    for (const size_t k : some) {
      compare(k, [&](const Case& each) { return emulated.run(each, random_); });
      if (::testing::Test::HasFailure()) return;
    }
  }
  // As the CPU backend compiles, with each compiler that there is.
  void run_all_optimised() {
    run_all(kFastFlags, "cc");
    if (run_command("clang --version").status == 0) run_all(kFastFlags, "clang");
    run_emulated();
  }
  size_t size() const { return cases_.size(); }
  Case& last() { return cases_.back(); }
  std::mt19937_64& random() { return random_; }

 private:
  void run_all(const std::string& flags, const std::string& compiler) {
    std::vector<KernelText> kernels;
    for (const Case& each : cases_) kernels.push_back(each.kernel);
    const CompiledText compiled = compile(kernels, flags, compiler);
    for (size_t k = 0; k < cases_.size(); ++k) {
      compare(k, [&](const Case& each) { return run(each, compiled, random_); });
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  template <class Run>
  void compare(size_t k, Run run_case) {
    const Case& each = cases_[k];
    const Expected<std::vector<HostTensor>> wanted = wanted_of(each);
    const auto [got, fault] = run_case(each);
    ASSERT_EQ(fault != 0, !wanted.ok()) << each.about << "\n" << print(*each.body) << each.kernel.text;
    for (size_t o = 0; wanted.ok() && o < got.size(); ++o) {
      expect_same(got[o], (*wanted)[o], tolerances_[k].first, each, tolerances_[k].second);
    }
  }
  HostTensor random_tensor(const TensorType& type, const DimValues& dims) {
    HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
    for (Lane& lane : tensor.lanes) {
      const double x = static_cast<double>(random_() % 4001) / 500.0 - 4.0;
      lane = Scalar::of(type.dtype, is_float(type.dtype) ? x : std::round(x)).value;
    }
    return tensor;
  }

  static constexpr size_t kMostEmulated = 40;  // compiling them is what takes long

  Printer printer_;
  std::vector<Case> cases_;
  std::vector<std::pair<double, double>> tolerances_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace lumen::testing
