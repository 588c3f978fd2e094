#include "tests/codegen/cuda_emulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "tests/codegen/library_step.h"
#include "tests/support/source_dir.h"

namespace lumen::testing {

namespace {

using Launch = const char*(const void* args, int64_t blocks, int64_t threads, int64_t shared);

std::string source_of(const std::vector<KernelText>& kernels) {
  std::string source =
      "#include \"" + (tests::source_dir() / "tests/codegen/cuda_words.h\"\n").string() + kernel_prelude(Syntax::cuda);
  for (const KernelText& kernel : kernels) {
    source += kernel.text;
    for (const KernelStep& step : kernel.steps) {
      if (step.product) continue;
      source += fmt::format(
          "extern \"C\" const char* emulate_{0}(const void* args, int64_t blocks, int64_t threads, int64_t shared) {{\n"
          "  return lumen_emulator::launch({0}, args, blocks, threads, shared);\n}}\n",
          step.name);
    }
  }
  return source;
}

// As the text declares them: LumenArgs.
class Arguments {
 public:
  void put(const void* p) { put_number(reinterpret_cast<int64_t>(p)); }
  void put_number(int64_t x) { words_.push_back(x); }
  const void* data() const { return words_.data(); }

 private:
  std::vector<int64_t> words_;
};

constexpr auto kGuard = std::byte{0xa5};

bool is_untouched(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == kGuard; });
}

int64_t blocks_of(const KernelStep& step, int64_t rows, std::mt19937_64& random) {
  if (step.grain > 1 && step.block_rows == 1) return 1;
  const int64_t most = std::max<int64_t>(1, (rows + step.block_rows - 1) / step.block_rows);
  return random() % 2 == 0 ? std::min<int64_t>(most, 64)
                           : 1 + static_cast<int64_t>(random() % std::min<uint64_t>(5, static_cast<uint64_t>(most)));
}

}  // namespace

Emulated::Emulated(const std::vector<KernelText>& kernels)
    : compiled_(source_of(kernels), "-O1 -w -std=gnu++20 -fno-strict-aliasing -ffp-contract=off", "c++ -x c++") {}

std::pair<std::vector<HostTensor>, int64_t> Emulated::run(const Case& given, std::mt19937_64& random) const {
  std::vector<std::vector<std::byte>> in, out;
  for (const HostTensor& input : given.inputs) in.push_back(stored(input));
  std::vector<HostTensor> outputs;
  for (const Output& output : given.body->outputs()) {
    const TensorType type = (*given.body)[output.value].type;
    outputs.push_back(HostTensor::poisoned(type.dtype, type.shape.evaluate(given.dims).value()));
    out.push_back(stored(outputs.back()));
  }
  std::vector<int64_t> dims;
  DimValues renamed;
  for (size_t k = 0; k < given.body->dims().size(); ++k) {
    dims.push_back(evaluate(given.body->dims()[k], given.dims).value());
    renamed.set("n" + std::to_string(k), dims.back());
  }
  const auto scratch_bytes = static_cast<size_t>(evaluate(given.kernel.scratch, renamed).value());
  std::vector<std::byte> scratch(scratch_bytes + 256, kGuard);
  void* aligned = scratch.data();
  size_t space = scratch.size();
  std::align(128, scratch_bytes + 1, aligned, space);
  const std::span scratch_end(static_cast<std::byte*>(aligned) + scratch_bytes, scratch.data() + scratch.size());
  dims.resize(std::max<size_t>(1, dims.size()));
  uint64_t fault = 0;
  for (const KernelStep& step : given.kernel.steps) {
    if (step.product) {
      const std::span room(static_cast<std::byte*>(aligned), scratch_bytes);
      const auto place = [&](std::vector<std::vector<std::byte>>& buffers, const LibraryMatrix& matrix) {
        return matrix.buffer == buffers.size() ? room : std::span(buffers[matrix.buffer]);
      };
      LibraryStep(*step.product, renamed)
          .run(place(in, step.product->rows), place(in, step.product->columns), place(out, step.product->result));
      continue;
    }
    const int64_t rows = evaluate(step.rows, renamed).value();
    Arguments args;
    args.put_number(0);
    args.put_number(rows);
    args.put(&fault);
    for (const std::vector<std::byte>& bytes : in) args.put(bytes.data());
    if (in.empty()) args.put(nullptr);
    for (const std::vector<std::byte>& bytes : out) args.put(bytes.data());
    args.put(aligned);
    for (const int64_t dim : dims) args.put_number(dim);
    auto* const launch = compiled_.function<Launch>("emulate_" + step.name);
    if (launch == nullptr) return {outputs, -1};
    const char* const wrong = launch(args.data(), blocks_of(step, rows, random), step.threads, step.shared);
    EXPECT_EQ(wrong, nullptr) << wrong << "\n" << given.about << "\n" << print(*given.body) << given.kernel.text;
  }
  EXPECT_TRUE(is_untouched(scratch_end)) << "scratch\n" << given.about << "\n" << given.kernel.text;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto bytes = static_cast<size_t>(storage_bytes(outputs[k].dtype, outputs[k].numel()));
    EXPECT_TRUE(is_untouched(std::span(out[k]).subspan(bytes))) << "output " << k << "\n" << given.kernel.text;
    unpack(outputs[k].dtype, std::span(out[k]).first(bytes), outputs[k].lanes);
  }
  return {outputs, static_cast<int64_t>(fault)};
}

}  // namespace lumen::testing
