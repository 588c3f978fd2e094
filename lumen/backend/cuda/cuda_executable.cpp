#include "lumen/backend/cuda/cuda_executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <list>
#include <optional>

#include "lumen/backend/bucket.h"
#include "lumen/backend/buffer.h"
#include "lumen/backend/cuda/call_launches.h"
#include "lumen/backend/cuda/cuda_graph.h"
#include "lumen/backend/cuda/run_room.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/base/clock.h"
#include "lumen/base/log.h"
#include "lumen/kernel/title.h"

namespace lumen::cuda {

namespace {

constexpr int64_t kPlanAlign = 256;
constexpr size_t kMostGraphs = 16;
constexpr int kFirstEarly = 90;
constexpr int64_t kMostTimed = 8;  // runs of one measurement

class CudaExecutable : public Executable {
 public:
  CudaExecutable(Program program, std::shared_ptr<const CudaDevice> device)
      : program_(std::move(program)), device_(std::move(device)), launches_(program_, *device_) {}
  ~CudaExecutable() override {
    if (device_->enter().ok()) (void)device_->wait();
  }

  Expected<void> load(std::shared_ptr<const Code> code) {
    code_ = std::move(code);
    begins_early_ = device_->info().sm >= kFirstEarly;
    LUMEN_TRY(launches_.load(dynamic_cast<const CudaCode*>(code_.get())));
    for (const ProgramCall& call : program_.calls) {
      interprets_ = interprets_ || program_.kernels[call.kernel].text.steps.empty();
    }
    const auto bytes = static_cast<int64_t>(program_.calls.size() * sizeof(uint64_t));
    faults_ = LUMEN_TRY(Buffer::make(memory(), bytes));
    LUMEN_TRY(device_->enter());
    if (interprets_) seen_ = LUMEN_TRY(make_room());  // a graph has its own
    return {};
  }

  const std::shared_ptr<Memory>& memory() const override { return device_->memory(); }
  bool in_place(size_t output) const override { return program_.in_place[output]; }
  const std::byte* fetched(size_t output) const override {
    return interprets_ ? nullptr : seen_->output(output, output_bytes_[output]);
  }

  Expected<void> prepare(std::span<const int64_t> dims) override {
    LUMEN_TRY(device_->enter());
    dims_.assign(dims.begin(), dims.end());
    const DimValues named = named_dims(dims_);
    bytes_.clear();
    for (const TensorType& type : program_.values) bytes_.push_back(LUMEN_TRY(type.bytes(named)));
    output_bytes_.clear();
    fixed_bytes_.clear();
    other_bytes_.clear();
    for (const uint32_t value : program_.outputs) {
      const bool is_fixed = program_.values[value].shape.is_static();
      output_bytes_.push_back(bytes_[value]);
      fixed_bytes_.push_back(is_fixed ? bytes_[value] : 0);
      other_bytes_.push_back(is_fixed ? 0 : bytes_[value]);
    }
    if (!make_places(named, named_dims(roomy_dims())).ok()) LUMEN_TRY(make_places(named, named));
    const std::span<const int64_t> sizes = launches_.sizes();
    const auto size_bytes = static_cast<int64_t>(sizes.size_bytes());
    if (sizes_.data() == nullptr) sizes_ = LUMEN_TRY(Buffer::make(memory(), size_bytes));
    LUMEN_TRY(memory()->write(sizes_.data(), sizes.data(), size_bytes));
    launches_.bind_addresses(arena_.data(), offsets_, sizes_.data(), faults_.data());
    shape_ = launches_.shape();
    shape_.insert(shape_.end(), offsets_.begin(), offsets_.end());
    for (const ProgramCopy& copy : program_.copies) shape_.push_back(static_cast<uint64_t>(bytes_[copy.value]));
    return {};
  }

  Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    LUMEN_TRY(device_->enter());
    launches_.fill_places(inputs, outputs);
    if (interprets_) return run_one_by_one(inputs, outputs);
    const auto captured = LUMEN_TRY(graph_for(inputs, outputs, kind_of_run(), 1));
    const double start = seconds_now();
    LUMEN_TRY(launch(*captured, outputs));
    LUMEN_TRY(on_trial_ ? wait_watched(1) : device_->wait());
    on_trial_ = false;
    return end_run(*captured, start);
  }

