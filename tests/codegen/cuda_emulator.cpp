#include "tests/codegen/cuda_emulator.h"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

#include "lumen/codegen/cuda_together.h"
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

constexpr auto kGuard = std::byte{0xa5};

bool is_untouched(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == kGuard; });
}

int64_t blocks_of(const KernelStep& step, int64_t rows, std::mt19937_64& random) {
  if (step.grain > 1 && step.block_rows == 1) return 1;
  const int64_t most = std::max<int64_t>(1, (rows + step.block_rows - 1) / step.block_rows);
  if (!step.walks) return most + static_cast<int64_t>(random() % 2);
  switch (random() % 4) {
    case 0:
      return 1 + static_cast<int64_t>(random() % std::min<uint64_t>(5, static_cast<uint64_t>(most)));
    case 1:
      return std::min<int64_t>(most, 64) + 1 + static_cast<int64_t>(random() % 3);  // some have nothing to do
    default:
      return std::min<int64_t>(most, 64);
  }
}

// What a case reads and writes.
class Buffers {
 public:
  explicit Buffers(const Case& given) : given_(given) {
    for (const HostTensor& input : given.inputs) in_.push_back(stored(input));
    for (const Output& output : given.body->outputs()) {
      const TensorType type = (*given.body)[output.value].type;
      outputs_.push_back(HostTensor::poisoned(type.dtype, type.shape.evaluate(given.dims).value()));
      out_.push_back(stored(outputs_.back()));
    }
    for (size_t k = 0; k < given.body->dims().size(); ++k) {
      dims_.push_back(evaluate(given.body->dims()[k], given.dims).value());
      renamed_.set("n" + std::to_string(k), dims_.back());
    }
    scratch_bytes_ = static_cast<size_t>(evaluate(given.kernel.scratch, renamed_).value());
    scratch_.assign(scratch_bytes_ + 256, kGuard);
    aligned_ = scratch_.data();
    size_t space = scratch_.size();
    std::align(128, scratch_bytes_ + 1, aligned_, space);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  int64_t rows(const KernelStep& step) const { return evaluate(step.rows, renamed_).value(); }
  int64_t fault() const { return static_cast<int64_t>(fault_); }

  // As the text declares them: LumenArgs.
  std::vector<int64_t> arguments(const KernelStep& step) {
    constexpr int64_t kWrong = -1;  // what the text does not ask for
    std::vector<int64_t> words{kWrong, kWrong};
    if (dims_.empty()) {
      words[0] = rows(step);
    } else {
      sizes_.push_back({rows(step)});
      sizes_.back().insert(sizes_.back().end(), dims_.begin(), dims_.end());
      words[1] = reinterpret_cast<int64_t>(sizes_.back().data());
    }
    const auto put = [&](const void* p) { words.push_back(reinterpret_cast<int64_t>(p)); };
    put(&fault_);
    put(&ended_);
    for (const std::vector<std::byte>& bytes : in_) put(bytes.data());
    if (in_.empty()) put(nullptr);
    for (const std::vector<std::byte>& bytes : out_) put(bytes.data());
    put(aligned_);
    return words;
  }

  void multiply(const LibraryProduct& product) {
    const std::span room(static_cast<std::byte*>(aligned_), scratch_bytes_);
    const auto place = [&](std::vector<std::vector<std::byte>>& buffers, const LibraryMatrix& matrix) {
      return matrix.buffer == buffers.size() ? room : std::span(buffers[matrix.buffer]);
    };
    std::vector<float> scales(product.scales.size());
    for (size_t k = 0; k < scales.size(); ++k) std::memcpy(&scales[k], in_[product.scales[k]].data(), sizeof(float));
    LibraryStep(product, renamed_)
        .run(place(in_, product.rows), place(in_, product.columns), place(out_, product.result), scales);
  }

  std::vector<HostTensor> outputs() {
    const std::span scratch_end(static_cast<std::byte*>(aligned_) + scratch_bytes_, scratch_.data() + scratch_.size());
    EXPECT_TRUE(is_untouched(scratch_end)) << "scratch\n" << given_.about << "\n" << given_.kernel.text;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const auto bytes = static_cast<size_t>(storage_bytes(outputs_[k].dtype, outputs_[k].numel()));
      EXPECT_TRUE(is_untouched(std::span(out_[k]).subspan(bytes))) << "output " << k << "\n" << given_.kernel.text;
      unpack(outputs_[k].dtype, std::span(out_[k]).first(bytes), outputs_[k].lanes);
    }
    return outputs_;
  }

