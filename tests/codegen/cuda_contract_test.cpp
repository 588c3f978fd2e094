// Contract kernels for a GPU against the reference, emulated: every method on every body that it takes.
#include "lumen/codegen/cuda_contract.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/blocks.h"
#include "tests/codegen/contract_graphs.h"
#include "tests/codegen/cuda_emulator.h"
#include "tests/support/gpu_target.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// Each body with `most` of the schedules proposed, drawn at random, and with those of `more` that fit it.
class CudaCases {
 public:
  explicit CudaCases(size_t most = 2, std::vector<std::string> more = {}, const Target& target = tests::gpu_target())
      : most_(most), more_(std::move(more)), target_(target) {}

  void add(const Graph& graph, const std::vector<DimValues>& dims) {
    const std::shared_ptr<const Graph> body = clone(graph);
    const auto proposed = kernel_schedules(*body, target_);
    ASSERT_TRUE(proposed.ok()) << proposed.diag().str() << print(*body);
    std::vector<std::string> schedules = *proposed;
    EXPECT_LE(schedules.size(), target_.library ? 8u : 6u);
    std::shuffle(schedules.begin(), schedules.end(), random_);
    schedules.resize(std::min(schedules.size(), most_));
    schedules.insert(schedules.end(), more_.begin(), more_.end());
    for (const std::string& schedule : schedules) {
      const auto kernel = print_kernel(*body, "k" + std::to_string(kernels_.size()), schedule, target_);
      const bool may_not_fit = std::ranges::find(more_, schedule) != more_.end();
      if (!kernel.ok() && may_not_fit) continue;
      ASSERT_TRUE(kernel.ok()) << kernel.diag().str() << print(*body);
      kernels_.push_back(*kernel);
      for (const DimValues& values : dims) {
        Case& made = cases_.emplace_back(Case{body, {}, values, *kernel, schedule});
        for (const NodeId id : body->inputs()) {
          made.inputs.push_back(small_integers((*body)[id].type, values, random_));
        }
      }
    }
  }
  AddContract adder() {
    return [this](const Graph& graph, const std::vector<DimValues>& dims) { add(graph, dims); };
  }

  // Sums of numbers that are no integers are rounded, each way to add them differently: `rounded`.
  void run(double units = 4, bool rounded = false) {
    const auto expect = [&](const HostTensor& got, const HostTensor& wanted, const Case& each) {
      expect_same(got, wanted, units, each, rounded ? largest(wanted.lanes) : 0);
    };
    expect_emulated(kernels_, cases_, random_, expect);
  }
  size_t size() const { return kernels_.size(); }
  // Of kernels that dot or sweep.
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (const Case& each : cases_) {
      const bool few = each.about.starts_with("gpu-dot") || each.about.starts_with("gpu-sweep");
      if (few) found.push_back(each.kernel.text);
    }
    return found;
  }

 private:
  size_t most_;
  std::vector<std::string> more_;
  Target target_;
  std::vector<KernelText> kernels_;
  std::vector<Case> cases_;
  std::mt19937_64 random_{std::random_device{}()};
};

TEST(CudaContract, multiplies_every_layout) {
  CudaCases cases(3, {"gpu-tile rows=32 columns=16 summed=8 threads=64 parts=3"});
  add_layouts(cases.adder());
  cases.run();
}

TEST(CudaContract, multiplies_every_size) {
  CudaCases cases(2);
  add_sizes(cases.adder());
  cases.run();
}

TEST(CudaContract, multiplies_every_dtype) {
  CudaCases cases(1, {"gpu-tile rows=16 columns=32 summed=16 threads=256 parts=2"});
  add_dtypes(cases.adder());
  cases.run();
}

TEST(CudaContract, widens_what_is_narrow) {
  CudaCases cases(3);
  add_narrow(cases.adder());
  cases.run();
}

