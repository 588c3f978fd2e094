// Times single kernels, printed and compiled as the CPU backend does, for bench/kernels.py to set beside PyTorch.
//
//   build/release/bench_kernels               every case, with 1 thread and with all
//   build/release/bench_kernels --list        their names
//   build/release/bench_kernels --serve       answers lines `threads name`: median and best us, bytes moved
//   build/release/bench_kernels --text name   the kernel
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/base/thread_pool.h"
#include "lumen/codegen/fold.h"
#include "lumen/codegen/map.h"
#include "lumen/codegen/scan.h"
#include "lumen/codegen/scatter.h"
#include "lumen/codegen/sort.h"
#include "lumen/frontend/ops.h"

namespace lumen {
namespace {

using Build = std::function<void(Graph&)>;
struct BenchCase {
  std::string name;
  Build build;
};

std::string sizes(const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

using Rows = std::pair<int64_t, int64_t>;

void add_folds(std::vector<BenchCase>& cases) {
  const auto add = [&](const std::string& name, Rows shape, const std::function<Tensor(Tensor, Tensor)>& f) {
    cases.push_back({fmt::format("{} {}", name, sizes({shape.first, shape.second})), [=](Graph& g) {
                       const Tensor x = g.input("x", {shape.first, shape.second});
                       const Tensor w = g.input("w", {shape.second});
                       f(x, w).output("y");
                     }});
  };
  for (const Rows& shape : {Rows{4096, 1024}, Rows{512, 4096}, Rows{8, 100000}, Rows{32, 1024}, Rows{100000, 8}}) {
    add("softmax", shape, [](Tensor x, Tensor) { return softmax(x, 1); });
    add("layer_norm", shape, [](Tensor x, Tensor w) {
      const Tensor centred = x - mean(x, {1}, true);
      return centred * rsqrt(mean(centred * centred, {1}, true) + 1e-5) * w;
    });
    add("rms_norm", shape, [](Tensor x, Tensor w) { return x * rsqrt(mean(x * x, {1}, true) + 1e-5) * w; });
  }
  for (const Rows& shape : {Rows{4096, 1024}, Rows{8, 1000000}, Rows{1000000, 8}, Rows{1, 10000000}, Rows{64, 1024}}) {
    add("sum1", shape, [](Tensor x, Tensor) { return sum(x, {1}); });
    add("max1", shape, [](Tensor x, Tensor) { return max(x, {1}); });
    add("argmax1", shape, [](Tensor x, Tensor) { return argmax(x, 1); });
    add("sum0", shape, [](Tensor x, Tensor) { return sum(x, {0}); });
    add("max0", shape, [](Tensor x, Tensor) { return max(x, {0}); });
  }
  add("softmax0", {4096, 1024}, [](Tensor x, Tensor) { return softmax(x, 0); });
  cases.push_back({"mean023 32x64x56x56", [](Graph& g) {
                     mean(g.input("x", {32, 64, 56, 56}), {0, 2, 3}).output("y");
                   }});
  cases.push_back({"mean23 32x64x56x56", [](Graph& g) { mean(g.input("x", {32, 64, 56, 56}), {2, 3}).output("y"); }});
}

void add_maps(std::vector<BenchCase>& cases, int64_t n) {
  const auto add = [&](const std::string& name, DType dtype, const std::function<Tensor(Tensor, Tensor)>& f) {
    cases.push_back({fmt::format("{} {}", name, n), [=](Graph& g) {
                       const Tensor x = g.input("x", {n}, dtype);
                       f(x, g.input("z", {n}, dtype)).output("y");
                     }});
  };
  add("copy", f32, [](Tensor x, Tensor) { return x; });
  add("add", f32, [](Tensor x, Tensor z) { return x + z; });
  add("exp2", f32, [](Tensor x, Tensor) { return exp2(x); });
  add("gelu", f32, [](Tensor x, Tensor) { return gelu(x); });
  add("gelu_tanh", f32, [](Tensor x, Tensor) { return gelu_tanh(x); });
  add("silu", f32, [](Tensor x, Tensor) { return silu(x); });
  add("to_bf16", f32, [](Tensor x, Tensor) { return cast(x, bf16); });
  add("from_bf16", bf16, [](Tensor x, Tensor) { return cast(x, f32); });
  add("select", f32, [](Tensor x, Tensor z) { return where(lt(x, z), x, z); });
  add("int_add", i32, [](Tensor x, Tensor z) { return x + z; });
  add("add_bf16", bf16, [](Tensor x, Tensor z) { return x + z; });
  add("to_f16", f32, [](Tensor x, Tensor) { return cast(x, f16); });
}

void add_views(std::vector<BenchCase>& cases) {
  const auto add = [&](const std::string& name, Rows shape, const std::function<Tensor(Tensor, Tensor, Tensor)>& f) {
    cases.push_back({fmt::format("{} {}", name, sizes({shape.first, shape.second})), [=](Graph& g) {
                       const Tensor x = g.input("x", {shape.first, shape.second});
                       const Tensor row = g.input("row", {shape.second});
                       f(x, row, g.input("column", {shape.first, 1})).output("y");
                     }});
  };
  for (const Rows& shape : {Rows{256, 256}, Rows{1024, 1024}, Rows{4096, 1024}, Rows{1000000, 8}}) {
    add("times_row", shape, [](Tensor x, Tensor row, Tensor) { return x * row; });
    add("times_column", shape, [](Tensor x, Tensor, Tensor column) { return x * column; });
    add("transpose", shape, [](Tensor x, Tensor, Tensor) { return transpose(x); });
    add("add_transposed", shape, [](Tensor x, Tensor row, Tensor) { return transpose(x + row); });
  }
  cases.push_back({"nchw_to_nhwc 16x64x56x56", [](Graph& g) {
                     permute(g.input("x", {16, 64, 56, 56}), {0, 2, 3, 1}).output("y");
                   }});
  cases.push_back({"heads 4x512x16x64", [](Graph& g) {
                     permute(g.input("x", {4, 512, 16, 64}), {0, 2, 1, 3}).output("y");
                   }});
}

void add_indexed(std::vector<BenchCase>& cases) {
  for (const Rows& shape : {Rows{4096, 1024}, Rows{64, 1024}, Rows{8, 100000}}) {
    const std::string size = sizes({shape.first, shape.second});
    for (const int64_t axis : {0, 1}) {
      cases.push_back({fmt::format("cumsum{} {}", axis, size), [=](Graph& g) {
                         cumsum(g.input("x", {shape.first, shape.second}), axis).output("y");
                       }});
    }
    cases.push_back({"argsort1 " + size, [=](Graph& g) {
                       argsort(g.input("x", {shape.first, shape.second}), 1).output("y");
                     }});
    cases.push_back({"index_add " + size, [=](Graph& g) {
                       const Tensor x = g.input("x", {shape.first, shape.second});
                       const Tensor which = iota(g, {shape.first}, Expr::index(0, shape.first) * 7 % shape.first);
                       index_add(x, 0, which, g.input("z", {shape.first, shape.second})).output("y");
                     }});
  }
}

std::vector<BenchCase> all_cases() {
  std::vector<BenchCase> cases;
  add_folds(cases);
  add_indexed(cases);
  for (const int64_t n : {1000, 100000, 1000000, 10000000}) add_maps(cases, n);
  add_views(cases);
  return cases;
}

using Buffer = std::unique_ptr<std::byte, decltype(&std::free)>;
Buffer make_buffer(int64_t bytes) {
  const auto size = static_cast<size_t>((bytes + 64 + 63) / 64 * 64);
  return Buffer(static_cast<std::byte*>(std::aligned_alloc(64, size)), &std::free);
}

using Step = int64_t(const void* const*, void* const*, const int64_t*, int64_t, int64_t);

class Runner {
 public:
  explicit Runner(const BenchCase& given, const cpu::Compiler& compiler) {
    given.build(graph_);
    auto printed = print_fold(graph_, "kernel");
    if (!printed.ok()) printed = print_map(graph_, "kernel");
    if (!printed.ok()) printed = print_scan(graph_, "kernel");
    if (!printed.ok()) printed = print_sort(graph_, "kernel");
    if (!printed.ok()) printed = print_scatter(graph_, "kernel");
    kernel_ = printed.value();
    cpu::CompileOptions options;
    options.prelude = kernel_prelude(Syntax::c);
    options.flags = kernel_c_flags();
    const std::vector<cpu::Source> sources{cpu::source_of(kernel_).value()};
    library_ = compiler.compile(sources, options).value();
    for (const KernelStep& step : kernel_.steps) {
      steps_.push_back(reinterpret_cast<Step*>(library_->symbol(step.name).value()));
    }
    for (const NodeId id : graph_.inputs()) in_.push_back(fill(graph_[id].type));
    for (const Output& output : graph_.outputs()) out_.push_back(fill(graph_[output.value].type));
    out_.push_back(keep(evaluate(kernel_.scratch, {}).value()));
  }

  // Inputs that the kernel does not read do not count.
  int64_t bytes() const {
    int64_t total = 0;
    for (size_t k = 0; k < graph_.inputs().size(); ++k) {
      if (kernel_.text.find(fmt::format("a{}[", k)) != std::string::npos)
        total += bytes_of(graph_[graph_.inputs()[k]].type);
    }
    for (const Output& output : graph_.outputs()) total += bytes_of(graph_[output.value].type);
    return total;
  }
  const std::string& text() const { return kernel_.text; }

  void run(ThreadPool& pool) {
    for (size_t k = 0; k < steps_.size(); ++k) {
      const int64_t grain = kernel_.steps[k].grain;
      const int64_t rows = evaluate(kernel_.steps[k].rows, {}).value();
      const int64_t pieces = bytes() < 100000 ? 1 : std::min<int64_t>(pool.threads(), (rows + grain - 1) / grain);
      pool.run(pieces, [&](int64_t piece, int) {
        const int64_t begin = rows * piece / pieces / grain * grain;
        const int64_t end = piece + 1 == pieces ? rows : rows * (piece + 1) / pieces / grain * grain;
        steps_[k](in_.data(), out_.data(), nullptr, begin, end);
      });
    }
  }

  struct Times {
    double median, best;
  };
  // Of samples of about a millisecond at least.
  Times time(ThreadPool& pool) {
    const auto seconds = [&](int64_t calls) {
      const auto start = std::chrono::steady_clock::now();
      for (int64_t k = 0; k < calls; ++k) run(pool);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
             static_cast<double>(calls);
    };
    seconds(1);
    const auto calls = static_cast<int64_t>(std::max(1.0, 0.001 / std::max(1e-9, seconds(1))));
    std::vector<double> samples(9);
    for (double& sample : samples) sample = seconds(calls);
    std::sort(samples.begin(), samples.end());
    return {samples[4], samples[0]};
  }

 private:
  static int64_t bytes_of(const TensorType& type) {
    return storage_bytes(type.dtype, evaluate(type.shape.numel(), {}).value());
  }
  std::byte* keep(int64_t bytes) {
    buffers_.push_back(make_buffer(bytes));
    return buffers_.back().get();
  }
  // Numbers around 1, whatever the dtype.
  std::byte* fill(const TensorType& type) {
    const int64_t bytes = bytes_of(type);
    std::byte* const made = keep(bytes);
    const auto count = static_cast<size_t>(evaluate(type.shape.numel(), {}).value());
    std::vector<Lane> lanes(count);
    for (size_t k = 0; k < count; ++k) {
      const double x = static_cast<double>(k * 7919 % 2003) / 1000.0 - 1.0;
      lanes[k] = Scalar::of(type.dtype, is_float(type.dtype) ? x : x * 100).value;
    }
    pack(type.dtype, lanes, std::span(made, static_cast<size_t>(bytes)));
    return made;
  }

  Graph graph_;
  KernelText kernel_;
  std::shared_ptr<cpu::Library> library_;
  std::vector<Step*> steps_;
  std::vector<Buffer> buffers_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

int main_with(const std::vector<std::string>& args) {
  const std::vector<BenchCase> cases = all_cases();
  const cpu::Compiler compiler = cpu::Compiler::find().value();
  const std::string mode = args.empty() ? "" : args[0];
  const auto find = [&](const std::string& name) {
    return std::find_if(cases.begin(), cases.end(), [&](const BenchCase& each) { return each.name == name; });
  };
  if (mode == "--list") {
    for (const BenchCase& each : cases) fmt::print("{}\n", each.name);
  } else if (mode == "--text" && args.size() == 2 && find(args[1]) != cases.end()) {
    fmt::print("{}", Runner(*find(args[1]), compiler).text());
  } else if (mode == "--serve") {
    std::string name;
    for (int threads = 0; std::cin >> threads && std::getline(std::cin >> std::ws, name);) {
      if (find(name) == cases.end()) return 1;
      Runner runner(*find(name), compiler);
      ThreadPool pool(threads);
      const Runner::Times times = runner.time(pool);
      fmt::print("{:.3f} {:.3f} {}\n", times.median * 1e6, times.best * 1e6, runner.bytes());
      std::fflush(stdout);
    }
  } else {
    for (const BenchCase& each : cases) {
      Runner runner(each, compiler);
      ThreadPool one(1), all;
      const double alone = runner.time(one).median, together = runner.time(all).median;
      const double gigabytes = static_cast<double>(runner.bytes()) * 1e-9;
      fmt::print("{:<28} {:>12.2f} us {:>7.1f} GB/s   {:>12.2f} us {:>7.1f} GB/s\n", each.name, alone * 1e6,
                 gigabytes / alone, together * 1e6, gigabytes / together);
    }
  }
  return 0;
}

}  // namespace
}  // namespace lumen

int main(int argc, char** argv) { return lumen::main_with({argv + 1, argv + argc}); }
