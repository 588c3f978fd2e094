// Runs generated kernels: compiles many at once, and compares what they give with the reference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "tests/codegen/compiled.h"
#include "tests/support/graphs/values.h"

namespace lumen::testing {

using KernelFunction = int64_t(const void* const*, void* const*, const int64_t*, int64_t, int64_t);

// Floats are rounded as the reference rounds them; and as the CPU backend compiles.
inline const char* const kExactFlags = "-O1 -ffp-contract=off";
inline const char* const kFastFlags = "-O3 " LUMEN_NATIVE " -ffp-contract=fast";

// Many kernels in one file, compiled once.
inline CompiledText compile(const std::vector<KernelText>& kernels, const std::string& given = kExactFlags,
                            const std::string& compiler = "cc") {
  std::string source = kernel_prelude(Syntax::c);
  std::string flags = given + " -w";
  for (const std::string& flag : kernel_c_flags()) flags += " " + flag;
  for (const KernelText& kernel : kernels) source += kernel.text;
  return CompiledText(source, flags, compiler);
}

inline std::vector<std::byte> stored(const HostTensor& tensor) {
  const auto bytes = static_cast<size_t>(storage_bytes(tensor.dtype, tensor.numel()));
  std::vector<std::byte> storage(bytes + 64, std::byte{0xa5});
  pack(tensor.dtype, tensor.lanes, std::span(storage).first(bytes));
  return storage;
}

struct Case {
  std::shared_ptr<const Graph> body;
  std::vector<HostTensor> inputs;
  DimValues dims;
  KernelText kernel;
  std::string about;
  int64_t blocks = 0;  // of each step on a GPU; 0: some number
};

// What the reference computes; an error where it does, such as for an index that is outside.
inline Expected<std::vector<HostTensor>> wanted_of(const Case& given) {
  std::vector<const HostTensor*> in;
  for (const HostTensor& input : given.inputs) in.push_back(&input);
  return interpret(*expand(*given.body), in, given.dims);
}

// The outputs of the kernel, the rows of each step done in pieces and out of order; the fault it returned.
inline std::pair<std::vector<HostTensor>, int64_t> run(const Case& given, const CompiledText& compiled,
                                                       std::mt19937_64& random) {
  std::vector<std::vector<std::byte>> storage;
  std::vector<const void*> in;
  for (const HostTensor& input : given.inputs) storage.push_back(stored(input));
  for (const std::vector<std::byte>& bytes : storage) in.push_back(bytes.data());
  std::vector<HostTensor> outputs;
  std::vector<std::vector<std::byte>> results;
  for (const Output& output : given.body->outputs()) {
    const TensorType type = (*given.body)[output.value].type;
    outputs.push_back(HostTensor::poisoned(type.dtype, type.shape.evaluate(given.dims).value()));
    results.push_back(stored(outputs.back()));
  }
  std::vector<void*> out;
  for (std::vector<std::byte>& bytes : results) out.push_back(bytes.data());
  std::vector<int64_t> dims;
  DimValues renamed;
  for (size_t k = 0; k < given.body->dims().size(); ++k) {
    dims.push_back(evaluate(given.body->dims()[k], given.dims).value());
    renamed.set("n" + std::to_string(k), dims.back());
  }
  const auto scratch_bytes = static_cast<size_t>(evaluate(given.kernel.scratch, renamed).value());
  std::vector<std::byte> scratch(scratch_bytes + 128, std::byte{0xa5});
  void* aligned = scratch.data();
  size_t space = scratch.size();
  out.push_back(std::align(64, scratch_bytes + 64, aligned, space));
  int64_t fault = 0;
  for (const KernelStep& step : given.kernel.steps) {
    auto* function = compiled.function<KernelFunction>(step.name);
    const int64_t rows = evaluate(step.rows, renamed).value();
    const auto pieces = static_cast<uint64_t>((rows + step.grain - 1) / step.grain);
    const int64_t middle = std::min(rows, static_cast<int64_t>(random() % (pieces + 1)) * step.grain);
    fault = std::max(fault, function(in.data(), out.data(), dims.data(), middle, rows));
    fault = std::max(fault, function(in.data(), out.data(), dims.data(), 0, middle));
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto bytes = static_cast<size_t>(storage_bytes(outputs[k].dtype, outputs[k].numel()));
    for (const std::byte after : std::span(results[k]).subspan(bytes)) {
      EXPECT_EQ(after, std::byte{0xa5}) << "behind the end of an output";
    }
    unpack(outputs[k].dtype, std::span(results[k]).first(bytes), outputs[k].lanes);
  }
  return {outputs, fault};
}

// Within some units in the last place of the dtype, at `floor` for smaller numbers: what differences are made of.
inline bool close(double got, double wanted, DType dtype, double units = 4, double floor = 0) {
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) && std::isnan(wanted);
  if (got == wanted) return true;
  const double unit = std::ldexp(1.0, -info(dtype).mantissa_bits);
  return std::fabs(got - wanted) <=
         units * unit * std::max({floor, std::fabs(wanted), std::ldexp(1.0, dtype == f64 ? -1022 : -126)});
}

// The largest number without its sign: what sums whose summands cancel are compared at.
inline double largest(std::span<const Lane> lanes) {
  double most = 0;
  for (const Lane& lane : lanes) most = std::max(most, std::fabs(lane.f));
  return most;
}

// Floats within so many units in the last place; everything else exactly.
inline void expect_same(const HostTensor& got, const HostTensor& wanted, double units, const Case& given,
                        double floor = 0) {
  ASSERT_EQ(got.dims, wanted.dims);
  for (size_t k = 0; k < wanted.lanes.size(); ++k) {
    const Scalar a{got.dtype, got.lanes[k]}, b{wanted.dtype, wanted.lanes[k]};
    const bool same = a == b || (is_float(a.dtype) && ((a.value.f == 0 && b.value.f == 0) ||
                                                       (std::isnan(a.value.f) && std::isnan(b.value.f)) ||
                                                       close(a.value.f, b.value.f, a.dtype, units, floor)));
    ASSERT_TRUE(same) << "element " << k << " is " << a.str() << ", not " << b.str() << "\n"
                      << given.about << "\n"
                      << print(*given.body) << given.kernel.text;
  }
}

}  // namespace lumen::testing