TEST(CudaContract, serves_dims_of_every_size) {
  CudaCases cases(6);
  add_symbolic(cases.adder());
  cases.run();
}

TEST(CudaContract, takes_what_is_around_it) {
  CudaCases cases(4, {"gpu-tile rows=16 columns=32 summed=16 threads=256 parts=2"});
  add_surrounded(cases.adder());
  add_several(cases.adder());
  add_windows(cases.adder());
  cases.run();
}

// Two sides, and what is done with both.
std::shared_ptr<const Graph> gate_body() {
  Graph gate;
  const Tensor rows = cast(gate.input("a0", {33, 64}, bf16), f32);
  const Tensor g = product(rows, "mk", cast(gate.input("a1", {48, 64}, bf16), f32), "nk", "mn");
  const Tensor u = product(rows, "mk", cast(gate.input("a2", {48, 64}, bf16), f32), "nk", "mn");
  (maximum(g, 0.0) * u).output("r0");
  return clone(gate);
}

// Weights in blocks, as model files have them.
void add_quantised(const AddContract& add, int64_t rows, BlockType type) {
  const int64_t columns = 37, depth = 512;
  Graph graph;
  const Tensor x = graph.input("a0", {rows, depth});
  const Tensor raw = graph.input("a1", {columns, depth / info(type).elements * info(type).bytes}, u8);
  product(x, "mk", dequantise(raw, type), "nk", "mn").output("r0");
  add(graph, {{}});
}

TEST(CudaContract, multiplies_few_rows) {
  CudaCases cases(6, {"gpu-dot rows=2 columns=8 summed=512 threads=256 lanes=2 ahead=3",
                      "gpu-dot rows=3 columns=4 summed=512 threads=128 lanes=1 ahead=1 parts=2",
                      "gpu-sweep rows=3 columns=16 summed=100 threads=64 lanes=2 ahead=2 parts=2"});
  for (const DType dtype : {f32, bf16, f16, i8, f8e4m3, f8e5m2}) {
    for (const bool along : {true, false}) {
      Graph graph;
      const DType wide = is_float(dtype) ? f32 : i32;
      const Tensor x = cast(graph.input("a0", {along ? 1 : 5, 1296}, dtype == i8 ? i8 : bf16), wide);
      const Tensor w = cast(graph.input("a1", along ? Shape{45, 1296} : Shape{1296, 96}, dtype), wide);
      product(x, "mk", w, along ? "nk" : "kn", "mn").output("r0");
      cases.add(graph, {{}});
    }
  }
  Graph gate;  // a norm before, a gate after, two sides
  const Tensor x = cast(gate.input("a0", {2, 512}, bf16), f32) * gate.input("a1", {512});
  const Tensor g = product(x, "mk", cast(gate.input("a2", {70, 512}, bf16), f32), "nk", "mn");
  const Tensor u = product(x, "mk", cast(gate.input("a3", {70, 512}, bf16), f32), "nk", "mn");
  cast(maximum(g, 0.0) * u + cast(gate.input("a4", {2, 70}, bf16), f32), bf16).output("r0");
  cases.add(gate, {{}});
  Graph weighed;  // weights of as many values as there are
  const Expr n = weighed.dim("n", 0, 4096);
  const Tensor values = cast(weighed.input("a1", {3, n, 24}, bf16), f32);
  product(weighed.input("a0", {3, 2, n}), "bmk", values, "bkn", "bmn").output("r0");
  cases.add(weighed, {DimValues{{"n", 0}}, DimValues{{"n", 1}}, DimValues{{"n", 1500}}});
  Graph batched;
  product(batched.input("a0", {3, 2, 640}), "bmk", batched.input("a1", {3, 21, 640}), "bnk", "bmn").output("r0");
  cases.add(batched, {{}});
  EXPECT_GT(cases.size(), 30u);
  cases.run();
}

