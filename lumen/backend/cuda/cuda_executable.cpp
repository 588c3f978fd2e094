#include "lumen/backend/cuda/cuda_executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <tuple>

#include "lumen/backend/buffer.h"
#include "lumen/backend/cuda/cuda_graph.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/backend/waves.h"
#include "lumen/base/clock.h"
#include "lumen/base/log.h"
#include "lumen/codegen/cuda_together.h"
#include "lumen/kernel/title.h"

namespace lumen::cuda {

namespace {

constexpr int64_t kAlign = 256;
constexpr size_t kMostGraphs = 16;
constexpr int64_t kBlocksPerMultiprocessor = 64;  // more than that walk over their rows
constexpr int kFirstEarly = 90;
constexpr int64_t kSmallOutput = 1024;  // bytes
constexpr int64_t kMostTimed = 8;       // runs of one measurement

Address address(const void* data) { return reinterpret_cast<Address>(data); }

// A launch of a step: LumenArgs (codegen/kernel_text.h) as words. A library's product finds its addresses there.
struct Launch {
  Function function = nullptr;
  unsigned blocks = 0;  // 0: nothing to do
  unsigned threads = 0;
  unsigned shared = 0;
  std::vector<uint64_t> arguments;
  std::shared_ptr<const MatrixProduct> product = {};
  size_t rows = 0, columns = 0, result = 0, scratch = 0;  // words of `arguments`
  int64_t workspace = 0;                                  // where it begins in scratch
};
constexpr size_t kFirstInput = 3;  // after begin, end and the place for faults

// A word of the launches of a call that is the address of an input or output of the program.
struct Place {
  uint32_t tensor;
  uint32_t call;
  size_t word;
};

class CudaExecutable : public Executable {
 public:
  CudaExecutable(Program program, std::shared_ptr<const CudaDevice> device)
      : program_(std::move(program)), device_(std::move(device)) {}
  ~CudaExecutable() override {
    if (!device_->enter().ok()) return;
    (void)device_->wait();
    if (found_ != nullptr) device_->driver().pinned_free(found_);
  }

  Expected<void> load(std::shared_ptr<const Code> code) {
    code_ = std::move(code);
    begins_early_ = device_->info().sm >= kFirstEarly;
    const auto* const own = dynamic_cast<const CudaCode*>(code_.get());
    for (const ProgramKernel& kernel : program_.kernels) {
      functions_.emplace_back();
      for (const KernelStep& step : kernel.text.steps) {
        functions_.back().push_back(nullptr);
        if (step.product && device_->matrices() == nullptr) {
          return error("[cuda] the program needs cuBLASLt, which is not found here: compile it again");
        }
        if (step.product) continue;
        if (own == nullptr) return error("[cuda] a program without its code");
        functions_.back().back() = LUMEN_TRY(own->function(step.name, step.shared));
      }
    }
    for (const std::span<const ProgramCall> wave : waves_of(program_)) {
      waves_.push_back({static_cast<size_t>(wave.data() - program_.calls.data()), wave.size(), {}, nullptr});
      if (wave.size() > 1) LUMEN_TRY(load_joint(*own, waves_.back()));
    }
    for (const ProgramCall& call : program_.calls) {
      interprets_ = interprets_ || program_.kernels[call.kernel].text.steps.empty();
    }
    const auto bytes = static_cast<int64_t>(program_.calls.size() * sizeof(uint64_t));
    faults_ = LUMEN_TRY(Buffer::make(memory(), bytes));
    void* found = nullptr;
    LUMEN_TRY(device_->enter());
    const size_t room = static_cast<size_t>(bytes) + program_.outputs.size() * kSmallOutput + 8;
    LUMEN_TRY(check(driver().pinned_allocate(&found, room), "cuMemAllocHost"));
    found_ = static_cast<uint64_t*>(found);
    return {};
  }

  const std::shared_ptr<Memory>& memory() const override { return device_->memory(); }
  bool in_place(size_t output) const override { return program_.in_place[output]; }
  const std::byte* fetched(size_t output) const override {
    const int64_t bytes = bytes_[program_.outputs[output]];
    return interprets_ || bytes == 0 || bytes > kSmallOutput ? nullptr : room_of(output);
  }

