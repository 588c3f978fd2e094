// Contract kernels of the CPU backend: the time of one product, for each line on the standard input.
//
//   mm f32 1 512 512 512 nt [schedule]      batch, m, n, k; nt: the right side is [n,k], nn: [k,n]
//   mm q8_0 1 1 512 512 nt [schedule]       the right side in blocks, the left one f32; q8_0:bf16: both bf16
//   conv f32 1 64 56 56 64 3 1 1 [schedule] images, channels, height, width, channels out, window, stride, padding
//   drop                                    forgets the products made so far
//   clock thread                            from now on, the time of the calling thread and not that on the wall
//   threads 2                               for the lines that follow
//   amx                                     products per second of the matrix unit alone
//   read                                    bytes per second of reading memory
//
//   text mm …                               the kernel of the first schedule, in C
//
// For each of the first two it prints "median least schedule", in seconds, of the fastest schedule proposed or of the
// one given. bench/contract_peers.py asks for products in turn with the same ones in torch.
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/backend/cpu/target.h"
#include "lumen/base/thread_pool.h"
#include "lumen/codegen/contract.h"
#include "lumen/frontend/ops.h"
#include "tests/support/graphs/products.h"

namespace {

using namespace lumen;
using KernelFunction = int64_t(const void* const*, void* const*, const int64_t*, int64_t, int64_t);

// Time on the wall, or of this thread alone: what one thread needs on a machine that others use, too.
clockid_t clock_kind = CLOCK_MONOTONIC;

double now(clockid_t kind) {
  timespec time{};
  clock_gettime(kind, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_since(double start) { return now(clock_kind) - start; }

std::shared_ptr<Graph> matrix_product(std::istream& line) {
  std::string dtype_name, layout;
  int64_t b = 0, m = 0, n = 0, k = 0;
  line >> dtype_name >> b >> m >> n >> k >> layout;
  auto graph = std::make_shared<Graph>();
  if (const std::optional<BlockType> blocks = parse_block_type(dtype_name.substr(0, dtype_name.find(':')))) {
    const DType dtype = dtype_name.ends_with(":bf16") ? bf16 : f32;
    const Tensor x = cast(graph->input("a0", {b, m, k}, dtype), f32);
    const Tensor y = graph->input("a1", {b, n, k / info(*blocks).elements * info(*blocks).bytes}, u8);
    testing::product(x, "bmk", cast(dequantise(y, *blocks, dtype), f32), "bnk", "bmn").output("r0");
    return graph;
  }
  const DType dtype = parse_dtype(dtype_name).value();
  const bool transposed = layout == "nt";
  Tensor x = graph->input("a0", {b, m, k}, dtype);
  Tensor y = graph->input("a1", transposed ? Shape{b, n, k} : Shape{b, k, n}, dtype);
  const DType wide = dtype == f64 ? f64 : is_float(dtype) ? f32 : i32;
  if (wide != dtype) x = cast(x, wide), y = cast(y, wide);
  const Tensor z = testing::product(x, "bmk", y, transposed ? "bnk" : "bkn", "bmn");
  (is_float(dtype) ? cast(z, dtype) : z).output("r0");
  return graph;
}

// The windows of an image, as a view over [image, channel out, row, column; channel, window row, window column].
std::shared_ptr<Graph> convolution(std::istream& line) {
  std::string dtype_name;
  int64_t images = 0, channels = 0, height = 0, width = 0, out = 0, window = 0, stride = 0, padding = 0;
  line >> dtype_name >> images >> channels >> height >> width >> out >> window >> stride >> padding;
  const DType dtype = parse_dtype(dtype_name).value();
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("a0", {images, channels, height, width}, dtype);
  const Tensor w = graph->input("a1", {out, channels, window, window}, dtype);
  const Scalar zero = Scalar::of(dtype, 0);
  const View padded = *pad(*pad(View::identity(x.shape()), 2, padding, padding, zero), 3, padding, padding, zero);
  const View windows = unfold(unfold(padded, 2, window, stride, 1), 3, window, stride, 1);
  const Shape from = windows.shape();  // image, channel, row, column, window row, window column
  const Shape domain{images, out, from[2], from[3], channels, window, window};
  const auto index = [&](int k) { return Expr::index(k, domain[k]); };
  std::vector<std::pair<Expr, Expr>> at;
  const int places[] = {0, 4, 2, 3, 5, 6};
  for (int k = 0; k < 6; ++k) {
    if (!Expr::index(k, from[k]).is_constant()) at.emplace_back(Expr::index(k, from[k]), index(places[k]));
  }
  llir::Contract op;
  op.left = View(domain, substitute(windows.index(), at), substitute(windows.guard(), at), zero);
  op.right = View(domain, ((index(1) * channels + index(4)) * window + index(5)) * window + index(6));
  op.reduced = 3;
  const NodeId operands[] = {x.id, w.id};
  graph->add_output("r0", graph->add(op, operands).value()).value();
  return graph;
}

class Product {
 public:
  Product(std::shared_ptr<Graph> graph, const std::string& wanted, const cpu::Compiler& compiler)
      : graph_(std::move(graph)) {
    std::mt19937 random(1);
    for (const NodeId id : graph_->inputs()) fill((*graph_)[id].type, random);
    for (const Output& output : graph_->outputs()) {
      const TensorType type = (*graph_)[output.value].type;
      out_.push_back(allocate(storage_bytes(type.dtype, type.shape.numel().constant().value())));
    }
    const Target target = cpu::target_of(compiler.target());
    std::vector<ContractSchedule> schedules = contract_schedules(*graph_, target);
    if (!wanted.empty()) schedules = {ContractSchedule::parse(wanted).value()};
    cpu::CompileOptions options;
    options.prelude = kernel_prelude(Syntax::c);
    options.flags = kernel_c_flags();
    for (const ContractSchedule& schedule : schedules) {
      Kernel& kernel = kernels_.emplace_back();
      kernel.schedule = schedule;
      kernel.text = print_contract(*graph_, "k", schedule, target).value();
      const cpu::Source source = cpu::source_of(kernel.text).value();
      kernel.library = compiler.compile(std::span(&source, 1), options).value();
      for (const KernelStep& step : kernel.text.steps) {
        kernel.steps.push_back(reinterpret_cast<KernelFunction*>(kernel.library->symbol(step.name).value()));
      }
      scratch_ = std::max(scratch_, kernel.text.scratch.constant().value());
    }
    out_.push_back(allocate(scratch_));
  }

  std::string text() const { return kernels_[0].text.text; }
  // The fastest schedule of all, from then on that one.
  std::string time(ThreadPool& pool) {
    if (kernels_.size() > 1) {
      std::vector<double> each;
      for (const Kernel& kernel : kernels_) each.push_back(measure(kernel, pool).least);
      const auto best = std::ranges::min_element(each) - each.begin();
      kernels_ = {kernels_[static_cast<size_t>(best)]};
    }
    const Times times = measure(kernels_[0], pool);
    return fmt::format("{} {} {}", times.median, times.least, kernels_[0].schedule.str());
  }

 private:
  struct Kernel {
    ContractSchedule schedule;
    KernelText text;
    std::shared_ptr<cpu::Library> library;
    std::vector<KernelFunction*> steps;
  };

  void* allocate(int64_t bytes) {
    void* data = std::aligned_alloc(64, static_cast<size_t>(bytes + 127) / 64 * 64);
    return buffers_.emplace_back(data, &std::free).get();
  }

  void fill(const TensorType& type, std::mt19937& random) {
    const int64_t count = type.shape.numel().constant().value();
    std::vector<Lane> lanes(static_cast<size_t>(count));
    std::uniform_int_distribution<int64_t> pick(-100, 100);
    for (Lane& lane : lanes) {
      const int64_t value = pick(random);
      lane = is_float(type.dtype) ? Scalar::of(type.dtype, static_cast<double>(value) / 64).value
                                  : Scalar::of(type.dtype, value).value;
    }
    void* data = allocate(storage_bytes(type.dtype, count));
    pack(type.dtype, lanes,
         std::span(static_cast<std::byte*>(data), static_cast<size_t>(storage_bytes(type.dtype, count))));
    in_.push_back(data);
  }

  void run(const Kernel& kernel, ThreadPool& pool) const {
    for (size_t k = 0; k < kernel.steps.size(); ++k) {
      const int64_t rows = kernel.text.steps[k].rows.constant().value();
      const int64_t pieces = std::min<int64_t>(rows, pool.threads());
      pool.run(pieces, [&](int64_t piece, int) {
        kernel.steps[k](in_.data(), out_.data(), nullptr, rows * piece / pieces, rows * (piece + 1) / pieces);
      });
    }
  }

  struct Times {
    double median, least;
  };
  Times measure(const Kernel& kernel, ThreadPool& pool) const {
    run(kernel, pool);
    std::vector<double> times;
    const auto begin = now(clock_kind);
    while (times.size() < 5 || (seconds_since(begin) < 0.15 && times.size() < 2000)) {
      const auto start = now(clock_kind);
      run(kernel, pool);
      times.push_back(seconds_since(start));
    }
    std::ranges::sort(times);
    return {times[times.size() / 2], times[0]};
  }

  std::shared_ptr<Graph> graph_;
  std::vector<std::unique_ptr<void, void (*)(void*)>> buffers_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
  std::vector<Kernel> kernels_;
  int64_t scratch_ = 0;
};

// Products of tiles that never leave their registers.
const char* const kMatrixUnit = R"C(
#include <stdint.h>
void unit(int64_t n, int bytes) {
  struct { uint8_t palette, start, reserved[14]; uint16_t bytes[16]; uint8_t rows[16]; } shape = {1};
  for (int tile = 0; tile < 8; ++tile) shape.bytes[tile] = 64, shape.rows[tile] = 16;
  __asm__ volatile("ldtilecfg %0" : : "m"(shape));
  for (int64_t i = 0; i < n; ++i) {
    if (bytes == 2) __asm__ volatile("tdpbf16ps %%tmm5, %%tmm4, %%tmm0\n tdpbf16ps %%tmm6, %%tmm4, %%tmm1\n"
                                     "tdpbf16ps %%tmm5, %%tmm7, %%tmm2\n tdpbf16ps %%tmm6, %%tmm7, %%tmm3" : : );
    else __asm__ volatile("tdpbssd %%tmm5, %%tmm4, %%tmm0\n tdpbssd %%tmm6, %%tmm4, %%tmm1\n"
                          "tdpbssd %%tmm5, %%tmm7, %%tmm2\n tdpbssd %%tmm6, %%tmm7, %%tmm3" : : );
  }
  __asm__ volatile("tilerelease" : : );
}
)C";

// Additions and multiplications per second.
double matrix_unit_rate(const cpu::Compiler& compiler, int bytes) {
  if (!compiler.target().amx_tile) return 0;
  const cpu::Source source{"unit", kMatrixUnit};
  const auto library = compiler.compile(std::span(&source, 1)).value();
  auto* unit = reinterpret_cast<void (*)(int64_t, int)>(library->symbol("unit").value());
  double best = 1e9;
  constexpr int64_t kTimes = 100000;
  for (int round = 0; round < 10; ++round) {
    const auto start = now(clock_kind);
    unit(kTimes, bytes);
    best = std::min(best, seconds_since(start));
  }
  return 2.0 * 4 * 16 * 16 * (64.0 / bytes) * kTimes / best;
}

double read_rate(ThreadPool& pool) {
  constexpr int64_t kWords = 1 << 26;
  std::vector<int64_t> data(kWords, 1);
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto start = now(clock_kind);
    pool.run(pool.threads(), [&](int64_t piece, int) {
      int64_t sums[32] = {};
      const int64_t share = kWords / pool.threads() / 32 * 32;
      const int64_t* from = data.data() + piece * share;
      for (int64_t i = 0; i < share; i += 32) {
        for (int64_t j = 0; j < 32; ++j) sums[j] += from[i + j];
      }
      volatile int64_t kept = sums[static_cast<size_t>(piece) % 32];
      (void)kept;
    });
    best = std::min(best, seconds_since(start));
  }
  return kWords * 8 / best;
}

}  // namespace