TEST(CudaContract, multiplies_with_tensor_cores) {
  CudaCases cases(3, {"gpu-mma rows=32 columns=32 summed=32 threads=128 lanes=2 ahead=3",
                      "gpu-mma rows=16 columns=64 summed=16 threads=64 lanes=1 ahead=2 parts=2",
                      "gpu-mma rows=64 columns=32 summed=64 threads=64 lanes=2 ahead=2"});
  for (const DType dtype : {bf16, f16}) {
    for (int layout = 0; layout < 4; ++layout) {
      const bool rows_along = layout % 2 == 0, columns_along = layout / 2 == 0;
      Graph graph;
      const Tensor x = cast(graph.input("a0", rows_along ? Shape{40, 200} : Shape{200, 40}, dtype), f32);
      const Tensor w = cast(graph.input("a1", columns_along ? Shape{72, 200} : Shape{200, 72}, dtype), f32);
      cast(product(x, rows_along ? "mk" : "km", w, columns_along ? "nk" : "kn", "mn"), dtype).output("r0");
      cases.add(graph, {{}});
    }
  }
  Graph computed;  // rows that are gathered and rounded, columns that are padded
  const Tensor x = computed.input("a0", {30, 64}) * computed.input("a1", {64});
  const Tensor w = pad(cast(computed.input("a2", {50, 60}, bf16), f32), {{0, 0}, {2, 2}}, 0.0);
  product(cast(cast(x, bf16), f32), "mk", w, "nk", "mn").output("r0");
  cases.add(computed, {{}});
  cases.add(*gate_body(), {{}});
  Graph batched;
  const Expr n = batched.dim("n", 0, 4096);
  const Tensor q = cast(batched.input("a0", {2, n, 3, 64}, bf16), f32);
  const Tensor k = cast(batched.input("a1", {2, n, 3, 64}, bf16), f32);
  product(q, "bqhd", k, "bkhd", "bhqk").output("r0");
  cases.add(batched, {DimValues{{"n", 0}}, DimValues{{"n", 1}}, DimValues{{"n", 45}}});
  EXPECT_GT(cases.size(), 50u);
  cases.run();
}

// What cuBLASLt is asked for is what the body means; steps around it are emulated as others are.
TEST(CudaContract, multiplies_by_a_library) {
  Target target = tests::gpu_target();
  EXPECT_FALSE(print_kernel(*gate_body(), "k", "library", target).ok());  // there is none
  target.library = true;
  CudaCases cases(0, {"library"}, target);
  add_layouts(cases.adder());
  add_sizes(cases.adder());
  add_dtypes(cases.adder());
  add_narrow(cases.adder());
  add_symbolic(cases.adder());
  add_surrounded(cases.adder());
  add_several(cases.adder());
  add_windows(cases.adder());
  cases.add(*gate_body(), {{}});
  for (const DType dtype : {bf16, f16, f8e4m3}) {
    for (const bool rounds : {true, false}) {
      Graph graph;
      const Tensor x = cast(graph.input("a0", {5, 64}, dtype), f32), w = cast(graph.input("a1", {32, 64}, dtype), f32);
      cast(product(x, "mk", w, "nk", "mn"), rounds && dtype != f8e4m3 ? dtype : f32).output("r0");
      cases.add(graph, {{}});
    }
  }
  EXPECT_GT(cases.size(), 30u);
  cases.run();
}

