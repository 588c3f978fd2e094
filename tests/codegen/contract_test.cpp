// Contract kernels against the reference: layouts, dtypes, sizes, prologues, epilogues, every schedule proposed.
#include "lumen/codegen/contract.h"

#include <gtest/gtest.h>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/target.h"
#include "tests/codegen/contract_graphs.h"

namespace lumen {
namespace {

using namespace lumen::testing;

std::vector<Target> targets() {
  std::vector<Target> all;
  for (const cpu::Level level : {cpu::Level::generic, cpu::Level::avx2, cpu::Level::avx512, cpu::Level::amx}) {
    if (level <= cpu::cpu().level) all.push_back(cpu::target_of(cpu::cpu().as_if(level).value()));
  }
  if (cpu::cpu().dotprod) all.push_back(cpu::target_of(cpu::cpu()));
  return all;
}

// Cases that are compiled together: each body with the first schedule of every target, and with `most` others of this
// machine, drawn at random.
class ContractCases {
 public:
  explicit ContractCases(size_t most = 2) : most_(most) {}

  // One kernel for all the values of dims.
  void add(const Graph& graph, const std::vector<DimValues>& dims = {{}}, std::vector<ContractSchedule> more = {}) {
    const std::shared_ptr<const Graph> body = clone(graph);
    const std::vector<Target> all = targets();
    for (const Target& target : all) {
      std::vector<ContractSchedule> schedules = contract_schedules(*body, target);
      ASSERT_FALSE(schedules.empty()) << print(*body);
      std::shuffle(schedules.begin() + 1, schedules.end(), random_);
      schedules.resize(std::min(schedules.size(), &target == &all.back() ? most_ + 1 : 1));
      if (&target == &all.back()) schedules.insert(schedules.end(), more.begin(), more.end());
      for (const ContractSchedule& schedule : schedules) {
        const auto kernel = print_contract(*body, "k" + std::to_string(cases_.size()), schedule, target);
        ASSERT_TRUE(kernel.ok()) << kernel.diag().str() << print(*body);
        source_ += kernel->text;
        for (const DimValues& values : dims) add_case(body, values, *kernel, schedule, target);
      }
    }
  }

  AddContract adder() {
    return [this](const Graph& graph, const std::vector<DimValues>& dims) { add(graph, dims); };
  }

