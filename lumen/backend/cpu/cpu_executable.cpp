#include "lumen/backend/cpu/cpu_executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

#include "lumen/backend/buffer.h"
#include "lumen/backend/cpu/shares.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/base/clock.h"
#include "lumen/kernel/contract.h"
#include "lumen/kernel/title.h"

namespace lumen::cpu {

namespace {

using Function = int64_t(const void* const*, void* const*, const int64_t*, int64_t, int64_t);

// Below this a call is not worth waking a thread for.
constexpr double kParallelBytes = 256 << 10;

// Results larger than this are not computed again to explain a fault.
constexpr int64_t kMostExplained = 64 << 20;

// A kernel's function, or a library's product.
struct Step {
  Function* function;
  int64_t rows = 0;
  int64_t grain = 1;
  std::shared_ptr<const MatrixProduct> product = {};
};

// A call with its sizes and addresses.
struct Bound {
  std::vector<const void*> in;
  std::vector<void*> out;  // results, then scratch
  std::vector<int64_t> dims;
  std::vector<Step> steps;
  bool parallel = false;

  int64_t run(const Step& step, int64_t begin, int64_t end) const {
    if (step.product == nullptr) return step.function(in.data(), out.data(), dims.data(), begin, end);
    step.product->run(in.data(), out.data(), begin, end);
    return 0;
  }
};

// A place in a Bound's lists that gets the address of an input or output at every run.
struct Place {
  uint32_t tensor;
  uint32_t call;
  uint32_t position;
};

Diag no_matrices() {
  return error(
      "[cpu] the program multiplies matrices by OpenBLAS, which is not found here: install it, name it by LUMEN_BLAS, "
      "or compile the program again");
}

class CpuExecutable : public Executable {
 public:
  CpuExecutable(Program program, std::shared_ptr<ThreadPool> pool, std::shared_ptr<const MatrixLibrary> matrices)
      : program_(std::move(program)),
        pool_(std::move(pool)),
        matrices_(std::move(matrices)),
        shares_(pool_->threads()) {}

  Expected<void> load(std::shared_ptr<const Code> code) {
    code_ = std::move(code);
    const auto* const own = dynamic_cast<const CpuCode*>(code_.get());
    for (const ProgramKernel& kernel : program_.kernels) {
      functions_.emplace_back();
      for (const KernelStep& step : kernel.text.steps) {
        functions_.back().push_back(nullptr);
        if (step.product && matrices_ == nullptr) return no_matrices();
        if (step.product) continue;
        if (own == nullptr) return error("[cpu] a program without its code");
        functions_.back().back() = reinterpret_cast<Function*>(LUMEN_TRY(own->library().symbol(step.name)));
      }
    }
    return {};
  }

  Expected<void> prepare(std::span<const int64_t> dims) override {
    DimValues named;
    for (size_t k = 0; k < dims.size(); ++k) named.set(program_.graph->dims()[k].dim_name(), dims[k]);
    bytes_.clear();
    for (const TensorType& type : program_.values) bytes_.push_back(LUMEN_TRY(type.bytes(named)));
    calls_.assign(program_.calls.size(), {});
    std::vector<int64_t> sizes;
    for (const uint32_t value : program_.inner) sizes.push_back(bytes_[value]);
    for (size_t k = 0; k < calls_.size(); ++k) sizes.push_back(LUMEN_TRY(bind_sizes(k, named)));
    const std::vector<int64_t> offsets = program_.plan.offsets(sizes, static_cast<int64_t>(Buffer::kAlign));
    if (arena_.bytes() < offsets.back()) arena_ = Buffer(offsets.back());
    bind_addresses(offsets);
    dims_ = std::move(named);
    if (profiling_) note_work();
    return {};
  }

  bool in_place(size_t output) const override { return program_.in_place[output]; }

  Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    for (const Place& place : input_places_) calls_[place.call].in[place.position] = inputs[place.tensor];
    for (const Place& place : output_reads_) calls_[place.call].in[place.position] = outputs[place.tensor];
    for (const Place& place : output_places_) calls_[place.call].out[place.position] = outputs[place.tensor];
    double now = profiling_ ? seconds_now() : 0;
    for (size_t k = 0; k < calls_.size(); ++k) {
      if (profiling_) times_[k].shares.clear();
      LUMEN_TRY(run_call(k));
      if (profiling_) now = end_call(times_[k], now);
    }
    for (const ProgramCopy& copy : program_.copies) {
      const bool given = copy.value < inputs.size();
      const void* from = given ? inputs[copy.value] : outputs[program_.homes[copy.value].number];
      std::memcpy(outputs[copy.output], from, static_cast<size_t>(bytes_[copy.value]));
    }
    return {};
  }

  void set_profiling(bool on) override {
    profiling_ = on;
    if (!on) return;
    times_.clear();
    for (const ProgramCall& call : program_.calls) {
      const ProgramKernel& kernel = program_.kernels[call.kernel];
      times_.push_back({kernel_title(*kernel.body), kernel.schedule});
    }
    note_work();
  }
  std::span<const CallTime> profile() const override { return times_; }