// What is computed, or lies in pieces, is a matrix in scratch before it is multiplied; a result in pieces comes after.
TEST(CudaContract, packs_factors_for_a_library) {
  Target target = tests::gpu_target();
  target.library = true;
  CudaCases cases(0, {"library"}, target);
  Graph heads;  // what attention gives, and what it gets
  const Expr n = heads.dim("n", 17, 64);
  const Tensor x = cast(heads.input("a0", {4, n, 32}, bf16), f32), w = cast(heads.input("a1", {48, 4, 32}, bf16), f32);
  const Tensor residual = heads.input("a2", {n, 48}, bf16);
  (residual + cast(product(x, "hmd", w, "nhd", "mn"), bf16)).output("r0");
  cases.add(heads, {DimValues{{"n", 17}}, DimValues{{"n", 37}}});
  Graph cut;
  const Expr m = cut.dim("m", 17, 64);
  const Tensor rows = cast(cut.input("a0", {m, 64}, bf16), f32), keys = cast(cut.input("a1", {3, 32, 64}, bf16), f32);
  cast(product(rows, "mk", keys, "hdk", "hmd"), bf16).output("r0");
  cases.add(cut, {DimValues{{"m", 19}}, DimValues{{"m", 64}}});
  for (const DType dtype : {f32, bf16, f16}) {
    Graph scaled;  // both sides computed, of several batches
    const Tensor left = scaled.input("a0", {2, 21, 40}, dtype) * scaled.input("a1", {2, 21, 40}, dtype);
    const Tensor right = scaled.input("a2", {2, 33, 40}, dtype) + scaled.input("a3", {2, 33, 40}, dtype);
    exp2(product(cast(left, f32), "bmk", cast(right, f32), "bnk", "bmn") * 0.1).output("r0");
    cases.add(scaled, {{}});
  }
  EXPECT_EQ(cases.size(), 5u);
  cases.run();
}

// Rows of floats of 8 bits times columns of them, with a scale of each; `how` says what is around them.
struct ByteCase {
  int64_t rows = 37, columns = 48, depth = 64;
  DType left = f8e4m3, right = f8e4m3;
  bool along = true;    // columns lie along the sum
  bool halves = false;  // widened to bf16 first
  bool rounds = false;  // rows are rounded here
  int64_t skipped = 0;  // elements before the first row
  DType result = f32;
};
std::shared_ptr<const Graph> byte_body(const ByteCase& how) {
  Graph graph;
  const auto widened = [&](Tensor x) { return how.halves ? cast(cast(x, bf16), f32) : cast(x, f32); };
  const DType given = how.rounds ? f32 : how.left;
  Tensor x = graph.input("a0", {how.rows * how.depth + how.skipped}, given);
  x = reshape(narrow(x, 0, how.skipped, how.rows * how.depth), {how.rows, how.depth});
  if (how.rounds) x = cast(x * 0.25, how.left);
  const Shape shape = how.along ? Shape{how.columns, how.depth} : Shape{how.depth, how.columns};
  const Tensor w = graph.input("a1", shape, how.right);
  const Tensor sums = product(widened(x), "mk", widened(w), how.along ? "nk" : "kn", "mn");
  cast(sums * graph.input("a2", {1}) * graph.input("a3", {how.columns}), how.result).output("r0");
  return clone(graph);
}

// The dtypes that the library is given, and how many steps there are; or why there are none.
std::string bytes_given(const ByteCase& how, int sm = 90) {
  Target target = tests::gpu_target();
  target.library = true;
  target.sm = sm;
  const std::shared_ptr<const Graph> body = byte_body(how);
  const Expected<KernelText> kernel = print_kernel(*body, "k", "library", target);
  if (!kernel.ok()) {
    const std::string why = kernel.diag().str();
    return why.substr(0, why.find(", as the schedule"));
  }
  for (const KernelStep& step : kernel->steps) {
    if (!step.product) continue;
    EXPECT_TRUE(step.product->rows.along_summed && step.product->columns.along_summed);
    return fmt::format("{} {} {}", name(step.product->rows.dtype), name(step.product->columns.dtype),
                       kernel->steps.size());
  }
  return "no product";
}