 private:
  const Case& given_;
  std::vector<std::vector<std::byte>> in_, out_;
  std::vector<HostTensor> outputs_;
  std::vector<int64_t> dims_;
  std::deque<std::vector<int64_t>> sizes_;  // of each step that was launched
  DimValues renamed_;
  size_t scratch_bytes_ = 0;
  std::vector<std::byte> scratch_;
  void* aligned_ = nullptr;
  uint64_t fault_ = 0, ended_ = 0;
};

}  // namespace

Emulated::Emulated(const std::vector<KernelText>& kernels)
    : compiled_(source_of(kernels), "-O1 -w -std=gnu++20 -fno-strict-aliasing -ffp-contract=off", "c++ -x c++") {}

bool Emulated::launch(const std::string& name, const std::vector<int64_t>& words, int64_t blocks, int64_t threads,
                      int64_t shared, const std::string& about) const {
  auto* const function = compiled_.function<Launch>("emulate_" + name);
  if (function == nullptr) return false;
  const char* const wrong = function(words.data(), blocks, threads, shared);
  EXPECT_EQ(wrong, nullptr) << wrong << "\n" << about;
  return true;
}

std::pair<std::vector<HostTensor>, int64_t> Emulated::run(const Case& given, std::mt19937_64& random) const {
  Buffers buffers(given);
  const std::string about = given.about + "\n" + print(*given.body) + given.kernel.text;
  for (const KernelStep& step : given.kernel.steps) {
    if (step.product) {
      buffers.multiply(*step.product);
      continue;
    }
    const int64_t blocks = given.blocks > 0 ? given.blocks : blocks_of(step, buffers.rows(step), random);
    if (!launch(step.name, buffers.arguments(step), blocks, step.threads, step.shared, about)) {
      return {buffers.outputs(), -1};
    }
  }
  return {buffers.outputs(), buffers.fault()};
}

std::vector<std::vector<HostTensor>> Emulated::run_joint(std::span<const Case> cases, std::mt19937_64& random) const {
  std::deque<Buffers> buffers;
  std::vector<const KernelStep*> steps;
  std::vector<int64_t> ends, words;
  int64_t blocks = 0;
  for (const Case& each : cases) {
    steps.push_back(&each.kernel.steps.back());
    buffers.emplace_back(each);
    ends.push_back(blocks += blocks_of(*steps.back(), buffers.back().rows(*steps.back()), random));
    const std::vector<int64_t> own = buffers.back().arguments(*steps.back());
    words.insert(words.end(), own.begin(), own.end());
  }
  words.insert(words.begin(), ends.begin(), ends.end());
  const JointStep joint = joint_step(steps);
  EXPECT_TRUE(launch(joint.name, words, blocks, joint.threads, joint.shared, joint.name));
  std::vector<std::vector<HostTensor>> outputs;
  for (Buffers& each : buffers) outputs.push_back(each.outputs());
  return outputs;
}

std::vector<double> reports_and_results(const Case& given, std::mt19937_64& random) {
  const Emulated emulated({given.kernel});
  ::testing::TestPartResultArray reports;
  std::vector<double> all(1);
  {
    const ::testing::ScopedFakeTestPartResultReporter taken(&reports);
    const std::vector<HostTensor> got = emulated.run(given, random).first;
    for (const Lane& lane : got[0].lanes) all.push_back(lane.f);
  }
  all[0] = reports.size();
  return all;
}

}  // namespace lumen::testing