  Expected<void> prepare(std::span<const int64_t> dims) override {
    LUMEN_TRY(device_->enter());
    DimValues named;
    for (size_t k = 0; k < dims.size(); ++k) named.set(program_.graph->dims()[k].dim_name(), dims[k]);
    dims_.assign(dims.begin(), dims.end());
    bytes_.clear();
    for (const TensorType& type : program_.values) bytes_.push_back(LUMEN_TRY(type.bytes(named)));
    launches_.assign(program_.calls.size(), {});
    call_dims_.assign(program_.calls.size(), {});
    std::vector<int64_t> sizes;
    for (const uint32_t value : program_.inner) sizes.push_back(bytes_[value]);
    for (size_t k = 0; k < program_.calls.size(); ++k) sizes.push_back(LUMEN_TRY(bind_sizes(k, named)));
    offsets_ = program_.plan.offsets(sizes, kAlign);
    if (arena_.data() == nullptr || arena_.bytes() < offsets_.back()) {
      LUMEN_TRY(device_->wait());
      graphs_.clear();  // they have its address
      arena_ = Buffer();
      arena_ = LUMEN_TRY(Buffer::make(memory(), offsets_.back()));
    }
    bind_addresses();
    return {};
  }

  Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    LUMEN_TRY(device_->enter());
    fill_places(inputs, outputs);
    if (interprets_) return run_one_by_one(inputs, outputs);
    const CudaGraph& graph = *LUMEN_TRY(graph_for(inputs, outputs, profiling_ ? Kind::profiled : Kind::plain, 1));
    const double start = seconds_now();
    LUMEN_TRY(graph.launch());
    LUMEN_TRY(device_->wait());
    if (profiling_) LUMEN_TRY(note_times(graph, start));
    return check_faults();
  }

  Expected<double> time(std::span<const void* const> inputs, std::span<void* const> outputs, int64_t runs) override {
    if (interprets_) return Executable::time(inputs, outputs, 1);
    LUMEN_TRY(device_->enter());
    fill_places(inputs, outputs);
    LUMEN_TRY(device_->make_sweep());
    runs = std::min(runs, kMostTimed);
    const CudaGraph& graph = *LUMEN_TRY(graph_for(inputs, outputs, Kind::timed, runs));
    LUMEN_TRY(graph.launch());
    LUMEN_TRY(device_->wait());
    LUMEN_TRY(check_faults());
    double all = 0;
    for (int64_t k = 0; k < runs; ++k) all += LUMEN_TRY(graph.seconds(static_cast<size_t>(2 * k)));
    return all / static_cast<double>(runs);
  }

  void set_profiling(bool on) override {
    profiling_ = on;
    times_.clear();
    for (const ProgramCall& call : program_.calls) {
      const ProgramKernel& kernel = program_.kernels[call.kernel];
      times_.push_back({kernel_title(*kernel.body), kernel.schedule});
    }
  }
  std::span<const CallTime> profile() const override { return times_; }

 private:
  enum class Kind : uint8_t { plain, profiled, timed };
  struct Known {
    std::vector<uint64_t> key;
    std::unique_ptr<CudaGraph> graph;
  };

  // Neighbouring calls that can run at once: as one launch where there are several.
  struct WaveLaunch {
    size_t first, count;
    JointStep step;
    Function function;
  };
  Expected<void> load_joint(const CudaCode& code, WaveLaunch& wave) const {
    std::vector<const KernelStep*> steps;
    std::string kind;
    for (size_t k = wave.first; k < wave.first + wave.count; ++k) {
      const ProgramKernel& kernel = program_.kernels[program_.calls[k].kernel];
      const std::string own = joint_kind(kernel.schedule, kernel.text.steps);
      if (own.empty() || (k > wave.first && own != kind))
        return error("[cuda] a wave of kernels that are no one launch");
      kind = own;
      steps.push_back(&kernel.text.steps.back());
    }
    wave.step = joint_step(steps);
    wave.function = LUMEN_TRY(code.function(wave.step.name, wave.step.shared));
    return {};
  }

  const Driver& driver() const { return device_->driver(); }
  Expected<void> check(Result result, const char* call) const { return driver().check(result, call); }