  // What must be watched is waited for at once.
  Expected<void> start(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    if (interprets_ || on_trial_) {
      LUMEN_TRY(run(inputs, outputs));
      under_way_.push_back({nullptr, seen_});
      return {};
    }
    LUMEN_TRY(device_->enter());
    launches_.fill_places(inputs, outputs);
    std::shared_ptr<Captured> captured = LUMEN_TRY(graph_for(inputs, outputs, kind_of_run(), 1));
    CHECK(std::ranges::find(under_way_, captured, &Started::captured) == under_way_.end(),
          "a run with the outputs of one that is under way");
    const double start = seconds_now();
    LUMEN_TRY(launch(*captured, outputs));
    LUMEN_TRY(captured->graph.note_here());
    under_way_.push_back({captured, captured->room, start});
    return {};
  }
  Expected<void> finish() override {
    CHECK(!under_way_.empty(), "no run is under way");
    const Started oldest = std::move(under_way_.front());
    under_way_.pop_front();
    LUMEN_TRY(device_->enter());
    if (oldest.captured == nullptr) return see(oldest.room);
    LUMEN_TRY(oldest.captured->graph.wait_until_here());
    return end_run(*oldest.captured, oldest.start);
  }

  // In the worker process; where there is none here, with an eye on the clock.
  Expected<void> try_out(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    if (interprets_ || program_.calls.empty()) return {};
    LUMEN_TRY(device_->enter());
    on_trial_ = true;
    launches_.fill_places(inputs, outputs);
    if (const std::optional<Trial> trial = LUMEN_TRY(make_trial(inputs, outputs))) {
      const Expected<bool> tried = device_->trials().run(*trial, patience());
      if (!tried.ok()) return blamed(tried.diag().message);
      if (*tried) return {};
    }
    LUMEN_TRY(launches_.launch_waves(false));
    return wait_watched(1);
  }