TEST(CudaContract, gives_a_library_floats_of_8_bits) {
  EXPECT_EQ(bytes_given({.left = f8e5m2, .right = f8e5m2}), "no library multiplies f8e5m2 by f8e5m2 here");
  EXPECT_EQ(bytes_given({}, 80), "no library multiplies f8e4m3 by f8e4m3 here");
  EXPECT_EQ(bytes_given({.columns = 40}), "floats of 8 bits that are no multiples of 16");
  EXPECT_EQ(bytes_given({.depth = 72}), "floats of 8 bits that are no multiples of 16");
  EXPECT_EQ(bytes_given({.rows = 5, .along = false}), "floats of 8 bits that do not lie in lines of 16");
  EXPECT_EQ(bytes_given({.rows = 5, .skipped = 8}), "floats of 8 bits that do not lie in lines of 16");
  EXPECT_EQ(bytes_given({.rows = 5, .rounds = true}), "a factor that is computed");
  EXPECT_EQ(bytes_given({}), "f8e4m3 f8e4m3 2");  // and what is made of the sums
  EXPECT_EQ(bytes_given({.rows = 5, .left = f8e5m2}), "f8e5m2 f8e4m3 2");
  EXPECT_EQ(bytes_given({.right = f8e5m2, .halves = true}), "f8e4m3 f8e5m2 2");
  EXPECT_EQ(bytes_given({.skipped = 16}), "f8e4m3 f8e4m3 2");
  EXPECT_EQ(bytes_given({.skipped = 8}), "f8e4m3 f8e4m3 3");
  EXPECT_EQ(bytes_given({.along = false}), "f8e4m3 f8e4m3 3");
  EXPECT_EQ(bytes_given({.along = false, .halves = true, .rounds = true}), "f8e4m3 f8e4m3 4");
}

TEST(CudaContract, multiplies_floats_of_8_bits_by_a_library) {
  Target target = tests::gpu_target();
  target.library = true;
  CudaCases cases(0, {"library"}, target);
  for (const auto& [left, right] : {std::pair{f8e4m3, f8e4m3}, {f8e4m3, f8e5m2}, {f8e5m2, f8e4m3}}) {
    for (const DType result : {f32, bf16}) {
      cases.add(*byte_body({.rows = 5, .left = left, .right = right, .result = result}), {{}});
      cases.add(*byte_body({.left = left, .right = right, .along = false, .result = result}), {{}});
      cases.add(*byte_body({.left = left, .right = right, .halves = true, .rounds = true, .result = result}), {{}});
      cases.add(*byte_body({.left = left, .right = right, .along = false, .skipped = 8, .result = result}), {{}});
    }
  }
  EXPECT_EQ(cases.size(), 24u);
  cases.run();
}

// What a product of floats of 8 bits is scaled by.
struct ScaleCase {
  std::vector<Shape> scales;
  std::vector<double> constants = {};
  DType result = f32;
  DType held = f32;      // the scales
  bool squared = false;  // the product of scales is computed first, and multiplied by itself
  bool as_well = false;  // sums are an output, too
  DType factors = f8e4m3;
};
std::shared_ptr<const Graph> scaled_body(const ScaleCase& how) {
  Graph graph;
  const Tensor x = cast(graph.input("a0", {48, 64}, how.factors), f32);
  const Tensor w = cast(graph.input("a1", {48, 64}, how.factors), f32);
  const Tensor sums = product(x, "mk", w, "nk", "mn");
  Tensor scaled = sums;
  for (size_t k = 0; k < how.scales.size(); ++k) {
    const Tensor scale = cast(graph.input("a" + std::to_string(k + 2), how.scales[k], how.held), f32);
    scaled = k % 2 == 0 ? scaled * (how.squared ? scale * scale : scale) : scale * scaled;
  }
  for (const double constant : how.constants) scaled = scaled * constant;
  cast(scaled, how.result).output("r0");
  if (how.as_well) sums.output("r1");
  return clone(graph);
}