  void run(double units) {
    std::string flags = "-O1 -w " LUMEN_NATIVE;
    for (const std::string& flag : kernel_c_flags()) flags += " " + flag;
    ASSERT_FALSE(cases_.empty());
    const CompiledText compiled(source_, flags);
    for (const Case& each : cases_) {
      const auto [got, fault] = testing::run(each, compiled, random_);
      const std::vector<HostTensor> wanted = wanted_of(each).value();
      ASSERT_EQ(fault, 0);
      for (size_t k = 0; k < wanted.size(); ++k) expect_same(got[k], wanted[k], units, each);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  void add_case(const std::shared_ptr<const Graph>& body, const DimValues& dims, const KernelText& kernel,
                const ContractSchedule& schedule, const Target& target) {
    Case& made = cases_.emplace_back();
    for (const NodeId id : body->inputs()) made.inputs.push_back(small_integers((*body)[id].type, dims, random_));
    made.body = body;
    made.dims = dims;
    made.kernel = kernel;
    made.about = schedule.str() + ", vectors of " + std::to_string(target.vector_bytes);
  }

  std::string source_ = kernel_prelude(Syntax::c);
  size_t most_;
  std::vector<Case> cases_;
  std::mt19937_64 random_{std::random_device{}()};
};

TEST(Contract, multiplies_every_layout) {
  ContractCases cases(6);
  add_layouts(cases.adder());
  cases.run(4);
}

TEST(Contract, multiplies_every_size) {
  ContractCases cases;
  add_sizes(cases.adder());
  cases.run(4);
}

TEST(Contract, multiplies_every_dtype) {
  ContractCases cases(1);
  add_dtypes(cases.adder());
  cases.run(4);
}

TEST(Contract, widens_what_is_narrow) {
  ContractCases cases(3);
  add_narrow(cases.adder());
  cases.run(4);
}

TEST(Contract, sums_in_pieces) {
  ContractCases cases;
  Graph graph;
  const Tensor a = graph.input("a0", {100, 130});
  const Tensor b = graph.input("a1", {150, 130});
  product(a, "mk", b, "nk", "mn").output("r0");
  cases.add(graph, {{}}, {ContractSchedule::parse("gemm mr=3 nr=32 kc=48 mc=6 nc=64").value()});
  Graph narrow;
  const Tensor x = cast(narrow.input("a0", {100, 300}, bf16), f32);
  const Tensor y = cast(narrow.input("a1", {150, 300}, bf16), f32);
  product(x, "mk", y, "nk", "mn").output("r0");
  cases.add(narrow);
  for (const DType dtype : {f32, i8}) {  // columns side by side, which are packed a few pages at a time
    Graph side_by_side;
    const Expr k = side_by_side.dim("k", 0, 400);
    const DType sum = dtype == i8 ? i32 : f32;
    product(cast(side_by_side.input("a0", {20, k}, dtype), sum), "mk",
            cast(side_by_side.input("a1", {k, 70}, dtype), sum), "kn", "mn")
        .output("r0");
    cases.add(side_by_side, {{{"k", 0}}, {{"k", 128}}, {{"k", 129}}, {{"k", 400}}});
  }
  cases.run(4);
}

// Rows are held as 16-bit integers, and columns widened to these.
TEST(Contract, multiplies_few_rows_of_bytes) {
  ContractCases cases(0);
  for (const DType rows : {i8, u8}) {
    for (const DType columns : {i8, u8}) {
      for (const int64_t m : {1, 3}) {
        Graph graph;
        const Expr k = graph.dim("k", 0, 400);
        product(cast(graph.input("a0", {m, k}, rows), i32), "mk", cast(graph.input("a1", {9, k}, columns), i32), "nk",
                "mn")
            .output("r0");
        std::vector<DimValues> sizes;
        for (const int64_t size : {0, 1, 31, 32, 100, 399}) sizes.push_back({{"k", size}});
        cases.add(graph, sizes,
                  {ContractSchedule::parse("dot mr=2 nr=4 nc=8").value(),
                   ContractSchedule::parse("dot mr=1 nr=1 nc=32").value()});
      }
    }
  }
  cases.run(4);
}

// Rows are packed for kc products, of which kr at a time pass by a panel of columns: tiles wait in between, all of a
// block or those of a panel, in a buffer or, when they are all that is wanted, in the output. 7 tiles of rows are
// enough for each to fetch some of the next columns.
TEST(Contract, sums_parts_of_a_piece) {
  ContractCases cases(0);
  const std::vector<ContractSchedule> vectors{
      ContractSchedule::parse("gemm mr=3 nr=32 kc=144 kr=48 mc=6 nc=64").value(),
      ContractSchedule::parse("gemm mr=3 nr=32 kc=96 kr=40 mc=6 nc=64").value(),
      ContractSchedule::parse("gemm mr=3 nr=32 kc=130 kr=48 mc=102 nc=64 own=1").value()};
  Graph graph;
  product(graph.input("a0", {100, 130}), "mk", graph.input("a1", {150, 130}), "nk", "mn").output("r0");
  cases.add(graph, {{}}, vectors);
  if (!cpu::cpu().amx_bf16 || !cpu::cpu().amx_int8) return cases.run(4);
  for (const char* sizes : {"kc=320 kr=128 mc=224 nc=64", "kc=192 kr=64 mc=224 nc=64", "kc=192 mc=224 nc=64",
                            "kc=320 kr=64 mc=64 nc=160", "kc=320 kr=128 mc=224 nc=64 own=1", "kc=320 mc=128 nc=32"}) {
    const ContractSchedule s = ContractSchedule::parse(std::string("amx mr=32 nr=32 ") + sizes).value();
    for (const DType out : {bf16, f32}) {
      Graph narrow;
      const Tensor x = cast(narrow.input("a0", {210, 300}, bf16), f32);
      const Tensor y = cast(narrow.input("a1", {300, 150}, bf16), f32);
      const Tensor z = product(x, "mk", y, "kn", "mn");
      (out == f32 ? z : cast(z, out)).output("r0");
      cases.add(narrow, {{}}, {s});
    }
    Graph halves;  // weights of f16 in a model of bf16
    const Tensor weights = cast(cast(halves.input("a1", {150, 300}, f16), bf16), f32);
    product(cast(halves.input("a0", {70, 300}, bf16), f32), "mk", weights, "nk", "mn").output("r0");
    cases.add(halves, {{}}, {s});
    Graph bytes;
    const Expr k = bytes.dim("k", 0, 400);
    const Tensor x = cast(bytes.input("a0", {70, k}, i8), i32);
    const Tensor y = cast(bytes.input("a1", {k, 64}, u8), i32);
    product(x, "mk", y, "kn", "mn").output("r0");
    cases.add(bytes, {{{"k", 0}}, {{"k", 1}}, {{"k", 65}}, {{"k", 300}}, {{"k", 400}}}, {s});
  }
  Graph two;  // of one left side, read where it lies
  const Tensor x = cast(two.input("a0", {96, 320}, bf16), f32);
  for (const char* side : {"a1", "a2"}) {
    product(x, "mk", cast(two.input(side, {80, 320}, bf16), f32), "nk", "mn")
        .output(side == std::string("a1") ? "r0" : "r1");
  }
  cases.add(two, {{}}, {ContractSchedule::parse("amx mr=16 nr=32 kc=320 kr=128 mc=96 nc=96 direct=1").value()});
  cases.run(4);
}

// Lines of results that are stored past the caches: whole ones, parts of them at the edges and where rows begin inside
// a line, of several outputs with what is computed after the sums.
TEST(Contract, stores_past_the_caches) {
  ContractCases cases(0);
  const auto sizes = [](const char* text) { return std::vector{ContractSchedule::parse(text).value()}; };
  const bool amx = cpu::cpu().amx_bf16 && cpu::cpu().amx_int8;
  for (const int64_t columns : {128, 75}) {
    Graph graph;
    const Expr m = graph.dim("m", 0, 100);
    const Tensor sum = product(graph.input("a0", {m, 130}), "mk", graph.input("a1", {columns, 130}), "nk", "mn");
    const Tensor bias = expand_dim(graph.input("a2", {columns}), 0, m);
    (sum + bias).output("r0");
    cast(sum * bias, bf16).output("r1");
    cases.add(graph, {{{"m", 0}}, {{"m", 1}}, {{"m", 100}}},
              {ContractSchedule::parse("gemm mr=3 nr=32 kc=96 kr=40 mc=6 nc=64 past=1").value(),
               ContractSchedule::parse("gemm mr=4 nr=16 kc=130 mc=100 nc=32 past=1").value()});
    if (!amx) continue;
    for (const DType dtype : {bf16, i8}) {
      Graph narrow;
      const DType wide = dtype == i8 ? i32 : f32;
      const Tensor x = cast(narrow.input("a0", {70, 256}, dtype), wide);
      product(x, "mk", cast(narrow.input("a1", {256, columns}, dtype), wide), "kn", "mn").output("r0");
      cases.add(narrow, {{}}, sizes("amx mr=32 nr=32 kc=256 kr=128 mc=64 nc=64 past=1"));
      cases.add(narrow, {{}}, sizes("amx mr=32 nr=32 kc=256 mc=64 nc=64 direct=1 past=1"));
    }
  }
  cases.run(4);
}

TEST(Contract, stores_past_the_caches_only_whole_lines) {
  Target target;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  const auto passes = [](const ContractSchedule& s) { return s.past != 0; };
  const auto proposes = [&](int64_t rows, int64_t columns, const char* order) {
    Graph graph;
    product(graph.input("a0", {rows, 64}), "mk", graph.input("a1", {columns, 64}), "nk", order).output("r0");
    return std::ranges::any_of(contract_schedules(graph, target), passes);
  };
  EXPECT_TRUE(proposes(1024, 1024, "mn"));
  EXPECT_FALSE(proposes(1024, 1025, "mn"));  // rows begin inside a line
  EXPECT_FALSE(proposes(256, 1024, "mn"));   // a cache holds the results
  Graph transposed;
  product(transposed.input("a0", {64, 64}), "mk", transposed.input("a1", {64, 64}), "nk", "nm").output("r0");
  for (const char* wrong : {"gemm mr=4 nr=16 kc=64 mc=64 nc=64 swap=1 past=1", "dot mr=2 nr=4 nc=8 past=1"}) {
    EXPECT_FALSE(print_contract(transposed, "k", ContractSchedule::parse(wrong).value(), target).ok()) << wrong;
  }
}

TEST(Contract, converts_halves_to_others_as_they_are_packed) {
  Graph graph;
  const Tensor weights = cast(cast(graph.input("a1", {150, 320}, f16), bf16), f32);
  product(cast(graph.input("a0", {70, 320}, bf16), f32), "mk", weights, "nk", "mn").output("r0");
  Target target;
  target.vector_bytes = 64;
  target.amx_bf16 = true;
  const auto schedule = ContractSchedule::parse("amx mr=32 nr=32 kc=320 mc=96 nc=96").value();
  const std::string text = print_contract(graph, "k", schedule, target).value().text;
  EXPECT_NE(text.find("lumen_bf16_of_f16(block"), std::string::npos) << text;
}

// Bytes of both sides, of which lanes add up four products: signs, sums in pieces, what is no multiple of four, columns
// that lie along the summed axis and across it. `word` is the instruction, or nothing where there is none.
void multiply_bytes(DType rows, DType columns, const std::string& word, const Target& target, bool here,
                    std::initializer_list<const char*> sizes) {
  for (const char* order : {"kn", "nk"}) {
    ContractCases cases(0);
    Graph graph;
    const Expr m = graph.dim("m", 1, 100), k = graph.dim("k", 0, 400);
    const Tensor x = cast(graph.input("a0", {m, k}, rows), i32);
    const bool along = order[0] == 'n';
    const Tensor y = cast(graph.input("a1", along ? Shape{70, k} : Shape{k, 70}, columns), i32);
    product(x, "mk", y, order, "mn").output("r0");
    const std::vector<ContractSchedule> proposed = contract_schedules(graph, target);
    EXPECT_EQ(proposed[0].method == ContractMethod::quads, !word.empty()) << proposed[0].str();
    EXPECT_NE(print_contract(graph, "k", proposed[0], target).value().text.find(word), std::string::npos);
    if (word.empty() || !here) continue;
    std::vector<ContractSchedule> schedules;
    for (const std::string size : sizes) schedules.push_back(ContractSchedule::parse("quads " + size).value());
    cases.add(graph, {{{"m", 1}, {"k", 0}}, {{"m", 3}, {"k", 1}}, {{"m", 70}, {"k", 66}}, {{"m", 100}, {"k", 399}}},
              schedules);
    cases.run(0);
  }
}

TEST(Contract, multiplies_bytes_four_by_four_on_x86) {
  Target target;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  target.avx512 = target.avx512_vnni = true;
  const bool here = cpu::cpu().avx512_vnni && !cpu::cpu().amx_int8;
  for (const DType rows : {i8, u8}) {
    for (const DType columns : {i8, u8}) {
      multiply_bytes(rows, columns, "vpdpbusd", target, here,
                     {"mr=8 nr=48 kc=64 kr=16 mc=16 nc=96", "mr=16 nr=16 kc=400 mc=112 nc=32 own=1",
                      "mr=8 nr=32 kc=52 mc=24 nc=32"});
    }
  }
}

TEST(Contract, multiplies_bytes_four_by_four) {
  Target target;
  target.vector_registers = 32;
  target.lane_products = target.dotprod = true;
  for (const auto& [rows, columns, word] : {std::tuple(i8, i8, "sdot"), {u8, u8, "udot"}, {u8, i8, ""}}) {
    multiply_bytes(
        rows, columns, word, target, cpu::cpu().dotprod,
        {"mr=8 nr=12 kc=64 kr=16 mc=16 nc=24", "mr=4 nr=12 kc=400 mc=100 nc=24 own=1", "mr=12 nr=4 kc=52 mc=24 nc=8"});
  }
  const ContractSchedule odd = ContractSchedule::parse("quads mr=3 nr=12 kc=64 mc=12 nc=24").value();
  Graph bytes;
  product(cast(bytes.input("a0", {8, 8}, i8), i32), "mk", cast(bytes.input("a1", {8, 8}, i8), i32), "kn", "mn")
      .output("r0");
  EXPECT_EQ(print_contract(bytes, "k", odd, target).diag().message,
            "the schedule \"quads mr=3 nr=12 kc=64 mc=12 nc=24\" does not fit tiles of 4 lanes and depth 4");
  target.dotprod = false;
  EXPECT_EQ(print_contract(bytes, "k", odd, target).diag().message,
            "no vectors multiply four by four i32 for \"quads mr=3 nr=12 kc=64 mc=12 nc=24\"");
}

TEST(Contract, serves_dims_of_every_size) {
  ContractCases cases(20);
  add_symbolic(cases.adder());
  cases.run(4);
}

TEST(Contract, computes_its_operands_and_what_follows) {
  ContractCases cases;
  add_surrounded(cases.adder());
  cases.run(4);
}

TEST(Contract, has_several_right_sides) {
  ContractCases cases;
  add_several(cases.adder());
  cases.run(4);
}

TEST(Contract, reads_windows) {
  ContractCases cases;
  for (const int64_t channels : {1, 3, 8}) {
    add_windows(cases.adder(), f32, f32, channels);
    add_windows(cases.adder(), bf16, f32, channels);
    add_windows(cases.adder(), i8, i32, channels);
  }
  // Pieces of the sum that begin anywhere in a window.
  const auto cut = [&](const Graph& graph, const std::vector<DimValues>& dims) {
    cases.add(graph, dims,
              {ContractSchedule::parse("gemm mr=4 nr=16 kc=20 mc=8 nc=32").value(),
               ContractSchedule::parse("gemm mr=4 nr=16 kc=31 mc=8 nc=16 own=1").value()});
  };
  for (const int64_t channels : {3, 7}) add_windows(cut, f32, f32, channels);
  cases.run(4);
}

// Columns are read where they lie in an image with its border: any step, any window.
TEST(Contract, reads_windows_where_they_lie) {
  ContractCases cases(0);
  const auto lanes = [](const Target& target, DType dtype) { return target.vector_bytes / (dtype == f64 ? 8 : 4); };
  const auto add_where_they_lie = [&](const WindowSizes& sizes, DType held, DType dtype) {
    const auto add = [&](const Graph& graph, const std::vector<DimValues>& dims) {
      const int64_t nr = 2 * lanes(targets().back(), dtype);
      std::vector<ContractSchedule> all;
      for (const char* more : {"", " direct=1", " own=1"}) {
        if (more == std::string_view(" direct=1") && held != dtype) continue;  // not what lies there
        all.push_back(
            ContractSchedule::parse(fmt::format("windows mr=4 nr={} kc=4096 mc=8 nc={}{}", nr, 2 * nr, more)).value());
      }
      cases.add(graph, dims, all);
    };
    add_windows(add, held, dtype, sizes);
  };
  for (const int64_t down : {1, 2, 3}) {
    for (const int64_t right : {1, 2, 3}) {
      add_where_they_lie({.height = 13, .width = 40, .high = 2, .wide = 5, .down = down, .right = right}, f32, f32);
    }
  }
  add_where_they_lie({.images = 1, .height = 20, .width = 20, .high = 7, .wide = 7, .down = 2, .right = 2, .border = 3},
                     f32, f32);
  add_where_they_lie({.channels = 1, .images = 3, .height = 5, .width = 5, .border = 0, .made = 9}, f64, f64);
  add_where_they_lie({.height = 12, .width = 30, .dilation = 2, .border = 2}, f32, f32);
  add_where_they_lie({.images = 1, .height = 1, .width = 70, .high = 1, .wide = 4, .down = 1, .border = 0}, f32, f32);
  add_where_they_lie({.height = 3, .width = 5, .down = 1, .border = 0, .made = 4}, f32, f32);  // one line
  add_where_they_lie({.channels = 4, .width = 34, .down = 1}, bf16, f32);
  cases.run(4);
}

TEST(Contract, gathers_rows_and_says_when_an_index_is_outside) {
  std::mt19937_64 random(std::random_device{}());
  for (const int64_t largest : {6, 7}) {
    Graph graph;
    const std::shared_ptr<const Graph> body = clone(gathered_rows(graph));
    const Target target = targets().back();
    Case given{body, {}, {}, print_contract(*body, "k", contract_schedules(*body, target)[0], target).value(), ""};
    for (const NodeId id : body->inputs()) given.inputs.push_back(small_integers((*body)[id].type, {}, random));
    for (Lane& lane : given.inputs[1].lanes) lane.i = std::abs(lane.i);
    given.inputs[1].lanes[3].i = largest;
    const CompiledText compiled(kernel_prelude(Syntax::c) + given.kernel.text, "-O1 -w " LUMEN_NATIVE " -fopenmp-simd");
    const auto [got, fault] = testing::run(given, compiled, random);
    if (largest == 7) {
      ASSERT_GT(fault, 0);
      EXPECT_EQ(given.kernel.faults[static_cast<size_t>(fault) - 1],
                "[Gather] an index is outside axis 0 of f32[7,40]");
      continue;
    }
    ASSERT_EQ(fault, 0);
    expect_same(got[0], wanted_of(given).value()[0], 4, given);
  }
}

TEST(Contract, says_what_it_cannot_do) {
  Graph graph;
  const Tensor a = graph.input("a0", {4, 3});
  const Tensor y = product(a, "mk", graph.input("a1", {5, 3}), "nk", "mn");
  sum(y, {1}).output("r0");
  const Target target;
  EXPECT_TRUE(contract_schedules(graph, target).empty());
  const auto text =
      print_contract(graph, "k", ContractSchedule::parse("gemm mr=4 nr=8 kc=8 mc=4 nc=8").value(), target);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.diag().message,
            "the outputs of a contract kernel have the shape [4,5] of its result, but this is [4]");
  Graph plain;
  product(plain.input("a0", {4, 3}), "mk", plain.input("a1", {5, 3}), "nk", "mn").output("r0");
  const auto tiles =
      print_contract(plain, "k", ContractSchedule::parse("amx mr=32 nr=32 kc=64 mc=32 nc=32").value(), target);
  ASSERT_FALSE(tiles.ok());
  EXPECT_EQ(tiles.diag().message, "no matrix unit multiplies f32 for \"amx mr=32 nr=32 kc=64 mc=32 nc=32\"");
  const auto windows =
      print_contract(plain, "k", ContractSchedule::parse("windows mr=4 nr=8 kc=3 mc=4 nc=8").value(), target);
  ASSERT_FALSE(windows.ok());
  EXPECT_EQ(windows.diag().message, "no windows for the schedule \"windows mr=4 nr=8 kc=3 mc=4 nc=8\"");
}

TEST(Contract, schedules_are_lines_of_text) {
  const std::string line = "gemm mr=14 nr=32 kc=256 mc=112 nc=512 direct=3";
  EXPECT_EQ(ContractSchedule::parse(line).value().str(), line);
  for (const char* wrong : {"", "gem mr=1", "gemm mr=", "gemm mr=x", "gemm zr=1", "gemm mr=1x"}) {
    EXPECT_FALSE(ContractSchedule::parse(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace lumen