  // Sizes of a call; bytes of its scratch.
  Expected<int64_t> bind_sizes(size_t k, const DimValues& named) {
    const ProgramCall& call = program_.calls[k];
    const ProgramKernel& kernel = program_.kernels[call.kernel];
    DimValues renamed;  // as the text of the kernel calls them
    for (size_t n = 0; n < kernel.body->dims().size(); ++n) {
      call_dims_[k].push_back(LUMEN_TRY(evaluate(kernel.body->dims()[n], named)));
      renamed.set(fmt::format("n{}", n), call_dims_[k].back());
    }
    for (size_t s = 0; s < kernel.text.steps.size(); ++s) {
      const KernelStep& step = kernel.text.steps[s];
      const int64_t rows = LUMEN_TRY(evaluate(step.rows, renamed));
      const bool one_block = step.grain > 1 && step.block_rows == 1;  // rows share bytes
      const int64_t wanted = (rows + step.block_rows - 1) / step.block_rows;
      const int64_t most = one_block ? 1 : kBlocksPerMultiprocessor * device_->info().multiprocessors;
      Launch launch{functions_[call.kernel][s],
                    static_cast<unsigned>(std::clamp<int64_t>(wanted, 0, most)),
                    static_cast<unsigned>(step.threads),
                    static_cast<unsigned>(step.shared),
                    {0}};
      launch.arguments.push_back(static_cast<uint64_t>(rows));
      if (step.product) LUMEN_TRY(bind_product(k, s, renamed, launch));
      launches_[k].push_back(std::move(launch));
    }
    return evaluate(kernel.text.scratch, renamed);
  }

  Expected<void> bind_product(size_t k, size_t s, const DimValues& renamed, Launch& launch) {
    const uint32_t number = program_.calls[k].kernel;
    const ProgramKernel& kernel = program_.kernels[number];
    const LibraryProduct& product = *kernel.text.steps[s].product;
    const Expr elements = product.batch * product.row_count * product.column_count;
    launch.blocks = LUMEN_TRY(evaluate(elements, renamed)) > 0 ? 1 : 0;
    if (launch.blocks == 0) return {};
    std::shared_ptr<const MatrixProduct>& known = products_[{number, s, call_dims_[k]}];
    if (known == nullptr) known = LUMEN_TRY(device_->matrices()->prepare(product, renamed));
    launch.product = known;
    const size_t outputs = kFirstInput + std::max<size_t>(1, kernel.body->inputs().size());
    launch.scratch = outputs + kernel.body->outputs().size();
    const auto factor = [&](const LibraryMatrix& matrix) {
      return matrix.buffer < kernel.body->inputs().size() ? kFirstInput + matrix.buffer : launch.scratch;
    };
    launch.rows = factor(product.rows);
    launch.columns = factor(product.columns);
    launch.result = outputs + product.result.buffer;
    launch.workspace = LUMEN_TRY(evaluate(kernel.text.scratch, renamed)) - product.workspace;
    return {};
  }

  void bind_addresses() {
    input_places_.clear();
    output_reads_.clear();
    output_places_.clear();
    const auto in_arena = [&](Home home) -> uint64_t {
      return home.kind == Home::Kind::arena ? address(arena_.data() + offsets_[program_.plan.slots[home.number]]) : 0;
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
      words.push_back(address(arena_.data() + offsets_[program_.plan.slots[program_.inner.size() + k]]));
      for (const int64_t dim : call_dims_[k]) words.push_back(static_cast<uint64_t>(dim));
      if (call_dims_[k].empty()) words.push_back(0);
      for (Launch& launch : launches_[k]) {
        launch.arguments.push_back(address(faults_.data() + k * sizeof(uint64_t)));
        launch.arguments.insert(launch.arguments.end(), words.begin(), words.end());
      }
    }
  }

  void fill_places(std::span<const void* const> inputs, std::span<void* const> outputs) {
    const auto put = [&](const Place& place, const void* data) {
      for (Launch& launch : launches_[place.call]) launch.arguments[place.word] = address(data);
    };
    for (const Place& place : input_places_) put(place, inputs[place.tensor]);
    for (const Place& place : output_reads_) put(place, outputs[place.tensor]);
    for (const Place& place : output_places_) put(place, outputs[place.tensor]);
  }