TEST(CudaContract, gives_a_library_scales_of_8_bits) {
  Target target = tests::gpu_target();
  target.library = true;
  // How many steps there are; and the product's constant, scales, and result.
  const auto given = [&](const ScaleCase& how) {
    const KernelText kernel = print_kernel(*scaled_body(how), "k", "library", target).value();
    const LibraryProduct& product = *kernel.steps[0].product;
    return fmt::format("{}: {} [{}] {}", kernel.steps.size(), product.constant, fmt::join(product.scales, " "),
                       name(product.result.dtype));
  };
  EXPECT_EQ(given({{{48, 1}}}), "2: 1 [] f32") << "of rows";
  EXPECT_EQ(given({{{48}}, {}, bf16}), "2: 1 [] f32") << "of columns";
  EXPECT_EQ(given({{{1}, {48, 1}}}), "2: 1 [] f32") << "one of each kind";
  EXPECT_EQ(given({{{1}, {1}, {1}}}), "2: 1 [] f32") << "three";
  EXPECT_EQ(given({{{1}}, {}, f32, bf16}), "2: 1 [] f32") << "held in bf16";
  EXPECT_EQ(given({.scales = {{1}}, .as_well = true}), "2: 1 [] f32");
  EXPECT_EQ(given({.scales = {}, .constants = {0}}), "2: 1 [] f32") << "a library would not look at NaN";
  EXPECT_EQ(given({.scales = {}, .constants = {1e-40}}), "2: 1 [] f32");
  EXPECT_EQ(given({.scales = {{1}, {1}}, .squared = true}), "2: 1 [] f32") << "four";
  EXPECT_EQ(given({.scales = {{1}}, .factors = bf16}), "2: 1 [] f32");
  EXPECT_EQ(given({.scales = {}, .constants = {0.5}, .factors = bf16}), "2: 1 [] f32");

  EXPECT_EQ(given({{}}), "1: 1 [] f32");
  EXPECT_EQ(given({{{1}}}), "1: 1 [2] f32");
  EXPECT_EQ(given({{{}, {1, 1}}}), "1: 1 [3 2] f32");
  EXPECT_EQ(given({{{1}, {1}}, {}, bf16}), "1: 1 [3 2] bf16");
  EXPECT_EQ(given({{{1}}, {0.25}, f16}), "1: 0.25 [2] f16");
  EXPECT_EQ(given({{}, {3}, bf16}), "1: 3 [] bf16");
  EXPECT_EQ(given({.scales = {{1}}, .squared = true}), "1: 1 [2 2] f32");
}

TEST(CudaContract, scales_floats_of_8_bits_by_a_library) {
  Target target = tests::gpu_target();
  target.library = true;
  CudaCases cases(0, {"library"}, target);
  const std::vector<Shape> scales[] = {{}, {{1}}, {{}, {1, 1}}, {{1}, {48, 1}}, {{48}}, {{1}, {1}, {1}}};
  for (const std::vector<Shape>& each : scales) {
    for (const DType result : {f32, bf16, f16}) {
      cases.add(*scaled_body({.scales = each, .result = result}), {{}});
      cases.add(*scaled_body({.scales = each, .constants = {0.75}, .result = result, .squared = each.size() == 1}),
                {{}});
    }
  }
  EXPECT_EQ(cases.size(), 36u);
  cases.run();
}

