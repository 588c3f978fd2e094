#include "lumen/backend/cuda/call_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "lumen/backend/waves.h"
#include "lumen/kernel/title.h"

namespace lumen::cuda {

namespace {

constexpr int64_t kBlocksPerMultiprocessor = 64;  // more than that walk over their rows
constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max();

// Of n0, n1, …
Expected<std::vector<int64_t>> dims_of(const Graph& body, const DimValues& named) {
  std::vector<int64_t> dims;
  for (const Expr& dim : body.dims()) dims.push_back(LUMEN_TRY(evaluate(dim, named)));
  return dims;
}

}  // namespace

Expected<void> CallLaunches::load(const CudaCode* code) {
  for (const ProgramKernel& kernel : program_.kernels) {
    functions_.emplace_back();
    for (const KernelStep& step : kernel.text.steps) {
      functions_.back().push_back(nullptr);
      if (step.product && device_.matrices() == nullptr) {
        return error("[cuda] the program needs cuBLASLt, which is not found here: compile it again");
      }
      if (step.product) continue;
      if (code == nullptr) return error("[cuda] a program without its code");
      functions_.back().back() = LUMEN_TRY(code->function(step.name, step.shared));
    }
  }
  for (const std::span<const ProgramCall> wave : waves_of(program_)) {
    waves_.push_back({static_cast<size_t>(wave.data() - program_.calls.data()), wave.size(), {}, nullptr});
    if (wave.size() > 1) LUMEN_TRY(load_joint(*code, waves_.back()));
  }
  return {};
}

Expected<void> CallLaunches::load_joint(const CudaCode& code, WaveLaunch& wave) const {
  std::vector<const KernelStep*> steps;
  std::string kind;
  for (size_t k = wave.first; k < wave.first + wave.count; ++k) {
    const ProgramKernel& kernel = program_.kernels[program_.calls[k].kernel];
    const std::string own = joint_kind(kernel.schedule, kernel.text.steps);
    if (own.empty() || (k > wave.first && own != kind)) return error("[cuda] a wave of kernels that are no one launch");
    kind = own;
    steps.push_back(&kernel.text.steps.back());
  }
  wave.step = joint_step(steps);
  wave.function = LUMEN_TRY(code.function(wave.step.name, wave.step.shared));
  return {};
}

Expected<std::vector<int64_t>> CallLaunches::bind_sizes(const DimValues& named, const DimValues& roomy) {
  launches_.assign(program_.calls.size(), {});
  kernel_dims_.clear();
  first_size_.clear();
  sizes_.clear();
  for (size_t k = 0; k < program_.kernels.size(); ++k) LUMEN_TRY(bind_kernel(k, named));
  std::vector<int64_t> scratch;
  for (size_t k = 0; k < program_.calls.size(); ++k) scratch.push_back(LUMEN_TRY(bind_call(k, roomy)));
  return scratch;
}

Expected<void> CallLaunches::bind_kernel(size_t number, const DimValues& named) {
  const ProgramKernel& kernel = program_.kernels[number];
  const std::vector<int64_t>& dims = kernel_dims_.emplace_back(LUMEN_TRY(dims_of(*kernel.body, named)));
  first_size_.push_back(sizes_.size());
  if (dims.empty()) return {};
  for (const KernelStep& step : kernel.text.steps) {
    sizes_.push_back(LUMEN_TRY(evaluate(step.rows, numbered_dims(dims))));
    sizes_.insert(sizes_.end(), dims.begin(), dims.end());
  }
  return {};
}

Expected<int64_t> CallLaunches::bind_call(size_t k, const DimValues& roomy) {
  const ProgramCall& call = program_.calls[k];
  const ProgramKernel& kernel = program_.kernels[call.kernel];
  const std::vector<int64_t> dims = LUMEN_TRY(dims_of(*kernel.body, roomy));
  const DimValues numbered = numbered_dims(dims);
  for (size_t s = 0; s < kernel.text.steps.size(); ++s) {
    const KernelStep& step = kernel.text.steps[s];
    const int64_t rows = LUMEN_TRY(evaluate(step.rows, numbered));
    const bool one_block = step.grain > 1 && step.block_rows == 1;  // rows share bytes
    const int64_t wanted = (rows + step.block_rows - 1) / step.block_rows;
    const int64_t many = step.walks ? kBlocksPerMultiprocessor * device_.info().multiprocessors : kMostBlocks;
    const int64_t most = one_block ? 1 : many;
    if (!step.walks && wanted > most) return error(fmt::format("[cuda] {} rows are too many for one launch", rows));
    Launch launch{functions_[call.kernel][s],
                  static_cast<unsigned>(std::clamp<int64_t>(wanted, 0, most)),
                  static_cast<unsigned>(step.threads),
                  static_cast<unsigned>(step.shared),
                  {dims.empty() ? static_cast<uint64_t>(rows) : 0}};
    if (step.product) LUMEN_TRY(products_.bind(call, s, kernel_dims_[call.kernel], dims, launch));
    launches_[k].push_back(std::move(launch));
  }
  const int64_t exact = LUMEN_TRY(evaluate(kernel.text.scratch, numbered_dims(kernel_dims_[call.kernel])));
  return std::max(exact, LUMEN_TRY(evaluate(kernel.text.scratch, numbered)));
}

std::vector<uint64_t> CallLaunches::shape() const {
  std::vector<uint64_t> words;
  for (const std::vector<Launch>& call : launches_) {
    for (const Launch& launch : call) {
      words.push_back(launch.blocks);
      if (launch.product != nullptr) words.push_back(reinterpret_cast<uint64_t>(launch.product.get()));
    }
  }
  return words;
}

void CallLaunches::bind_addresses(const std::byte* arena, std::span<const int64_t> offsets, const std::byte* sizes,
                                  const std::byte* faults) {
  input_places_.clear();
  output_reads_.clear();
  output_places_.clear();
  const auto in_arena = [&](Home home) -> uint64_t {
    return home.kind == Home::Kind::arena ? address(arena + offsets[program_.plan.slots[home.number]]) : 0;
  };
  for (uint32_t k = 0; k < program_.calls.size(); ++k) {
    const ProgramCall& call = program_.calls[k];
    std::vector<uint64_t> words;
    for (const uint32_t operand : call.operands) {
      const Home home = program_.homes[operand];
      const size_t word = kFirstInput + words.size();
      if (home.kind == Home::Kind::input) input_places_.push_back({home.number, k, word});
      if (home.kind == Home::Kind::output) output_reads_.push_back({home.number, k, word});
      words.push_back(in_arena(home));
    }
    if (call.operands.empty()) words.push_back(0);
    for (const uint32_t result : call.results) {
      const Home home = program_.homes[result];
      if (home.kind == Home::Kind::output) output_places_.push_back({home.number, k, kFirstInput + words.size()});
      words.push_back(in_arena(home));
    }
    words.push_back(address(arena + offsets[program_.plan.slots[program_.inner.size() + k]]));
    const size_t dims = kernel_dims_[call.kernel].size();
    size_t size = first_size_[call.kernel];
    for (Launch& launch : launches_[k]) {
      launch.arguments.push_back(dims == 0 ? 0 : address(sizes + size * sizeof(int64_t)));
      size += 1 + dims;
      launch.arguments.push_back(address(faults + k * sizeof(uint64_t)));
      launch.arguments.push_back(0);
      launch.arguments.insert(launch.arguments.end(), words.begin(), words.end());
    }
  }
}

void CallLaunches::fill_places(std::span<const void* const> inputs, std::span<void* const> outputs) {
  const auto put = [&](const Place& place, const void* data) {
    for (Launch& launch : launches_[place.call]) launch.arguments[place.word] = address(data);
  };
  for (const Place& place : input_places_) put(place, inputs[place.tensor]);
  for (const Place& place : output_reads_) put(place, outputs[place.tensor]);
  for (const Place& place : output_places_) put(place, outputs[place.tensor]);
}

void CallLaunches::note_ends(const std::byte* ends) {
  for (size_t k = 0; k < launches_.size(); ++k) {
    for (Launch& launch : launches_[k]) {
      launch.arguments[kEnded] = ends == nullptr ? 0 : address(ends + k * sizeof(uint64_t));
    }
  }
}

bool CallLaunches::notes_its_end(size_t call) const {
  for (size_t s = launches_[call].size(); s-- > 0;) {
    if (runs(call, s)) return launches_[call][s].product == nullptr;
  }
  return false;
}

Expected<void> CallLaunches::run_products() const {
  for (const std::vector<Launch>& call : launches_) {
    for (const Launch& launch : call) {
      if (launch.product != nullptr) LUMEN_TRY(products_.run(launch));
    }
  }
  return {};
}

// Of a kernel that works in place, here: what leaves its result where the input is.
bool CallLaunches::is_needless(size_t k, size_t step) const {
  const ProgramKernel& kernel = program_.kernels[program_.calls[k].kernel];
  if (!kernel.text.steps[step].copies) return false;
  const std::vector<uint64_t>& words = launches_[k][step].arguments;
  const size_t outputs = kFirstInput + std::max<size_t>(1, kernel.body->inputs().size());
  return words[kFirstInput + *kernel.text.in_place] == words[outputs];
}

bool CallLaunches::runs(size_t k, size_t step) const { return launches_[k][step].blocks > 0 && !is_needless(k, step); }

// All but the rows.
void CallLaunches::add_addresses(size_t call, size_t first, std::vector<size_t>& words) const {
  const ProgramCall& each = program_.calls[call];
  const size_t end = kFirstInput + std::max<size_t>(1, each.operands.size()) + each.results.size() + 1;
  for (size_t word = kSizes; word < end; ++word) words.push_back(first + word);
}

Expected<void> CallLaunches::visit_call(size_t k, const Visit& visit) const {
  const ProgramKernel& kernel = program_.kernels[program_.calls[k].kernel];
  for (size_t s = 0; s < launches_[k].size(); ++s) {
    const Launch& launch = launches_[k][s];
    if (!runs(k, s)) continue;
    Ready ready{k,
                &kernel.text.steps[s].name,
                launch.function,
                launch.blocks,
                launch.threads,
                launch.shared,
                launch.arguments,
                {},
                launch.product == nullptr ? nullptr : &launch};
    add_addresses(k, 0, ready.addresses);
    LUMEN_TRY(visit(ready));
  }
  return {};
}

// Whether nothing but the last steps of its calls is to do.
bool CallLaunches::is_one_launch(const WaveLaunch& wave) const {
  for (size_t k = wave.first; k < wave.first + wave.count; ++k) {
    for (size_t s = 0; s < launches_[k].size(); ++s) {
      if (runs(k, s) != (s + 1 == launches_[k].size())) return false;
    }
  }
  return wave.count > 1;
}

Expected<void> CallLaunches::visit_wave(const WaveLaunch& wave, const Visit& visit) const {
  if (!is_one_launch(wave)) {
    for (size_t k = wave.first; k < wave.first + wave.count; ++k) LUMEN_TRY(visit_call(k, visit));
    return {};
  }
  std::vector<uint64_t> ends, arguments;  // cuda_together.h
  std::vector<size_t> addresses;
  unsigned blocks = 0;
  for (size_t k = wave.first; k < wave.first + wave.count; ++k) {
    const Launch& launch = launches_[k].back();
    ends.push_back(blocks += launch.blocks);
    add_addresses(k, wave.count + arguments.size(), addresses);
    arguments.insert(arguments.end(), launch.arguments.begin(), launch.arguments.end());
  }
  ends.insert(ends.end(), arguments.begin(), arguments.end());
  return visit({wave.first, &wave.step.name, wave.function, blocks, static_cast<unsigned>(wave.step.threads),
                static_cast<unsigned>(wave.step.shared), std::move(ends), std::move(addresses)});
}

Expected<void> CallLaunches::launch(const Ready& ready, bool early) const {
  if (ready.product != nullptr) return products_.run(*ready.product);
  void* parameters[] = {const_cast<uint64_t*>(ready.arguments.data())};
  LaunchAttribute attribute{kBeginEarly, {}, {}};
  attribute.value = 1;
  const LaunchConfig config{{ready.blocks, 1, 1}, {ready.threads, 1, 1}, ready.shared, device_.stream(),
                            &attribute,           early ? 1U : 0U};
  const Result result = device_.driver().launch_with(&config, ready.function, parameters, nullptr);
  if (result == 0) return {};
  const ProgramKernel& kernel = program_.kernels[program_.calls[ready.call].kernel];
  return device_.driver().check(
      result, fmt::format("the launch of {} ({})", kernel_title(*kernel.body), kernel.schedule).c_str());
}

Expected<void> CallLaunches::launch_call(size_t k) const {
  return visit_call(k, [&](const Ready& ready) { return launch(ready, false); });
}

Expected<void> CallLaunches::launch_waves(bool early, const Mark& mark) const {
  bool follows = false;
  const auto go = [&](const Ready& ready) { return launch(ready, std::exchange(follows, early)); };
  for (const WaveLaunch& wave : waves_) {
    if (mark == nullptr || is_one_launch(wave)) {
      LUMEN_TRY(visit_wave(wave, go));
      continue;
    }
    for (size_t k = wave.first; k < wave.first + wave.count; ++k) {
      LUMEN_TRY(visit_call(k, go));
      if (notes_its_end(k)) continue;
      LUMEN_TRY(mark(k));
      follows = false;
    }
  }
  return {};
}

std::vector<Launched> CallLaunches::launched() const {
  std::vector<Launched> all;
  for (const WaveLaunch& wave : waves_) {
    const size_t each = is_one_launch(wave) ? wave.count : 1;
    for (size_t k = 0; k < wave.count; k += each) all.push_back({wave.first + k, each});
  }
  return all;
}

Expected<Trial> CallLaunches::trial(const CudaCode* code, std::vector<TrialRegion> regions,
                                    std::span<const Address> places) const {
  Trial trial;
  trial.regions = std::move(regions);
  const auto describe = [&](const Ready& ready) -> Expected<void> {
    if (ready.product != nullptr) return {};
    const std::string_view object = LUMEN_TRY(code->object_with(*ready.name));
    const std::string key = cpu::CacheKey::of(object).hex();
    auto known = std::ranges::find(trial.objects, key, &TrialObject::key);
    if (known == trial.objects.end()) known = trial.objects.insert(known, {key, object});
    TrialLaunch launch;
    launch.object = static_cast<uint64_t>(known - trial.objects.begin());
    launch.function = *ready.name;
    launch.blocks = ready.blocks;
    launch.threads = ready.threads;
    launch.shared = ready.shared;
    launch.arguments = ready.arguments;
    for (const size_t word : ready.addresses) {
      const Address at = ready.arguments[word];
      if (at == 0) continue;
      size_t k = 0;
      while (k < places.size() && (at < places[k] || at - places[k] > trial.regions[k].bytes)) ++k;
      if (k == places.size()) return error("[cuda] a launch has an address outside the program's buffers");
      launch.addresses.push_back({word, k, at - places[k]});
    }
    trial.launches.push_back(std::move(launch));
    return {};
  };
  for (const WaveLaunch& wave : waves_) LUMEN_TRY(visit_wave(wave, describe));
  return trial;
}

}  // namespace lumen::cuda