  Expected<void> run_product(const Launch& launch) const {
    const std::vector<uint64_t>& words = launch.arguments;
    return launch.product->run(words[launch.rows], words[launch.columns], words[launch.result],
                               words[launch.scratch] + static_cast<uint64_t>(launch.workspace), device_->stream());
  }
  // A library loads its kernels when they are first used, which cannot be while work is captured.
  Expected<void> run_products() const {
    for (const std::vector<Launch>& call : launches_) {
      for (const Launch& launch : call) {
        if (launch.product != nullptr) LUMEN_TRY(run_product(launch));
      }
    }
    return {};
  }

  // Of a kernel that works in place, here: what leaves its result where the input is.
  bool is_needless(size_t k, size_t step) const {
    const ProgramKernel& kernel = program_.kernels[program_.calls[k].kernel];
    if (!kernel.text.steps[step].copies) return false;
    const std::vector<uint64_t>& words = launches_[k][step].arguments;
    const size_t outputs = kFirstInput + std::max<size_t>(1, kernel.body->inputs().size());
    return words[kFirstInput + *kernel.text.in_place] == words[outputs];
  }

  // `early`: begun before what is before it has ended.
  Expected<void> launch_kernel(Function function, unsigned blocks, unsigned threads, unsigned shared,
                               const std::vector<uint64_t>& arguments, bool early, size_t k) const {
    void* parameters[] = {const_cast<uint64_t*>(arguments.data())};
    LaunchAttribute attribute{kBeginEarly, {}, {}};
    attribute.value = 1;
    const LaunchConfig config{{blocks, 1, 1}, {threads, 1, 1}, shared, device_->stream(), &attribute, early ? 1U : 0U};
    const Result result = driver().launch_with(&config, function, parameters, nullptr);
    if (result == 0) return {};
    const ProgramKernel& kernel = program_.kernels[program_.calls[k].kernel];
    return check(result, fmt::format("the launch of {} ({})", kernel_title(*kernel.body), kernel.schedule).c_str());
  }

  Expected<void> launch_call(size_t k, bool early = false) const {
    for (size_t s = 0; s < launches_[k].size(); ++s) {
      const Launch& launch = launches_[k][s];
      if (launch.blocks == 0 || is_needless(k, s)) continue;
      if (launch.product != nullptr) {
        LUMEN_TRY(run_product(launch));
        continue;
      }
      LUMEN_TRY(
          launch_kernel(launch.function, launch.blocks, launch.threads, launch.shared, launch.arguments, early, k));
    }
    return {};
  }

  // Whether nothing but the last steps of its calls is to do.
  bool is_one_launch(const WaveLaunch& wave) const {
    for (size_t k = wave.first; k < wave.first + wave.count; ++k) {
      for (size_t s = 0; s < launches_[k].size(); ++s) {
        const bool runs = launches_[k][s].blocks > 0 && !is_needless(k, s);
        if (runs != (s + 1 == launches_[k].size())) return false;
      }
    }
    return wave.count > 1;
  }

  Expected<void> launch_wave(const WaveLaunch& wave, bool early) const {
    if (!is_one_launch(wave)) {
      for (size_t k = wave.first; k < wave.first + wave.count; ++k) LUMEN_TRY(launch_call(k, early));
      return {};
    }
    std::vector<uint64_t> ends, arguments;  // cuda_together.h
    unsigned blocks = 0;
    for (size_t k = wave.first; k < wave.first + wave.count; ++k) {
      const Launch& launch = launches_[k].back();
      ends.push_back(blocks += launch.blocks);
      arguments.insert(arguments.end(), launch.arguments.begin(), launch.arguments.end());
    }
    ends.insert(ends.end(), arguments.begin(), arguments.end());
    return launch_kernel(wave.function, blocks, static_cast<unsigned>(wave.step.threads),
                         static_cast<unsigned>(wave.step.shared), ends, early, wave.first);
  }

  Expected<void> copy_outputs(std::span<const void* const> inputs, std::span<void* const> outputs) const {
    for (const ProgramCopy& copy : program_.copies) {
      const bool given = copy.value < inputs.size();
      const void* const from = given ? inputs[copy.value] : outputs[program_.homes[copy.value].number];
      if (bytes_[copy.value] == 0) continue;
      LUMEN_TRY(check(driver().copy_on_device(address(outputs[copy.output]), address(from),
                                              static_cast<size_t>(bytes_[copy.value]), device_->stream()),
                      "cuMemcpyDtoDAsync"));
    }
    return {};
  }