TEST(CudaContract, gives_a_library_only_what_it_can_do) {
  Target target = tests::gpu_target();
  target.library = true;
  const auto why_not = [&](const Graph& graph) {
    const Expected<KernelText> kernel = print_kernel(*clone(graph), "k", "library", target);
    return kernel.ok() ? "it can" : kernel.diag().str();
  };
  const auto computed = [&](int64_t rows, int64_t columns) {
    Graph graph;
    product(graph.input("a0", {rows, 8192}), "mk", exp2(graph.input("a1", {columns, 8192})), "nk", "mn").output("r0");
    return why_not(graph);
  };
  EXPECT_EQ(computed(17, 6), "it can");
  EXPECT_EQ(computed(16, 6), "a factor that is computed, as the schedule \"library\" wants");
  EXPECT_EQ(computed(17, 40'000), "a factor that is no matrix, and large, as the schedule \"library\" wants");
  Graph mixed;
  const Tensor narrow = cast(mixed.input("a1", {6, 8}, bf16), f32);
  product(mixed.input("a0", {4, 8}), "mk", narrow, "nk", "mn").output("r0");
  EXPECT_EQ(why_not(mixed), "no library multiplies f32 by bf16 here, as the schedule \"library\" wants");
  Graph empty;
  const Expr n = empty.dim("n", 0, 64);
  product(empty.input("a0", {4, n}), "mk", empty.input("a1", {6, n}), "nk", "mn").output("r0");
  EXPECT_EQ(why_not(empty), "a sum of nothing, as the schedule \"library\" wants");
  Graph good;  // the result goes where it belongs, in one step
  product(good.input("a0", {4, 8}), "mk", good.input("a1", {8, 6}), "kn", "mn").output("r0");
  const KernelText kernel = print_kernel(*clone(good), "k", "library", target).value();
  ASSERT_EQ(kernel.steps.size(), 1u);
  EXPECT_EQ(kernel.text, "");
  EXPECT_TRUE(kernel.steps[0].product->rows.along_summed);
  EXPECT_FALSE(kernel.steps[0].product->columns.along_summed);
}

// Experts of a mixture: for each row one of several matrices.
TEST(CudaContract, chooses_matrices) {
  CudaCases cases(6);
  for (const bool along : {true, false}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {3, 256}, bf16), f32);
    const Tensor all = graph.input("a1", along ? Shape{9, 40, 256} : Shape{9, 256, 40}, bf16);
    const Tensor chosen = index_select(all, 0, graph.input("a2", {3}, u8));
    product(x, "tk", cast(chosen, f32), along ? "tnk" : "tkn", "tn").output("r0");
    cases.add(graph, {{}});
    for (const std::string& text : cases.texts()) EXPECT_NE(text.find("lumen_read_once"), std::string::npos) << text;
  }
  cases.run();
}

// Rows of one product are the batches that chose the same matrix: of some there are many, of some none.
TEST(CudaContract, groups_what_chooses_the_same) {
  CudaCases cases(0, {"gpu-grouped rows=16 columns=64 summed=64 threads=128 lanes=1 ahead=2",
                      "gpu-grouped rows=64 columns=32 summed=32 threads=128 lanes=2 ahead=3"});
  for (const bool along : {true, false}) {
    for (const bool several : {true, false}) {
      Graph graph;
      const Expr n = graph.dim("n", 0, 4096);
      const Tensor x = cast(graph.input("a0", {n, 64}, bf16), f32);
      const Tensor index = graph.input("a1", {n, 3}, u8);
      const auto product_with = [&](const char* name) {
        const Tensor all = graph.input(name, along ? Shape{9, 40, 64} : Shape{9, 64, 40}, bf16);
        return product(x, "tk", cast(index_select(all, 0, index), f32), along ? "tjnk" : "tjkn", "tjn");
      };
      const Tensor one = product_with("a2");
      const Tensor both = several ? relu(one) * product_with("a3") : one;
      (both + graph.input("a4", {n, 3, 1})).output("r0");
      cases.add(graph, {DimValues{{"n", 0}}, DimValues{{"n", 1}}, DimValues{{"n", 70}}});
    }
  }
  EXPECT_EQ(cases.size(), 8u) << "all are grouped by both";
  cases.run();
}

