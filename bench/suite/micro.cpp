#include <fmt/format.h>

#include "bench/suite/case.h"
#include "lumen/frontend/ops.h"

namespace lumen::bench {

namespace {

struct Size {
  const char* label;
  int64_t count;
  bool quick;
};
constexpr Size kSizes[] = {
    {"1k", 1'000, true}, {"100k", 100'000, false}, {"1M", 1'000'000, true}, {"10M", 10'000'000, false}};
constexpr int64_t kRow = 1'000;     // what reductions go along
constexpr int64_t kGathered = 100;  // elements that one index takes
constexpr ValueRange kPositive{0.1, 4};

using MakeMicro = std::function<Tensor(Graph&, int64_t)>;

Case micro(const char* group, const Size& size, MakeMicro make) {
  Case c{.group = group, .size = size.label, .quick = size.quick, .flops = static_cast<double>(size.count)};
  c.build = [make = std::move(make), count = size.count](Graph& g) { make(g, count).output("out"); };
  return c;
}

MakeMicro unary(Tensor (*f)(const Operand&)) {
  return [f](Graph& g, int64_t n) { return f(g.input("x", {n})); };
}
MakeMicro binary(Tensor (*f)(const Operand&, const Operand&)) {
  return [f](Graph& g, int64_t n) { return f(g.input("x", {n}), g.input("y", {n})); };
}
MakeMicro row_fold(Tensor (*f)(const Operand&, const Axes&, bool)) {
  return [f](Graph& g, int64_t n) { return f(g.input("x", {n / kRow, kRow}), {1}, false); };
}

using Ranges = std::vector<std::pair<std::string, ValueRange>>;

Case with_ranges(Case c, Ranges ranges) {
  c.ranges = std::move(ranges);
  return c;
}

// Rows of a table, each index once or a few times.
Case gather_rows(const Size& size) {
  const int64_t rows = size.count / kGathered;
  Case c = micro("gather", size, [rows](Graph& g, int64_t) {
    return index_select(g.input("x", {rows, kGathered}), 0, g.input("indices", {rows}, i64));
  });
  c.ranges = {{"indices", {0, static_cast<double>(rows - 1)}}};
  c.flops = 0;
  return c;
}

Case cast_down(const Size& size) {
  Case c = micro("cast", size, [](Graph& g, int64_t n) { return cast(g.input("x", {n}), bf16); });
  c.flops = 0;
  return c;
}

}  // namespace

std::vector<Case> micro_cases() {
  using OfSize = std::function<Case(const Size&)>;
  const auto plain = [](const char* group, MakeMicro make) -> OfSize {
    return [=](const Size& size) { return micro(group, size, make); };
  };
  const auto ranged = [](const char* group, MakeMicro make, Ranges ranges) -> OfSize {
    return [=](const Size& size) { return with_ranges(micro(group, size, make), ranges); };
  };
  const OfSize families[] = {
      ranged("exp2", unary(exp2), {{"x", {-10, 10}}}),
      ranged("log2", unary(log2), {{"x", kPositive}}),
      ranged("sin", unary(sin), {{"x", {-100, 100}}}),
      ranged("recip", unary(reciprocal), {{"x", kPositive}}),
      ranged("sqrt", unary(sqrt), {{"x", kPositive}}),
      plain("add", binary(add)),
      plain("mul", binary(mul)),
      ranged("mod", binary(remainder), {{"x", {-100, 100}}, {"y", kPositive}}),
      plain("less_than", binary(lt)),
      gather_rows,
      cast_down,
      plain("sum", row_fold(sum)),
      plain("max", row_fold(max)),
  };
  std::vector<Case> cases;
  for (const OfSize& family : families) {
    for (const Size& size : kSizes) cases.push_back(family(size));
  }
  return cases;
}

}  // namespace lumen::bench