 private:
  void note_work() {
    std::vector<Work> works;
    for (const ProgramKernel& kernel : program_.kernels) works.push_back(work_of(*kernel.body, dims_));
    for (size_t k = 0; k < times_.size(); ++k) times_[k].work = works[program_.calls[k].kernel];
  }
  // A call begins when the one before it ends: what is between them is part of it, so that times add up to the run's.
  static double end_call(CallTime& time, double began) {
    const double now = seconds_now();
    time.start = began;
    time.seconds = now - began;
    return now;
  }

  // Sizes of a call; bytes of its scratch.
  Expected<int64_t> bind_sizes(size_t k, const DimValues& named) {
    const ProgramCall& call = program_.calls[k];
    const ProgramKernel& kernel = program_.kernels[call.kernel];
    Bound& bound = calls_[k];
    DimValues renamed;  // as the text of the kernel calls them
    for (size_t n = 0; n < kernel.body->dims().size(); ++n) {
      bound.dims.push_back(LUMEN_TRY(evaluate(kernel.body->dims()[n], named)));
      renamed.set(fmt::format("n{}", n), bound.dims.back());
    }
    for (size_t s = 0; s < kernel.text.steps.size(); ++s) {
      const KernelStep& step = kernel.text.steps[s];
      bound.steps.push_back({functions_[call.kernel][s], LUMEN_TRY(evaluate(step.rows, renamed)), step.grain});
      if (!step.product) continue;
      if (std::max(step.product->rows.buffer, step.product->columns.buffer) >= kernel.body->inputs().size()) {
        return error("[cpu] a product whose factors are not inputs");
      }
      bound.steps.back().product = LUMEN_TRY(matrices_->prepare(*step.product, renamed));
      bound.steps.back().rows = bound.steps.back().product->units();
    }
    double work = 0;
    for (const uint32_t value : call.operands) work += static_cast<double>(bytes_[value]);
    for (const uint32_t value : call.results) work += static_cast<double>(bytes_[value]);
    for (const NodeId id : kernel.body->order()) {
      const Node& node = (*kernel.body)[id];
      if (!node.is<llir::Contract>()) continue;
      work += static_cast<double>(LUMEN_TRY(evaluate(node.as<llir::Contract>().left.shape().numel(), named)));
    }
    bound.parallel = work >= kParallelBytes && pool_->threads() > 1;
    return evaluate(kernel.text.scratch, renamed);
  }

  void bind_addresses(std::span<const int64_t> offsets) {
    input_places_.clear();
    output_reads_.clear();
    output_places_.clear();
    const auto in_arena = [&](Home home) -> std::byte* {  // others get their addresses at each run
      return home.kind == Home::Kind::arena ? arena_.data() + offsets[program_.plan.slots[home.number]] : nullptr;
    };
    for (uint32_t k = 0; k < calls_.size(); ++k) {
      const ProgramCall& call = program_.calls[k];
      for (uint32_t p = 0; p < call.operands.size(); ++p) {
        const Home home = program_.homes[call.operands[p]];
        calls_[k].in.push_back(in_arena(home));
        if (home.kind == Home::Kind::input) input_places_.push_back({home.number, k, p});
        if (home.kind == Home::Kind::output) output_reads_.push_back({home.number, k, p});
      }
      for (uint32_t p = 0; p < call.results.size(); ++p) {
        const Home home = program_.homes[call.results[p]];
        calls_[k].out.push_back(in_arena(home));
        if (home.kind == Home::Kind::output) output_places_.push_back({home.number, k, p});
      }
      calls_[k].out.push_back(arena_.data() + offsets[program_.plan.slots[program_.inner.size() + k]]);
    }
  }

  Expected<void> run_call(size_t k) {
    const Bound& bound = calls_[k];
    int64_t fault = 0;
    for (const Step& step : bound.steps) {
      std::optional<MatrixLibrary::OneThread> one_thread;
      if (step.product != nullptr) one_thread.emplace(*matrices_);
      if (!bound.parallel) {
        fault = std::max(fault, bound.run(step, 0, step.rows));
        continue;
      }
      fault = std::max(fault, run_in_parallel(bound, step, profiling_ ? &times_[k].shares : nullptr));
    }
    const ProgramKernel& kernel = program_.kernels[program_.calls[k].kernel];
    if (bound.steps.empty()) {
      return interpret_stored(*kernel.body, bound.dims, bound.in, std::span(bound.out).first(bound.out.size() - 1));
    }
    if (fault != 0) return why(kernel, bound, kernel.text.faults[static_cast<size_t>(fault - 1)]);
    return {};
  }

  // The interpreter says which element it was, and of which value; the kernel only what.
  Diag why(const ProgramKernel& kernel, const Bound& bound, const std::string& what) const {
    std::vector<Buffer> results;
    std::vector<void*> out;
    DimValues named;
    for (size_t k = 0; k < bound.dims.size(); ++k) named.set(kernel.body->dims()[k].dim_name(), bound.dims[k]);
    for (const Output& output : kernel.body->outputs()) {
      const Expected<int64_t> bytes = (*kernel.body)[output.value].type.bytes(named);
      if (!bytes.ok() || *bytes > kMostExplained) return error(what);
      out.push_back(results.emplace_back(*bytes).data());
    }
    Expected<void> again = interpret_stored(*expand(*kernel.body), bound.dims, bound.in, out);
    return again.ok() ? error(what) : std::move(again).take_diag();
  }