  Expected<void> fetch_faults() const {
    return check(driver().copy_to_host(found_, address(faults_.data()), program_.calls.size() * sizeof(uint64_t),
                                       device_->stream()),
                 "cuMemcpyDtoHAsync");
  }

  // Small outputs come along: nobody has to wait for them once more.
  Expected<void> fetch_outputs(std::span<void* const> outputs) const {
    for (size_t k = 0; k < outputs.size(); ++k) {
      const int64_t bytes = bytes_[program_.outputs[k]];
      if (bytes == 0 || bytes > kSmallOutput) continue;
      LUMEN_TRY(
          check(driver().copy_to_host(room_of(k), address(outputs[k]), static_cast<size_t>(bytes), device_->stream()),
                "cuMemcpyDtoHAsync"));
    }
    return {};
  }
  std::byte* room_of(size_t output) const {
    return reinterpret_cast<std::byte*>(found_ + program_.calls.size()) + output * kSmallOutput;
  }

  // What was found by the last run; forgotten then.
  Expected<void> check_faults() {
    for (size_t k = 0; k < program_.calls.size(); ++k) {
      if (found_[k] == 0) continue;
      const uint64_t fault = found_[k];
      LUMEN_TRY(
          check(driver().fill(address(faults_.data()), 0, program_.calls.size() * sizeof(uint64_t), device_->stream()),
                "cuMemsetD8Async"));
      return error(program_.kernels[program_.calls[k].kernel].text.faults[fault - 1]);
    }
    return {};
  }

  // Everything once, as it goes into a graph.
  Expected<void> enqueue(std::span<const void* const> inputs, std::span<void* const> outputs, CudaGraph& graph,
                         Kind kind, int64_t runs) const {
    for (int64_t r = 0; r < runs; ++r) {
      if (kind == Kind::timed) LUMEN_TRY(device_->forget_cache());
      if (kind != Kind::plain) LUMEN_TRY(graph.mark());
      if (kind == Kind::profiled) {
        LUMEN_TRY(enqueue_profiled(graph));
      } else {
        for (const WaveLaunch& wave : waves_) LUMEN_TRY(launch_wave(wave, begins_early_ && kind == Kind::plain));
      }
      LUMEN_TRY(copy_outputs(inputs, outputs));
      if (kind == Kind::timed) LUMEN_TRY(graph.mark());
    }
    LUMEN_TRY(fetch_faults());
    return fetch_outputs(outputs);
  }

  Expected<void> enqueue_profiled(CudaGraph& graph) const {
    for (size_t k = 0; k < program_.calls.size(); ++k) {
      LUMEN_TRY(launch_call(k));
      LUMEN_TRY(graph.mark());
    }
    return {};
  }

  Expected<std::unique_ptr<CudaGraph>> capture(std::span<const void* const> inputs, std::span<void* const> outputs,
                                               Kind kind, int64_t runs) const {
    auto graph = std::make_unique<CudaGraph>(device_);
    LUMEN_TRY(run_products());
    LUMEN_TRY(graph->begin());
    Expected<void> enqueued = enqueue(inputs, outputs, *graph, kind, runs);
    Expected<void> ended = graph->end();
    LUMEN_TRY(std::move(enqueued));
    LUMEN_TRY(std::move(ended));
    return graph;
  }

  Expected<const CudaGraph*> graph_for(std::span<const void* const> inputs, std::span<void* const> outputs, Kind kind,
                                       int64_t runs) {
    std::vector<uint64_t> key{static_cast<uint64_t>(kind), static_cast<uint64_t>(runs)};
    for (const int64_t dim : dims_) key.push_back(static_cast<uint64_t>(dim));
    for (const void* input : inputs) key.push_back(address(input));
    for (const void* output : outputs) key.push_back(address(output));
    const auto known = std::ranges::find(graphs_, key, &Known::key);
    if (known != graphs_.end()) {
      graphs_.splice(graphs_.begin(), graphs_, known);
      return graphs_.front().graph.get();
    }
    Expected<std::unique_ptr<CudaGraph>> graph = capture(inputs, outputs, kind, runs);
    if (!graph.ok() && begins_early_) {  // a driver that cannot
      LUMEN_LOG(1, "cuda: kernels do not begin early: " + graph.diag().str());
      begins_early_ = false;
      graph = capture(inputs, outputs, kind, runs);
    }
    if (!graph.ok()) return graph.diag();
    if (graphs_.size() == kMostGraphs) graphs_.pop_back();
    graphs_.push_front({std::move(key), std::move(*graph)});
    return graphs_.front().graph.get();
  }