  Expected<double> time(std::span<const void* const> inputs, std::span<void* const> outputs, int64_t runs) override {
    if (interprets_) return Executable::time(inputs, outputs, 1);
    LUMEN_TRY(device_->enter());
    launches_.fill_places(inputs, outputs);
    LUMEN_TRY(device_->make_sweep());
    runs = std::min(runs, kMostTimed);
    const auto captured = LUMEN_TRY(graph_for(inputs, outputs, Kind::timed, runs));
    LUMEN_TRY(captured->graph.launch());
    LUMEN_TRY(wait_watched(runs));
    LUMEN_TRY(see(captured->room));
    double all = 0;
    for (int64_t k = 0; k < runs; ++k)
      all += LUMEN_TRY(captured->graph.seconds(static_cast<size_t>(2 * k), static_cast<size_t>(2 * k + 1)));
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
  Kind kind_of_run() const { return profiling_ ? Kind::profiled : Kind::plain; }
  // Work as a graph, and where what it brings back is.
  struct Captured {
    Captured(std::shared_ptr<const CudaDevice> device, std::shared_ptr<const RunRoom> where)
        : graph(std::move(device)), room(std::move(where)) {}
    std::vector<uint64_t> key;
    CudaGraph graph;
    std::shared_ptr<const RunRoom> room;
    // Of one that is profiled, whatever sizes others have that were begun since:
    Buffer ends;  // words of the GPU's clock: when each call ended, and when the first began
    std::vector<Launched> launched;
    std::vector<Work> works;  // by call
  };
  struct Started {
    std::shared_ptr<Captured> captured;  // null when it has ended
    std::shared_ptr<const RunRoom> room;
    double start = 0;
  };

  const Driver& driver() const { return device_->driver(); }
  Expected<void> check(Result result, const char* call) const { return driver().check(result, call); }

  // Dims of one bucket are one set of places and grids, and so they are one graph: kernels read the dims themselves.
  std::vector<int64_t> roomy_dims() const {
    std::vector<int64_t> roomy;
    for (size_t k = 0; k < dims_.size(); ++k) {
      roomy.push_back(std::min(bucket_of(dims_[k]), program_.graph->dims()[k].dim_bounds().second));
    }
    return roomy;
  }
  Expected<void> make_places(const DimValues& named, const DimValues& roomy) {
    std::vector<int64_t> sizes;
    for (const uint32_t value : program_.inner) {
      sizes.push_back(std::max(bytes_[value], LUMEN_TRY(program_.values[value].bytes(roomy))));
    }
    const std::vector<int64_t> scratch = LUMEN_TRY(launches_.bind_sizes(named, roomy));
    sizes.insert(sizes.end(), scratch.begin(), scratch.end());
    offsets_ = program_.plan.offsets(sizes, kPlanAlign);
    if (arena_.data() != nullptr && arena_.bytes() >= offsets_.back()) return {};
    LUMEN_TRY(device_->wait());
    graphs_.clear();  // they have its address
    arena_ = Buffer();
    arena_ = LUMEN_TRY(Buffer::make(memory(), offsets_.back()));
    return {};
  }

  // What a run may take: far more than it does on any GPU, and not for ever.
  double patience() const {
    constexpr double kFlops = 1e12, kBytes = 1e10;  // a second, on a slow one
    double seconds = device_->trials().least_seconds();
    const DimValues named = named_dims(dims_);
    for (const ProgramCall& call : program_.calls) {
      const Work work = work_of(*program_.kernels[call.kernel].body, named);
      seconds += work.flops / kFlops + work.bytes / kBytes;
    }
    return seconds;
  }

  // That this program must not be run, in the words that the tuner keeps.
  Diag blamed(const std::string& why) const {
    std::string what = fmt::format("a program of {} kernels", program_.calls.size());
    if (program_.calls.size() == 1) {
      const ProgramKernel& kernel = program_.kernels[program_.calls[0].kernel];
      what = fmt::format("{} ({})", kernel_title(*kernel.body), kernel.schedule);
    }
    return error(fmt::format("{} {}: {}", kTrialFault, what, why));
  }

  // For runs that were just begun. An error that left the GPU as it was is no reason for blame.
  Expected<void> wait_watched(int64_t runs) const {
    Expected<void> waited = device_->wait_for(patience() * static_cast<double>(runs));
    if (waited.ok() || device_->usable().ok()) return waited;
    return blamed(waited.diag().message + "; this process can no longer use the GPU, and begins anew best");
  }

  // Nothing where there is no room for a copy of all that it works on.
  Expected<std::optional<Trial>> make_trial(std::span<const void* const> inputs, std::span<void* const> outputs) const {
    std::vector<TrialRegion> regions;
    std::vector<Address> places;
    int64_t all = 0;
    const auto add = [&](const void* place, int64_t bytes, std::string content) {
      all += bytes;
      places.push_back(address(place));
      regions.push_back({static_cast<uint64_t>(bytes), std::move(content)});
    };
    add(arena_.data(), offsets_.back(), "");
    add(faults_.data(), faults_.bytes(), std::string(sizeof(uint64_t), '\0'));
    const std::span<const std::byte> sizes = std::as_bytes(launches_.sizes());
    add(sizes_.data(), sizes_.bytes(), {reinterpret_cast<const char*>(sizes.data()), sizes.size()});
    for (size_t k = 0; k < inputs.size(); ++k) {
      add(inputs[k], bytes_[k], LUMEN_TRY(first_bytes(inputs[k], k)));
    }
    for (size_t k = 0; k < outputs.size(); ++k) add(outputs[k], bytes_[program_.outputs[k]], "");
    if (!device_->has_room_for(all)) return std::optional<Trial>();
    const auto* const code = dynamic_cast<const CudaCode*>(code_.get());
    return std::optional<Trial>(LUMEN_TRY(launches_.trial(code, std::move(regions), places)));
  }
  // Of an input: what a worker fills its own with. Numbers are all alike, but of what may be an index more is taken.
  Expected<std::string> first_bytes(const void* input, size_t k) const {
    constexpr int64_t kNumbers = 4 << 10, kIndices = 256 << 10;  // bytes
    const DType dtype = program_.values[k].dtype;
    const int64_t most = is_float(dtype) || info(dtype).bits < 16 ? kNumbers : kIndices;
    std::string content(static_cast<size_t>(std::min(bytes_[k], most)), '\0');
    LUMEN_TRY(memory()->read(content.data(), input, static_cast<int64_t>(content.size())));
    return content;
  }

  DimValues named_dims(std::span<const int64_t> dims) const {
    DimValues named;
    for (size_t k = 0; k < dims.size(); ++k) named.set(program_.graph->dims()[k].dim_name(), dims[k]);
    return named;
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

  Expected<std::shared_ptr<const RunRoom>> make_room() const {
    return RunRoom::make(device_, program_.calls.size(), program_.outputs.size());
  }

  // A run has ended that brought back what is in the room. Faults are forgotten once they were said.
  Expected<void> see(std::shared_ptr<const RunRoom> room) {
    seen_ = std::move(room);
    const std::optional<RunRoom::Fault> fault = seen_->fault();
    if (!fault) return {};
    LUMEN_TRY(
        check(driver().fill(address(faults_.data()), 0, program_.calls.size() * sizeof(uint64_t), device_->stream()),
              "cuMemsetD8Async"));
    return error(program_.kernels[program_.calls[fault->call].kernel].text.faults[fault->number - 1]);
  }

  // Everything once, as it goes into a graph.
  Expected<void> enqueue(std::span<const void* const> inputs, std::span<void* const> outputs, Captured& captured,
                         Kind kind, int64_t runs) const {
    CudaGraph& graph = captured.graph;
    for (int64_t r = 0; r < runs; ++r) {
      if (kind == Kind::timed) LUMEN_TRY(device_->forget_cache());
      if (captured.ends.data() != nullptr) {
        LUMEN_TRY(check(driver().fill(address(captured.ends.data()), 0, static_cast<size_t>(captured.ends.bytes()),
                                      device_->stream()),
                        "cuMemsetD8Async"));
      }
      if (kind == Kind::timed) LUMEN_TRY(graph.mark());
      if (kind == Kind::profiled) {
        const auto note = [&](size_t word) {
          return device_->note_time(address(captured.ends.data()) + word * sizeof(uint64_t));
        };
        LUMEN_TRY(note(program_.calls.size()));
        LUMEN_TRY(launches_.launch_waves(begins_early_, note));
      } else {
        LUMEN_TRY(launches_.launch_waves(begins_early_));
      }
      LUMEN_TRY(copy_outputs(inputs, outputs));
      if (kind == Kind::timed) LUMEN_TRY(graph.mark());
    }
    LUMEN_TRY(captured.room->fetch(faults_.data(), captured.ends.data()));
    return captured.room->fetch_outputs(outputs, fixed_bytes_);
  }

  Expected<void> prepare_profile(Captured& captured) const {
    LUMEN_TRY(device_->make_clock());
    captured.ends = LUMEN_TRY(Buffer::make(memory(), faults_.bytes() + static_cast<int64_t>(sizeof(uint64_t))));
    captured.launched = launches_.launched();
    const DimValues named = named_dims(dims_);
    for (const ProgramCall& call : program_.calls) {
      captured.works.push_back(work_of(*program_.kernels[call.kernel].body, named));
    }
    return {};
  }

  Expected<std::shared_ptr<Captured>> capture(std::span<const void* const> inputs, std::span<void* const> outputs,
                                              Kind kind, int64_t runs) {
    auto captured = std::make_shared<Captured>(device_, LUMEN_TRY(make_room()));
    if (kind == Kind::profiled) LUMEN_TRY(prepare_profile(*captured));
    LUMEN_TRY(launches_.run_products());
    LUMEN_TRY(captured->graph.begin());
    launches_.note_ends(captured->ends.data());  // which changes nothing of how kernels overlap
    Expected<void> enqueued = enqueue(inputs, outputs, *captured, kind, runs);
    Expected<void> ended = captured->graph.end();
    launches_.note_ends(nullptr);
    LUMEN_TRY(std::move(enqueued));
    LUMEN_TRY(std::move(ended));
    return captured;
  }

  Expected<std::shared_ptr<Captured>> graph_for(std::span<const void* const> inputs, std::span<void* const> outputs,
                                                Kind kind, int64_t runs) {
    std::vector<uint64_t> key{static_cast<uint64_t>(kind), static_cast<uint64_t>(runs)};
    if (kind == Kind::profiled) key.insert(key.end(), dims_.begin(), dims_.end());  // which say what it does
    key.insert(key.end(), shape_.begin(), shape_.end());
    for (const void* input : inputs) key.push_back(address(input));
    for (const void* output : outputs) key.push_back(address(output));
    const auto known = std::ranges::find_if(graphs_, [&](const auto& each) { return each->key == key; });
    if (known != graphs_.end()) {
      graphs_.splice(graphs_.begin(), graphs_, known);
      return graphs_.front();
    }
    Expected<std::shared_ptr<Captured>> captured = capture(inputs, outputs, kind, runs);
    if (!captured.ok() && begins_early_) {  // a driver that cannot
      LUMEN_LOG(1, "cuda: kernels do not begin early: " + captured.diag().str());
      begins_early_ = false;
      captured = capture(inputs, outputs, kind, runs);
    }
    if (!captured.ok()) return captured.diag();
    (*captured)->key = std::move(key);
    if (graphs_.size() == kMostGraphs) graphs_.pop_back();
    graphs_.push_front(*captured);
    return captured;
  }

  // What of its outputs the graph does not bring back, for they are of other sizes each time, follows it.
  Expected<void> launch(const Captured& captured, std::span<void* const> outputs) const {
    LUMEN_TRY(captured.graph.launch());
    return captured.room->fetch_outputs(outputs, other_bytes_);
  }

  // For programs with calls that only the interpreter can do.
  Expected<void> run_one_by_one(std::span<const void* const> inputs, std::span<void* const> outputs) {
    for (size_t k = 0; k < program_.calls.size(); ++k) {
      if (launches_.is_interpreted(k)) {
        LUMEN_TRY(interpret_call(k, inputs, outputs));
      } else {
        LUMEN_TRY(launches_.launch_call(k));
      }
    }
    LUMEN_TRY(copy_outputs(inputs, outputs));
    LUMEN_TRY(seen_->fetch(faults_.data(), nullptr));
    LUMEN_TRY(device_->wait());
    return see(seen_);
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
    LUMEN_TRY(interpret_stored(*program_.kernels[call.kernel].body, launches_.dims(k), in, out));
    for (size_t r = 0; r < out.size(); ++r) {
      void* const there = const_cast<void*>(place_of(call.results[r], inputs, outputs));
      LUMEN_TRY(memory()->write(there, out[r], bytes_[call.results[r]]));
    }
    return {};
  }

  // When it is over.
  Expected<void> end_run(const Captured& run, double start) {
    if (run.ends.data() != nullptr) note_times(run, start);
    return see(run.room);
  }

  void note_times(const Captured& run, double start) {
    for (size_t k = 0; k < times_.size(); ++k) times_[k].work = run.works[k];
    std::vector<Launched> launched = run.launched;
    find_ends(run.room->ends(), run.room->start(), launched);
    start = std::max(start, profiled_until_);  // one that was begun ahead waits for the one before it
    divide_time(launched, start, times_);
    if (!launched.empty()) profiled_until_ = start + launched.back().end;
  }

  Program program_;
  std::shared_ptr<const CudaDevice> device_;
  std::shared_ptr<const Code> code_;
  CallLaunches launches_;
  bool begins_early_ = false;            // kernels wait for what is before them (LUMEN_BEGIN)
  bool interprets_ = false;              // a call has no code
  bool on_trial_ = false;                // the next run is the first
  Buffer faults_;                        // a word for each call
  std::shared_ptr<const RunRoom> seen_;  // of the last run that has ended
  std::deque<Started> under_way_;

  std::vector<int64_t> dims_;
  std::vector<int64_t> bytes_;                                     // by value
  std::vector<int64_t> output_bytes_, fixed_bytes_, other_bytes_;  // of all, of those without dims, and with (or 0)
  std::vector<int64_t> offsets_;                                   // of slots in the arena
  Buffer arena_;
  Buffer sizes_;                                 // CallLaunches::sizes(), where kernels read them
  std::vector<uint64_t> shape_;                  // what graphs have of the sizes
  std::list<std::shared_ptr<Captured>> graphs_;  // the last used first

  bool profiling_ = false;
  double profiled_until_ = 0;    // the end of the last run that was
  std::vector<CallTime> times_;  // by call
};

}  // namespace

Expected<std::unique_ptr<Executable>> make_executable(Binary binary, std::shared_ptr<const CudaDevice> device) {
  auto executable = std::make_unique<CudaExecutable>(std::move(binary.program), std::move(device));
  LUMEN_TRY(executable->load(std::move(binary.code)));
  return std::unique_ptr<Executable>(std::move(executable));
}

}  // namespace lumen::cuda
