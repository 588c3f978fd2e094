// What a user can get wrong is an Error at the call, never an abort or a graph that lies about its shape.
#include <functional>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Refusal, BadSizes) {
  Rig rig;
  Graph& g = rig.graph();
  const Expr n = rig.dim("n", 4);
  const Tensor x = g.input("x", {2, 6});
  const Tensor s = g.input("s", {n, 3});
  const Tensor e = g.input("e", {1, 2, 0});
  const Tensor w = g.input("w", {2, 2, 3});
  struct Case {
    std::string what;
    std::function<Tensor()> build;
  };
  const std::vector<Case> bad = {
      {"zeros", [&] { return zeros(g, {-2}); }},
      {"full",
       [&] {
         return full(g, {2, -1}, 1.0);
       }},
      {"eye", [&] { return eye(g, -1, 2); }},
      {"iota", [&] { return iota(g, {-3}, 1); }},
      {"iota of a foreign coordinate", [&] { return iota(g, {3}, Expr::index(1, 5)); }},
      {"linspace", [&] { return linspace(g, 0, 1, -1); }},
      {"one_hot", [&] { return one_hot(cast(x, i64), -1); }},
      {"expand",
       [&] {
         return expand(x, {-1, 2, 6});
       }},
      {"expand_dim", [&] { return expand_dim(x, 0, -3); }},
      {"repeat",
       [&] {
         return repeat(x, {1, -1});
       }},
      {"repeat_interleave", [&] { return repeat_interleave(x, -2, 0); }},
      {"unflatten",
       [&] {
         return unflatten(x, 1, {-2, 3});
       }},
      {"split_dims", [&] { return split_dims(x, 1, 0); }},
      {"narrow", [&] { return narrow(x, 1, 2, -1); }},
      {"narrow before", [&] { return narrow(x, 1, -7, 1); }},
      {"select", [&] { return select(e, 2, 0); }},
      {"unfold", [&] { return unfold(x, 1, 7, 1); }},
      {"unfold step", [&] { return unfold(x, 1, 2, 0); }},
      {"pad fill", [&] { return pad_along(x, 0, 1, 1, s); }},
      {"pad fill of another kind", [&] { return pad_along(cast(x, i8), 0, 1, 1, 1e9); }},
      {"reshape",
       [&] {
         return reshape(s, {2, -1});
       }},
      {"reshape to an unproven count",
       [&] {
         return reshape(s, {6, 2});
       }},
      {"merge_dims", [&] { return merge_dims(x, 1); }},
      {"concat of nothing", [&] { return concat({}, 0); }},
      {"stack",
       [&] {
         return stack({x, s});
       }},
      {"conv_transpose1d", [&] { return conv_transpose1d(e, w); }},
      {"max_pool", [&] { return max_pool(x, {.kernel = {7}}); }},
      {"pool without a kernel", [&] { return max_pool(x, {.kernel = {}}); }},
      {"avg_pool", [&] { return avg_pool(x, {.kernel = {2}, .dilation = {2}}); }},
      {"adaptive_max_pool",
       [&] {
         return adaptive_max_pool(x, {1, 1, 1});
       }},
      {"adaptive_max_pool of nothing", [&] { return adaptive_max_pool(e, {2}); }},
      {"median", [&] { return median(e).values; }},
      {"topk", [&] { return topk(x, -1).values; }},
      {"argmax of a scalar", [&] { return argmax(sum(x), 1); }},
      {"bitcast", [&] { return bitcast(g.input("odd", {3}, u8), i16); }},
      {"rms_norm of a scalar", [&] { return rms_norm(sum(x)); }},
      {"scatter", [&] { return scatter(x, cast(x, i64), s); }},
  };
  for (const Case& test : bad) {
    std::string type = "nothing";
    const std::string text = error_of([&] { type = test.build().type().str(); });
    EXPECT_FALSE(text.empty()) << test.what << " gave " << type;
    EXPECT_TRUE(text.empty() || text.find("(refusal_test.cpp:") != std::string::npos) << test.what << ": " << text;
  }
}

}  // namespace
}  // namespace lumen