int main() {
  const cpu::Compiler compiler = cpu::Compiler::find().value();
  auto pool = std::make_unique<ThreadPool>(1);
  std::map<std::string, std::unique_ptr<Product>> products;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (kind == "threads") {
      int threads = 1;
      line >> threads;
      pool.reset();
      pool = std::make_unique<ThreadPool>(threads);
      products.clear();
      continue;
    }
    if (kind == "clock") {
      line >> kind;
      clock_kind = kind == "thread" ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
      continue;
    }
    if (kind == "amx") {
      std::cout << matrix_unit_rate(compiler, 2) << " " << matrix_unit_rate(compiler, 1) << std::endl;
      continue;
    }
    if (kind == "read") {
      std::cout << read_rate(*pool) << std::endl;
      continue;
    }
    if (kind == "drop") {
      products.clear();
      continue;
    }
    const bool show = kind == "text";
    if (show) line >> kind;
    std::unique_ptr<Product>& made = products[text];
    if (!made) {
      std::shared_ptr<Graph> graph = kind == "conv" ? convolution(line) : matrix_product(line);
      std::string schedule;
      std::getline(line >> std::ws, schedule);
      made = std::make_unique<Product>(std::move(graph), schedule, compiler);
    }
    std::cout << (show ? made->text() : made->time(*pool)) << std::endl;
  }
}
