// The C text of random expressions, compiled by the system compiler, computes what evaluate() says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/support/naive_expr.h"

namespace lumen {
namespace {

struct CaseOfExpr {
  Expr e;
  naive::Environment env;
  int64_t expected;
};

std::vector<CaseOfExpr> draw_cases(size_t count) {
  std::mt19937_64 random(7);
  const naive::Draw draw = [&](uint64_t n) { return random() % n; };
  std::vector<CaseOfExpr> cases;
  while (cases.size() < count) {
    const auto tree = naive::draw_tree(draw, 4);
    const naive::Environment env = naive::draw_environment(draw);
    if (!naive::evaluate(*tree, env)) continue;
    const Expr e = naive::build(*tree);
    cases.push_back({e, env, *evaluate(e, env.dims, env.coords)});
  }
  return cases;
}

TEST(ExprC, compiled_text_has_the_same_value) {
  const std::vector<CaseOfExpr> cases = draw_cases(600);
  size_t narrow = 0;
  std::string source = "#include <stdint.h>\n#include <stdio.h>\n";
  std::string calls;
  for (size_t k = 0; k < cases.size(); ++k) {
    const CExpr c = print_c(cases[k].e);
    const char* type = c.needs_64_bits ? "int64_t" : "int32_t";
    narrow += c.needs_64_bits ? 0 : 1;
    source += fmt::format("static int64_t f{}(void) {{\n", k);
    for (size_t v = 0; v < naive::variables().size(); ++v) {
      source += fmt::format("  {} {} = {}; (void){};\n", type, naive::variables()[v].name, cases[k].env.values[v],
                            naive::variables()[v].name);
    }
    source += fmt::format("  return {};\n}}\n", c.text);
    calls += fmt::format("  printf(\"%lld\\n\", (long long)f{}());\n", k);
  }
  source += "int main(void) {\n" + calls + "  return 0;\n}\n";

  const std::filesystem::path dir =
      std::filesystem::path(::testing::TempDir()) / fmt::format("lumen_expr_c_{}", ::getpid());
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "f.c") << source;
  const std::string compile =
      fmt::format("cc -O0 -w -fsanitize=undefined -fno-sanitize-recover {0}/f.c -o {0}/f", dir.string());
  ASSERT_EQ(std::system(compile.c_str()), 0) << compile;
  FILE* out = ::popen((dir / "f").c_str(), "r");
  ASSERT_NE(out, nullptr);
  for (const CaseOfExpr& c : cases) {
    long long got = 0;
    ASSERT_EQ(std::fscanf(out, "%lld", &got), 1);
    EXPECT_EQ(got, c.expected) << c.e.str() << "\n" << print_c(c.e).text;
  }
  EXPECT_EQ(::pclose(out), 0);
  std::filesystem::remove_all(dir);
  EXPECT_GT(narrow, cases.size() / 4) << "most small expressions need 32 bits only";
  EXPECT_LT(narrow, cases.size());
}

TEST(ExprC, width_covers_intermediates) {
  const Expr n = Expr::dim("n", 1, 100000);
  EXPECT_FALSE(print_c(n * 2).needs_64_bits);
  EXPECT_TRUE(print_c(n * n).needs_64_bits);
  EXPECT_TRUE(print_c((n * n + 1) / 50000).needs_64_bits) << "the numerator is computed first";
  EXPECT_EQ(print_c(Expr::index(0, n) / 4).text, "(i0 / 4)");
  EXPECT_EQ(print_c(Expr::index(0, n) % 4).text, "((i0 % 4))");
}

}  // namespace
}  // namespace lumen