TEST(CudaContract, groups_only_where_an_index_chooses_columns_of_single_rows) {
  const auto is_grouped = [](const Graph& graph) {
    const std::vector<std::string> schedules = kernel_schedules(*clone(graph), tests::gpu_target()).value();
    return std::ranges::any_of(schedules, [](const std::string& each) { return each.starts_with("gpu-grouped"); });
  };
  for (const int64_t tokens : {4, 32}) {
    Graph chosen;
    const Tensor x = cast(chosen.input("a0", {tokens, 64}, bf16), f32);
    const Tensor index = chosen.input("a1", {tokens}, u8);
    const Tensor all = chosen.input("a2", {9, 40, 64}, bf16);
    product(x, "tk", cast(index_select(all, 0, index), f32), "tnk", "tn").output("r0");
    EXPECT_EQ(is_grouped(chosen), tokens == 32) << "few choose the same";
  }
  Graph own;  // a matrix for each
  product(cast(own.input("a0", {32, 64}, bf16), f32), "tk", cast(own.input("a1", {32, 40, 64}, bf16), f32), "tnk", "tn")
      .output("r0");
  EXPECT_FALSE(is_grouped(own));
  Graph two;  // indices
  const Tensor rows = cast(two.input("a0", {32, 64}, bf16), f32);
  const auto with = [&](const char* index, const char* all) {
    const Tensor chosen = index_select(two.input(all, {9, 40, 64}, bf16), 0, two.input(index, {32}, u8));
    return product(rows, "tk", cast(chosen, f32), "tnk", "tn");
  };
  (with("a1", "a2") * with("a3", "a4")).output("r0");
  EXPECT_FALSE(is_grouped(two));
}

TEST(CudaContract, dequantises_weights) {
  CudaCases cases(6);
  for (const int64_t rows : {1, 3}) {
    for (const BlockType type :
         {BlockType::q8_0, BlockType::q4_0, BlockType::q4_k, BlockType::q6_k, BlockType::mxfp4}) {
      add_quantised(cases.adder(), rows, type);
    }
  }
  cases.run(16, true);
}

TEST(CudaContract, gathers_rows_and_says_when_an_index_is_outside) {
  std::mt19937_64 random(std::random_device{}());
  for (const int64_t largest : {6, 7}) {
    Graph graph;
    const std::shared_ptr<const Graph> body = clone(gathered_rows(graph));
    const std::string schedule = kernel_schedules(*body, tests::gpu_target()).value()[0];
    Case given{body, {}, {}, print_kernel(*body, "k", schedule, tests::gpu_target()).value(), schedule};
    for (const NodeId id : body->inputs()) given.inputs.push_back(small_integers((*body)[id].type, {}, random));
    for (Lane& lane : given.inputs[1].lanes) lane.i = std::abs(lane.i);
    given.inputs[1].lanes[3].i = largest;
    const auto [got, fault] = Emulated({given.kernel}).run(given, random);
    EXPECT_EQ(fault > 0, largest == 7);
    if (fault > 0) {
      EXPECT_EQ(given.kernel.faults[static_cast<size_t>(fault) - 1],
                "[Gather] an index is outside axis 0 of f32[7,40]");
    } else {
      expect_same(got[0], wanted_of(given).value()[0], 4, given);
    }
  }
}

TEST(CudaContract, schedules_are_lines_of_text_and_for_gpus_only) {
  const std::string line = "gpu-dot rows=1 columns=16 summed=4096 threads=256 lanes=2 ahead=4";
  EXPECT_EQ(CudaContractSchedule::parse(line).value().str(), line);
  EXPECT_FALSE(CudaContractSchedule::parse("gemm mr=1").ok());
  Graph graph;
  product(graph.input("a0", {40, 30}), "mk", graph.input("a1", {50, 30}), "nk", "mn").output("r0");
  const std::vector<std::string> here = kernel_schedules(graph, tests::gpu_target()).value();
  for (const std::string& schedule : here) EXPECT_TRUE(schedule.starts_with("gpu-")) << schedule;
  const std::vector<std::string> there = kernel_schedules(graph, Target()).value();
  for (const std::string& schedule : there) EXPECT_FALSE(schedule.starts_with("gpu-")) << schedule;
  EXPECT_FALSE(print_kernel(graph, "k", "gpu-tile rows=7 columns=16 summed=8 threads=64", tests::gpu_target()).ok());
}

}  // namespace
}  // namespace lumen
