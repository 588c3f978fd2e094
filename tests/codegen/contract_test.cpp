// Contract kernels against the reference: layouts, dtypes, sizes, prologues, epilogues, every schedule proposed.
#include "lumen/codegen/contract.h"

#include <gtest/gtest.h>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/target.h"
#include "lumen/frontend/ops.h"
#include "lumen/hlir/indexing.h"
#include "tests/codegen/kernel_harness.h"
#include "tests/support/graphs/products.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// Small integers: sums are exact in every dtype wide enough, so that a wrong element cannot hide in a tolerance.
HostTensor small_integers(TensorType type, const DimValues& dims, std::mt19937_64& random) {
  HostTensor tensor = HostTensor::poisoned(type.dtype, type.shape.evaluate(dims).value());
  for (Lane& lane : tensor.lanes) {
    const auto value = static_cast<int64_t>(random() % 9) - (is_unsigned(type.dtype) ? 0 : 4);
    lane = Scalar::of(type.dtype, value).value;
  }
  return tensor;
}

std::vector<Target> targets() {
  std::vector<Target> all;
  for (const cpu::Level level : {cpu::Level::generic, cpu::Level::avx2, cpu::Level::avx512, cpu::Level::amx}) {
    if (level <= cpu::cpu().level) all.push_back(cpu::target_of(cpu::cpu().as_if(level).value()));
  }
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

  void run(double units) {
    std::string flags = "-O1 -w -march=native";
    for (const std::string& flag : kernel_c_flags()) flags += " " + flag;
    ASSERT_FALSE(cases_.empty());
    const Compiled compiled(source_, flags);
    for (const Case& each : cases_) {
      const auto [got, fault] = testing::run(each, compiled, random_);
      std::vector<const HostTensor*> in;
      for (const HostTensor& input : each.inputs) in.push_back(&input);
      const auto wanted = interpret(*expand(*each.body), in, each.dims).value();
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

void add_product(ContractCases& cases, TensorType a, std::string_view a_dims, TensorType b, std::string_view b_dims,
                 std::string_view result) {
  Graph graph;
  const Tensor x = graph.input("a0", a.shape, a.dtype);
  const Tensor y = graph.input("a1", b.shape, b.dtype);
  product(x, a_dims, y, b_dims, result).output("r0");
  cases.add(graph);
}

TEST(Contract, multiplies_every_layout) {
  ContractCases cases(6);
  add_product(cases, {f32, {37, 70}}, "mk", {f32, {70, 45}}, "kn", "mn");
  add_product(cases, {f32, {37, 70}}, "mk", {f32, {45, 70}}, "nk", "mn");
  add_product(cases, {f32, {70, 37}}, "km", {f32, {70, 45}}, "kn", "mn");
  add_product(cases, {f32, {70, 37}}, "km", {f32, {45, 70}}, "nk", "nm");
  add_product(cases, {f32, {3, 20, 33}}, "bmk", {f32, {3, 33, 17}}, "bkn", "bmn");
  add_product(cases, {f32, {5, 3, 20, 7}}, "mbhk", {f32, {3, 6, 7, 5}}, "bnkj", "bmnhj");
  add_product(cases, {f32, {40}}, "k", {f32, {21, 40}}, "nk", "n");
  add_product(cases, {f32, {21, 40}}, "mk", {f32, {40}}, "k", "m");
  add_product(cases, {f32, {40}}, "k", {f32, {40}}, "k", "");
  add_product(cases, {f32, {6}}, "m", {f32, {7}}, "n", "mn");
  add_product(cases, {f32, {6, 8}}, "ab", {f32, {6, 8}}, "ab", "ab");
  add_product(cases, {f32, {4, 3, 5}}, "akc", {f32, {3, 5}}, "kc", "a");
  cases.run(4);
}

TEST(Contract, multiplies_every_size) {
  ContractCases cases;
  for (const int64_t m : {0, 1, 33}) {
    for (const int64_t n : {0, 1, 65}) {
      for (const int64_t k : {0, 1, 67}) add_product(cases, {f32, {m, k}}, "mk", {f32, {n, k}}, "nk", "mn");
    }
  }
  for (const int64_t m : {1, 7, 16, 40}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {m, 96}, bf16), f32);
    const Tensor y = cast(graph.input("a1", {80, 96}, bf16), f32);
    product(x, "mk", y, "nk", "mn").output("r0");
    cases.add(graph);
  }
  cases.run(4);
}

TEST(Contract, multiplies_every_dtype) {
  ContractCases cases(1);
  for (const DType dtype : dtypes_of(kNumbers)) {
    if (is_float(dtype) && dtype != f32 && dtype != f64 && dtype != tf32) continue;  // products are not rounded
    add_product(cases, {dtype, {19, 35}}, "mk", {dtype, {23, 35}}, "nk", "mn");
    add_product(cases, {dtype, {19, 35}}, "mk", {dtype, {35, 23}}, "kn", "mn");
  }
  cases.run(4);
}

TEST(Contract, widens_what_is_narrow) {
  ContractCases cases(3);
  const std::pair<DType, DType> pairs[] = {{bf16, bf16}, {f16, f16}, {f8e4m3, f8e4m3}, {bf16, f16}, {i8, i8},  {u8, i8},
                                           {i8, u8},     {u8, u8},   {i4, i4},         {bf16, f32}, {i16, i16}};
  for (const auto& [left, right] : pairs) {
    for (const bool lies_along_k : {false, true}) {
      Graph graph;
      const DType wide = is_float(left) ? f32 : i32;
      const Tensor a = cast(graph.input("a0", {45, 100}, left), wide);
      const Tensor b = cast(graph.input("a1", lies_along_k ? Shape{70, 100} : Shape{100, 70}, right), wide);
      product(a, "mk", b, lies_along_k ? "nk" : "kn", "mn").output("r0");
      cases.add(graph);
    }
  }
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
  cases.run(4);
}

TEST(Contract, serves_dims_of_every_size) {
  ContractCases cases(20);
  Graph graph;
  const Expr rows = graph.dim("rows", 0, 4096), depth = graph.dim("depth", 0, 4096);
  product(graph.input("a0", {rows, depth}), "mk", graph.input("a1", {40, depth}), "nk", "mn").output("r0");
  std::vector<DimValues> values;
  for (const int64_t m : {0, 1, 50, 250}) {
    for (const int64_t k : {0, 1, 600}) values.push_back({{"rows", m}, {"depth", k}});
  }
  cases.add(graph, values);
  Graph across;
  const Expr columns = across.dim("columns", 0, 4096), images = across.dim("images", 0, 16);
  const Tensor a = cast(across.input("a0", {images, 33, 40}, bf16), f32);
  const Tensor b = cast(across.input("a1", {images, columns, 40}, bf16), f32);
  product(a, "bmk", b, "bnk", "bmn").output("r0");
  const DimValues some{{"columns", 70}, {"images", 3}}, none{{"columns", 0}, {"images", 2}},
      no_image{{"columns", 1}, {"images", 0}};
  cases.add(across, {some, none, no_image});
  cases.run(4);
}

TEST(Contract, computes_its_operands_and_what_follows) {
  ContractCases cases;
  Graph graph;
  const Expr n = graph.dim("n", 1, 100);
  const Tensor a = graph.input("a0", {33, 40});
  const Tensor b = graph.input("a1", {n, 40}, i8);
  const Tensor scale = graph.input("a2", {n, 1});
  const Tensor bias = graph.input("a3", {n});
  const Tensor rest = graph.input("a4", {33, n}, bf16);
  const Tensor y = product(a * 2.0, "mk", cast(b, f32) * scale, "nk", "mn");
  const Tensor z = maximum(y + bias, 0.0) + cast(rest, f32);
  z.output("r0");
  cast(z * 0.5, bf16).output("r1");
  cases.add(graph, {DimValues{{"n", 41}}, DimValues{{"n", 1}}});
  cases.run(4);
}

TEST(Contract, has_several_right_sides) {
  ContractCases cases;
  Graph graph;
  const Tensor a = graph.input("a0", {33, 40});
  const Tensor gate = product(a, "mk", graph.input("a1", {50, 40}), "nk", "mn");
  const Tensor up = product(a, "mk", graph.input("a2", {50, 40}), "nk", "mn");
  (maximum(gate, 0.0) * up).output("r0");
  cases.add(graph);
  cases.run(4);
}

TEST(Contract, reads_windows) {
  ContractCases cases;
  Graph graph;
  const Tensor x = graph.input("a0", {2, 3, 9, 11});
  const Tensor w = graph.input("a1", {5, 3, 3, 3});
  const std::optional<View> rows = pad(View::identity(x.shape()), 2, 1, 1, Scalar::of(f32, 0));
  const std::optional<View> padded = pad(*rows, 3, 1, 1, Scalar::of(f32, 0));
  const View windows = unfold(unfold(*padded, 2, 3, 2, 1), 3, 3, 1, 1);  // [2,3,5,11,3,3]
  const int64_t order[] = {0, 2, 3, 1, 4, 5};
  const View image = permute(windows, order);  // [2,5,11,3,3,3]
  const Shape domain{2, 5, 5, 11, 3, 3, 3};    // image, channel, row, column; channel in, window
  const auto index = [&](int k) { return Expr::index(k, domain[k]); };
  std::vector<std::pair<Expr, Expr>> at;
  for (int k = 0; k < 6; ++k) at.emplace_back(Expr::index(k, image.shape()[k]), index(k == 0 ? 0 : k + 1));
  llir::Contract op;
  op.left = View(domain, substitute(image.index(), at), substitute(image.guard(), at), image.fill());
  op.right = View(domain, index(1) * 27 + index(4) * 9 + index(5) * 3 + index(6));
  op.reduced = 3;
  const NodeId operands[] = {x.id, w.id};
  graph.add_output("r0", graph.add(op, operands).value()).value();
  cases.add(graph);
  cases.run(4);
}

// Rows of a table, chosen by indices, times a matrix.
Graph& gathered_rows(Graph& graph) {
  const Tensor table = graph.input("a0", {7, 40});
  const Tensor which = graph.input("a1", {20}, i32);
  const Tensor b = graph.input("a2", {33, 40});
  const NodeId operands[] = {table.id, which.id};
  const Tensor rows{&graph, graph.add(hlir::Gather{.axis = 0}, operands).value()};
  product(rows, "mk", b, "nk", "mn").output("r0");
  return graph;
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
    const Compiled compiled(kernel_prelude(Syntax::c) + given.kernel.text, "-O1 -w -march=native -fopenmp-simd");
    const auto [got, fault] = testing::run(given, compiled, random);
    if (largest == 7) {
      ASSERT_GT(fault, 0);
      EXPECT_EQ(given.kernel.faults[static_cast<size_t>(fault) - 1],
                "[Gather] an index is outside axis 0 of f32[7,40]");
      continue;
    }
    ASSERT_EQ(fault, 0);
    std::vector<const HostTensor*> in;
    for (const HostTensor& input : given.inputs) in.push_back(&input);
    expect_same(got[0], interpret(*expand(*body), in, {}).value()[0], 4, given);
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
