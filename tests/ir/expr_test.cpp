// Evaluation, text, bounds and parts of expressions; wrong input first.
#include "lumen/ir/expr.h"

#include <gtest/gtest.h>

#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/expr_divisibility.h"
#include "lumen/ir/expr_parts.h"
#include "lumen/ir/expr_prove.h"

namespace lumen {
namespace {

const Expr kSeq = Expr::dim("seq", 1, 8192);
const Expr kAny = Expr::dim("any", INT64_MIN, INT64_MAX);

std::string parse_error(std::string_view text) {
  const std::vector<Expr> extents = {4, kSeq};
  const ExprScope scope{[](std::string_view name) { return name == "seq" ? std::optional(kSeq) : std::nullopt; },
                        extents};
  const auto e = parse_expr(text, scope);
  return e.ok() ? "parsed as " + e->str() : std::to_string(e.diag().where.column) + ": " + e.diag().message;
}

TEST(Expr, parse_errors) {
  EXPECT_EQ(parse_error(""), "1: expected an expression");
  EXPECT_EQ(parse_error("seq +"), "6: expected an expression");
  EXPECT_EQ(parse_error("(seq"), "5: expected )");
  EXPECT_EQ(parse_error("min(seq, 3"), "11: expected , or )");
  EXPECT_EQ(parse_error("min 3"), "5: expected ( after min");
  EXPECT_EQ(parse_error("seqq"), "1: unknown dim seqq");
  EXPECT_EQ(parse_error("1 + i2"), "5: i2 is not a coordinate here: there are 2 dims");
  EXPECT_EQ(parse_error("i99999999999999999999"),
            "1: i99999999999999999999 is not a coordinate here: there are 2 dims");
  EXPECT_EQ(parse_error("9223372036854775808"), "1: 9223372036854775808 does not fit 64 bits");
  EXPECT_EQ(parse_error(std::string(1000, '(')), "65: the expression is nested too deeply");
  EXPECT_EQ(parse_error(std::string(1000, '-') + "seq"), "65: the expression is nested too deeply");
}

TEST(Expr, parse_stops_where_the_expression_ends) {
  std::string_view text = "seq*2 if x";
  const ExprScope scope{[](std::string_view) { return std::optional(kSeq); }, {}};
  EXPECT_EQ(parse_expr(text, scope)->str(), "2*seq");
  EXPECT_EQ(text, "if x");
  text = "seq -> f32";
  EXPECT_EQ(parse_expr(text, scope)->str(), "seq");
  EXPECT_EQ(text, "-> f32");
}

TEST(Expr, evaluation_errors) {
  const auto message = [](Expr e, const DimValues& dims) {
    const auto v = evaluate(e, dims);
    return v.ok() ? "value " + std::to_string(*v) : v.diag().message;
  };
  EXPECT_EQ(message(kSeq, {}), "dim seq has no value");
  EXPECT_EQ(message(kSeq, {{"seq", 0}}), "dim seq = 0 is outside 1..8192");
  EXPECT_EQ(message(kSeq, {{"seq", 9000}}), "dim seq = 9000 is outside 1..8192");
  EXPECT_EQ(message(Expr(7) / kAny, {{"any", 0}}), "division by zero in 7 / any");
  EXPECT_EQ(message(Expr(7) % kAny, {{"any", 0}}), "division by zero in 7 / any");
  EXPECT_EQ(message(kAny + 1, {{"any", INT64_MAX}}), "the value of the expression does not fit 64 bits");
  EXPECT_EQ(message(kAny * kAny * kAny, {{"any", INT64_MAX}}), "the value of the expression does not fit 64 bits");
  EXPECT_EQ(message(Expr(INT64_MAX) + 1, {}),
            "the expression is undefined: a coefficient left 64 bits or a divisor is 0");
  EXPECT_EQ(message(Expr(1) / 0, {}), "the expression is undefined: a coefficient left 64 bits or a divisor is 0");
  EXPECT_EQ(message(Expr::index(0, kSeq), {{"seq", 4}}), "no coordinate i0");
}

TEST(Expr, wide_intermediates_are_exact) {
  EXPECT_EQ(*evaluate(kAny * 2 - kAny - kAny / 1, {{"any", INT64_MAX}}), 0);
  EXPECT_EQ(*evaluate((kAny * kAny) / kAny, {{"any", INT64_MAX}}), INT64_MAX);
  EXPECT_EQ(*evaluate(-kAny, {{"any", INT64_MAX}}), -INT64_MAX);
}

TEST(Expr, variables_carry_their_bounds) {
  EXPECT_TRUE(Expr::dim("s", 1, 4) == Expr::dim("s", 1, 4));
  EXPECT_FALSE(Expr::dim("s", 1, 4) == Expr::dim("s", 1, 5));
  EXPECT_TRUE(Expr::index(0, 1) == Expr(0));
  EXPECT_EQ(bounds(Expr::index(0, kSeq)), (Interval{0, 8191}));
  EXPECT_EQ(bounds(kSeq * 2 - 1), (Interval{1, 16383}));
  EXPECT_EQ(bounds(kAny % 8), (Interval{0, 7}));
  EXPECT_EQ(bounds(min(kAny, kSeq)), (Interval{Interval::kNegInf, 8192}));
  const Expr x = Expr::dim("x", -3, 2);
  EXPECT_EQ(bounds(x * x), (Interval{0, 9}));
}

TEST(Expr, substitution_renormalises) {
  const Expr n = Expr::dim("n", 1, 64);
  const Expr i = Expr::index(0, n);
  const Expr e = i / 4;
  const std::pair<Expr, Expr> four[] = {{n, 4}};
  EXPECT_TRUE(substitute(e, four) == Expr(0)) << "the extent of i0 is now 4";
  const std::pair<Expr, Expr> sum[] = {{i, n * 4 + 3}};
  EXPECT_TRUE(substitute(e, sum) == n);
  EXPECT_EQ(substitute(e, {}).str(), e.str());
}

TEST(Expr, compiled_programs_agree_with_evaluation) {
  const Expr i = Expr::index(0, kSeq);
  const Expr j = Expr::index(1, 16);
  const auto affine = ExprProgram::compile(i * kSeq + 3 * j - 5, {{"seq", 7}});
  ASSERT_TRUE(affine->affine());
  EXPECT_EQ(affine->affine()->offset, -5);
  EXPECT_EQ(affine->affine()->strides, (std::vector<int64_t>{7, 3}));
  EXPECT_EQ(*(*affine)(std::vector<int64_t>{2, 10}), 39);
  const auto divided = ExprProgram::compile((i + j) / 4, {{"seq", 7}});
  EXPECT_FALSE(divided->affine());
  EXPECT_EQ(*(*divided)(std::vector<int64_t>{6, 10}), 4);
  EXPECT_EQ(ExprProgram::compile(kSeq, {{"seq", 0}}).diag().message, "dim seq = 0 is outside 1..8192");
}

TEST(Expr, divisibility) {
  EXPECT_EQ(known_divisor(6 * kSeq + 9), 3);
  EXPECT_EQ(known_divisor(0), 0);
  EXPECT_EQ(exact_quotient(kSeq * 6, kSeq)->str(), "6");
  EXPECT_FALSE(exact_quotient(kSeq * 6 + 1, kSeq));
  EXPECT_FALSE(exact_quotient(kAny * 6, kAny)) << "any may be 0";
}

TEST(Expr, parts) {
  const Expr i = Expr::index(0, kSeq);
  const Expr guard = logical_and(ge(i, 2), lt(i, 7));
  EXPECT_EQ(conjuncts(guard).size(), 2u);
  EXPECT_TRUE(conjuncts(1).empty());
  EXPECT_EQ(ge0_argument(ge(i, 2))->str(), "i0 - 2");
  const auto linear = linear_in_indices(i * kSeq + 4 * i + kSeq);
  ASSERT_TRUE(linear);
  ASSERT_EQ(linear->terms.size(), 1u);
  EXPECT_EQ(linear->terms[0].second.str(), "seq + 4");
  EXPECT_EQ(linear->rest.str(), "seq");
  EXPECT_FALSE(linear_in_indices(i * i));
  EXPECT_EQ(step_along(i * kSeq + 4 * i + kSeq, i)->str(), "seq + 4");
  EXPECT_EQ(step_along(kSeq, i), Expr(0));
  EXPECT_FALSE(step_along(i * i, i));
  EXPECT_FALSE(step_along(floor_div(i, 4), i));
  EXPECT_EQ(step_along(floor_div(4 * i + 3, 4), i), Expr(1));
  EXPECT_FALSE(linear_in_indices(i / 3));
  EXPECT_EQ(divisions(i / 3 + 1).size(), 1u);
  EXPECT_TRUE(divisions(i * 3 + 1).empty());
}

TEST(Expr, text_is_readable) {
  const Expr i = Expr::index(0, kSeq);
  EXPECT_EQ((i * 64 + Expr::index(1, 64)).str(), "64*i0 + i1");
  EXPECT_EQ((kAny % 4 * 2 + 1).str(), "2*(any % 4) + 1");
  EXPECT_EQ((-(kAny / 4)).str(), "-(any / 4)");
  EXPECT_EQ((kAny % kSeq * kSeq).str(), "seq*(any % seq)");
  EXPECT_EQ(logical_and(ge(i, 2), lt(i, 7)).str(), "i0 < 7 and i0 >= 2");
  EXPECT_EQ(eq(kAny, kSeq + 1).str(), "any == seq + 1");
  EXPECT_EQ(Expr(INT64_MIN).str(), "-9223372036854775808");
}

TEST(Expr, content_decides_hash_and_order) {
  EXPECT_EQ(kSeq.hash(), Expr::dim("seq", 1, 8192).hash());
  EXPECT_NE(kSeq.hash(), Expr::dim("seq", 1, 8193).hash());
  EXPECT_LT(compare(Expr(3), kSeq), 0);
  EXPECT_LT(compare(kSeq, Expr::index(0, 4)), 0);
  EXPECT_EQ(compare(kSeq + 1, kSeq + 1), 0);
}

TEST(Expr, oversized_expressions_are_undefined_not_slow) {
  Expr e = kAny;
  for (int k = 0; k < 40; ++k) e = min(e * e + k, e / 3 + Expr::dim("d" + std::to_string(k), 0, 9));
  EXPECT_TRUE(e.kind() == ExprKind::undefined);
}

}  // namespace
}  // namespace lumen