  int64_t run_in_parallel(const Bound& bound, const Step& step, std::vector<ShareTime>* times) {
    std::atomic<int64_t> fault = 0;
    const int64_t pieces = (step.rows + step.grain - 1) / step.grain;
    const int64_t shares = std::min<int64_t>(pool_->threads(), pieces);
    // A library is fastest on whole shares.
    const bool divided = pieces <= Shares::kMostPieces && step.product == nullptr;
    if (divided) shares_.begin(pieces, static_cast<int>(shares));
    const size_t before = times == nullptr ? 0 : times->size();
    if (times != nullptr) times->resize(before + static_cast<size_t>(shares));
    pool_->run(shares, [&](int64_t share, int) {
      const double start = times == nullptr ? 0 : seconds_now();
      int64_t found = 0;
      const auto run = [&](int64_t begin, int64_t end) {
        found = std::max(found, bound.run(step, begin * step.grain, std::min(step.rows, end * step.grain)));
      };
      if (divided) {
        for (auto range = shares_.next(static_cast<int>(share)); !range.empty();
             range = shares_.next(static_cast<int>(share))) {
          run(range.begin, range.end);
        }
      } else {
        run(share * pieces / shares, (share + 1) * pieces / shares);
      }
      if (times != nullptr) {
        (*times)[before + static_cast<size_t>(share)] = {std::this_thread::get_id(), start, seconds_now() - start};
      }
      if (found == 0) return;
      int64_t known = fault.load();
      while (known < found && !fault.compare_exchange_weak(known, found)) {
      }
    });
    return fault.load();
  }

  Program program_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<const MatrixLibrary> matrices_;
  Shares shares_;
  std::shared_ptr<const Code> code_;
  std::vector<std::vector<Function*>> functions_;  // by kernel, by step; null for a library's

  bool profiling_ = false;
  std::vector<CallTime> times_;  // by call
  DimValues dims_;               // of the last prepare
  std::vector<int64_t> bytes_;   // by value
  std::vector<Bound> calls_;
  std::vector<Place> input_places_, output_reads_, output_places_;
  Buffer arena_;
};

}  // namespace

std::shared_ptr<ThreadPool> shared_pool() {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> shared;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<ThreadPool> pool = shared.lock();
  if (pool == nullptr) shared = pool = std::make_shared<ThreadPool>();
  return pool;
}

std::optional<Source> source_of(const KernelText& kernel) {
  if (kernel.text.empty()) return std::nullopt;
  std::vector<std::string> functions;
  for (const KernelStep& step : kernel.steps) {
    if (!step.product) functions.push_back(step.name);
  }
  return Source{functions.at(0), kernel.text, {functions.begin() + 1, functions.end()}};
}

Expected<std::vector<Binary>> build(std::vector<Program> programs, const Compiler& compiler,
                                    const std::vector<std::string>& flags, bool reuse) {
  std::vector<Source> sources;
  std::set<std::string> names;  // kernels of the same name are the same code
  for (const Program& program : programs) {
    for (const ProgramKernel& kernel : program.kernels) {
      std::optional<Source> source = source_of(kernel.text);
      if (source && names.insert(source->name).second) sources.push_back(std::move(*source));
    }
  }
  std::shared_ptr<const Code> code;
  if (!sources.empty()) {
    std::vector<std::string_view> kernels;
    for (const Source& source : sources) kernels.push_back(source.text);
    CompileOptions options;
    options.prelude = kernel_prelude_of(kernels);
    options.reuse = reuse;
    options.flags = kernel_c_flags();
    options.flags.insert(options.flags.end(), flags.begin(), flags.end());
    code = std::make_shared<CpuCode>(LUMEN_TRY(compiler.compile(sources, options)));
  }
  std::vector<Binary> binaries;
  for (Program& program : programs) binaries.push_back({std::move(program), code});
  return binaries;
}

Expected<std::unique_ptr<Executable>> make_executable(Binary binary, std::shared_ptr<ThreadPool> pool,
                                                      std::shared_ptr<const MatrixLibrary> matrices) {
  auto executable = std::make_unique<CpuExecutable>(std::move(binary.program), std::move(pool), std::move(matrices));
  LUMEN_TRY(executable->load(std::move(binary.code)));
  return std::unique_ptr<Executable>(std::move(executable));
}

Expected<std::unique_ptr<Executable>> make_executable(Binary binary) {
  // A program that does without the library does not load it.
  bool multiplies = false;
  for (const ProgramKernel& kernel : binary.program.kernels) {
    for (const KernelStep& step : kernel.text.steps) multiplies |= step.product.has_value();
  }
  return make_executable(std::move(binary), shared_pool(), multiplies ? MatrixLibrary::from_flags() : nullptr);
}

}  // namespace lumen::cpu