  // For programs with calls that only the interpreter can do.
  Expected<void> run_one_by_one(std::span<const void* const> inputs, std::span<void* const> outputs) {
    for (size_t k = 0; k < program_.calls.size(); ++k) {
      if (launches_[k].empty()) {
        LUMEN_TRY(interpret_call(k, inputs, outputs));
      } else {
        LUMEN_TRY(launch_call(k));
      }
    }
    LUMEN_TRY(copy_outputs(inputs, outputs));
    LUMEN_TRY(fetch_faults());
    LUMEN_TRY(device_->wait());
    return check_faults();
  }

  const void* place_of(uint32_t value, std::span<const void* const> inputs, std::span<void* const> outputs) const {
    const Home home = program_.homes[value];
    if (home.kind == Home::Kind::input) return inputs[home.number];
    if (home.kind == Home::Kind::output) return outputs[home.number];
    return arena_.data() + offsets_[program_.plan.slots[home.number]];
  }

  Expected<void> interpret_call(size_t k, std::span<const void* const> inputs, std::span<void* const> outputs) {
    const ProgramCall& call = program_.calls[k];
    std::vector<Buffer> buffers;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const uint32_t operand : call.operands) {
      in.push_back(buffers.emplace_back(bytes_[operand]).data());
      LUMEN_TRY(memory()->read(buffers.back().data(), place_of(operand, inputs, outputs), bytes_[operand]));
    }
    for (const uint32_t result : call.results) out.push_back(buffers.emplace_back(bytes_[result]).data());
    LUMEN_TRY(interpret_stored(*program_.kernels[call.kernel].body, call_dims_[k], in, out));
    for (size_t r = 0; r < out.size(); ++r) {
      void* const there = const_cast<void*>(place_of(call.results[r], inputs, outputs));
      LUMEN_TRY(memory()->write(there, out[r], bytes_[call.results[r]]));
    }
    return {};
  }

  Expected<void> note_times(const CudaGraph& graph, double start) {
    DimValues named;
    for (size_t k = 0; k < dims_.size(); ++k) named.set(program_.graph->dims()[k].dim_name(), dims_[k]);
    std::vector<Work> works;
    for (const ProgramKernel& kernel : program_.kernels) works.push_back(work_of(*kernel.body, named));
    for (size_t k = 0; k < times_.size(); ++k) {
      times_[k].work = works[program_.calls[k].kernel];
      times_[k].start = start;
      times_[k].seconds = LUMEN_TRY(graph.seconds(k));
      start += times_[k].seconds;
    }
    return {};
  }

  Program program_;
  std::shared_ptr<const CudaDevice> device_;
  std::shared_ptr<const Code> code_;
  std::vector<std::vector<Function>> functions_;  // by kernel, by step
  std::vector<WaveLaunch> waves_;
  // By kernel, by step, by the kernel's dims.
  std::map<std::tuple<uint32_t, size_t, std::vector<int64_t>>, std::shared_ptr<const MatrixProduct>> products_;
  bool begins_early_ = false;  // kernels wait for what is before them (LUMEN_BEGIN)
  bool interprets_ = false;    // a call has no code
  Buffer faults_;              // a word for each call
  uint64_t* found_ = nullptr;  // the same on the host

  std::vector<int64_t> dims_;
  std::vector<int64_t> bytes_;                   // by value
  std::vector<std::vector<int64_t>> call_dims_;  // by call
  std::vector<std::vector<Launch>> launches_;    // by call, by step
  std::vector<int64_t> offsets_;                 // of slots in the arena
  std::vector<Place> input_places_, output_reads_, output_places_;
  Buffer arena_;
  std::list<Known> graphs_;  // the last used first

  bool profiling_ = false;
  std::vector<CallTime> times_;  // by call
};

}  // namespace

Expected<std::unique_ptr<Executable>> make_executable(Binary binary, std::shared_ptr<const CudaDevice> device) {
  auto executable = std::make_unique<CudaExecutable>(std::move(binary.program), std::move(device));
  LUMEN_TRY(executable->load(std::move(binary.code)));
  return std::unique_ptr<Executable>(std::move(executable));
}

}  // namespace lumen::cuda
