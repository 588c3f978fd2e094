// A table of identities: both sides must be the same object.
#include <gtest/gtest.h>

#include "lumen/ir/expr.h"

namespace lumen {
namespace {

// The scope of every row: dims of all signs, and coordinates of constant and symbolic extent.
std::optional<Expr> dim(std::string_view name) {
  struct Row {
    std::string_view name;
    int64_t lo, hi;
  };
  static constexpr Row kRows[] = {
      {"n", 1, 1000}, {"m", 1, 1000},   {"k", 2, 64},     {"s", 1, 8192},           {"h", 1, 64},     {"d", 1, 256},
      {"e", 0, 16},   {"x", -100, 100}, {"y", -100, 100}, {"z", -1000000, 1000000}, {"neg", -50, -1}, {"p", 5, 9}};
  for (const Row& r : kRows) {
    if (r.name == name) return Expr::dim(name, r.lo, r.hi);
  }
  return std::nullopt;
}

Expr read(std::string_view text) {
  // i0 < 4, i1 < n, i2 < m, i3 < 3, i4 < s, i5 < h, i6 < d, i7 < e
  static const std::vector<Expr> extents = {4, *dim("n"), *dim("m"), 3, *dim("s"), *dim("h"), *dim("d"), *dim("e")};
  const std::string all(text);
  auto e = parse_expr(text, ExprScope{dim, extents});
  if (!e.ok() || !text.empty()) {
    ADD_FAILURE() << "cannot read " << all << ": " << (e.ok() ? "left over: " + std::string(text) : e.diag().str());
    return Expr::undefined();
  }
  return *e;
}

struct Identity {
  const char* left;
  const char* right;
};

constexpr Identity kSums[] = {
    {"0 + x", "x"},
    {"x - x", "0"},
    {"x + y", "y + x"},
    {"(x + y) + z", "x + (y + z)"},
    {"x*y", "y*x"},
    {"(x*y)*z", "x*(y*z)"},
    {"x*(y + z)", "x*y + x*z"},
    {"(x + 1)*(x - 1)", "x*x - 1"},
    {"(x + y)*(x + y)", "x*x + 2*x*y + y*y"},
    {"(x - y)*(x + y)", "x*x - y*y"},
    {"2*x + 3*x", "5*x"},
    {"2*x - 2*x", "0"},
    {"0*x", "0"},
    {"1*x", "x"},
    {"--x", "x"},
    {"-(x - y)", "y - x"},
    {"x - (y - z)", "x - y + z"},
    {"3*(2*(x + 1) + 1)", "6*x + 9"},
    {"2 + 3*4", "14"},
    {"x + 2 + 3", "x + 5"},
    {"x*0 + y*0", "0"},
    {"(x + y + z)*2 - 2*z", "2*x + 2*y"},
};

constexpr Identity kDivisions[] = {
    {"(z/n)*n + z%n", "z"},
    {"(z/4)*4 + z%4", "z"},
    {"z - z%4", "4*(z/4)"},
    {"n*(z/n)", "z - z%n"},
    {"(z/x)*x + z%x", "z"},
    {"2*(z%x) + 2*x*(z/x)", "2*z"},
    {"7/2", "3"},
    {"-7/2", "-4"},
    {"7%-2", "-1"},
    {"-7%2", "1"},
    {"-7%-2", "-1"},
    {"ceil_div(7, 2)", "4"},
    {"ceil_div(-7, 2)", "-3"},
    {"z/1", "z"},
    {"z%1", "0"},
    {"z/-1", "-z"},
    {"z%-1", "0"},
    {"z/-4", "(-z)/4"},
    {"z%-4", "-((-z)%4)"},
    {"(4*z)/4", "z"},
    {"(4*z)%4", "0"},
    {"(4*z + 3)/4", "z"},
    {"(4*z + 3)%4", "3"},
    {"(4*z + 7)/4", "z + 1"},
    {"(4*z - 1)/4", "z - 1"},
    {"(4*z - 1)%4", "3"},
    {"(z + 8)/4", "z/4 + 2"},
    {"(z + 8)%4", "z%4"},
    {"(z + 9)/4", "(z + 1)/4 + 2"},
    {"(6*z)/4", "(3*z)/2"},
    {"(6*z + 3)/4", "(6*z + 2)/4"},
    {"(4*z + 2)/8", "z/2"},
    {"(4*z + 2)%8", "4*(z%2) + 2"},
    {"(n*z)/n", "z"},
    {"(z*n)%n", "0"},
    {"n/n", "1"},
    {"n%n", "0"},
    {"neg/neg", "1"},
    {"(n*m)/n", "m"},
    {"(n*m)/m", "n"},
    {"(n*m*z)/(n*m)", "z"},
    {"(n*z)/(n*m)", "z/m"},
    {"(n*z + n)/(n*m)", "(z + 1)/m"},
    {"(4*n*z)/(2*n)", "2*z"},
    {"(n*z)/(2*n)", "z/2"},
    {"(z + n)/n", "z/n + 1"},
    {"(z - n)/n", "z/n - 1"},
    {"(z + 2*n)%n", "z%n"},
    {"(x*n + i1)/n", "x"},
    {"(x*n + i1)%n", "i1"},
    {"(i2*n + i1)/n", "i2"},
    {"(i2*n + i1)%n", "i1"},
    {"(x*(n + 1) + i1)/(n + 1)", "x"},
    {"(x*(n + 1) + i1)%(n + 1)", "i1"},
    {"n/(n + 1)", "0"},
    {"n%(n + 1)", "n"},
    {"(n + 1)/(n + 1)", "1"},
    {"(n*n + n)/(n + 1)", "n"},
    {"(n*n - 1)/(n + 1)", "n - 1"},
    {"i0/4", "0"},
    {"i0%4", "i0"},
    {"i1/n", "0"},
    {"i1%n", "i1"},
    {"i7/e", "0"},
    {"i7%e", "i7"},
    {"(x*e + i7)/e", "x + i7/e"},
    {"(i0 - 4)/4", "-1"},
    {"(i0 - 4)%4", "i0"},
    {"(i1 - n)/n", "-1"},
    {"(i1 + n)/n", "1"},
    {"(i1 - n)%n", "i1"},
    {"p/10", "0"},
    {"p/5", "1"},
    {"p%5", "p - 5"},
    {"(p + 1)/5", "(p + 1)/5"},
    {"i3/4", "0"},
    {"(2*i0 + 1)/8", "0"},
    {"(i0 + 4*i3)/4", "i3"},
    {"(i0 + 4*i3)%4", "i0"},
    {"(i0 + 4*i3)/12", "0"},
    {"(i0 + 4*i3)%12", "i0 + 4*i3"},
    {"(12*x + 4*i3 + i0)/4", "3*x + i3"},
    {"(12*x + 4*i3 + i0)/12", "x"},
    {"(12*x + 4*i3 + i0)%12", "4*i3 + i0"},
    {"(12*x + 4*i3 + i0)/4%3", "i3"},
    {"(12*x + 4*i3 + i0)/24", "x/2"},
    {"((i4*h + i5)*d + i6)/d", "i4*h + i5"},
    {"((i4*h + i5)*d + i6)%d", "i6"},
    {"((i4*h + i5)*d + i6)/d%h", "i5"},
    {"((i4*h + i5)*d + i6)/(h*d)", "i4"},
    {"((i4*h + i5)*d + i6)%(h*d)", "i5*d + i6"},
    {"((i4*h + i5)*d + i6)%(h*d)/d", "i5"},
    {"((i4*h + i5)*d + i6)/(s*h*d)", "0"},
    {"((x*s + i4)*h + i5)/h/s", "x"},
    {"((x*s + i4)*h + i5)/h%s", "i4"},
};

constexpr Identity kNested[] = {
    {"z/4/3", "z/12"},
    {"z/3/4", "z/12"},
    {"z/n/m", "z/(n*m)"},
    {"z/4/n", "z/(4*n)"},
    {"z%12/4", "z/4%3"},
    {"z%12%4", "z%4"},
    {"z%(4*n)%4", "z%4"},
    {"z%(n*m)%m", "z%m"},
    {"z%(n*m)/m", "z/m%n"},
    {"z%4%12", "z%4"},
    {"z%4%4", "z%4"},
    {"z%n%n", "z%n"},
    {"z%4/4", "0"},
    {"z%n/n", "0"},
    {"z%4/5", "0"},
    {"(z%4 + 4*x)/4", "x"},
    {"(z%4 + 4*x)%4", "z%4"},
    {"(z%n + n*x)/n", "x"},
    {"(z/4 + 1)/3", "(z + 4)/12"},
    {"(z/n + 2)/m", "(z + 2*n)/(n*m)"},
    {"(z/4)*4%4", "0"},
    {"(z/4*4 + 1)/4", "z/4"},
    {"(z + x*4)%4", "z%4"},
    {"(z%12 + 12*x)/4%3", "z/4%3"},
    {"4*(z/4%3) + z%4", "z%12"},
    {"z/12*12 + z%12/4*4 + z%4", "z"},
    {"n*(z/n%m) + z%n", "z%(n*m)"},
    {"ceil_div(4*n, 4)", "n"},
    {"ceil_div(n*m, n)", "m"},
    {"ceil_div(4*n + 1, 4)", "n + 1"},
    {"ceil_div(i1, n)", "(i1 + n - 1)/n"},
    {"ceil_div(z, 1)", "z"},
};

constexpr Identity kComparisons[] = {
    {"i0 < 4", "1"},
    {"i0 < 5", "1"},
    {"i0 >= 0", "1"},
    {"i0 < 0", "0"},
    {"i0 >= 4", "0"},
    {"i1 < n", "1"},
    {"i1 <= n - 1", "1"},
    {"i1 >= n", "0"},
    {"i1 == n", "0"},
    {"i1 != n", "1"},
    {"n > 0", "1"},
    {"neg < 0", "1"},
    {"n < 1001", "1"},
    {"n*m >= 1", "1"},
    {"n*m >= n", "1"},
    {"i1 + n*i2 < n*m", "1"},
    {"z%n < n", "1"},
    {"z%n >= 0", "1"},
    {"z%12/4 < 3", "1"},
    {"n*(z/n) <= z", "1"},
    {"x < y", "x - y < 0"},
    {"x < y", "y > x"},
    {"x <= y", "x < y + 1"},
    {"2*x < 5", "x < 3"},
    {"2*x >= 5", "x >= 3"},
    {"3*x + 3*y >= 4", "x + y >= 2"},
    {"2*x == 6", "x == 3"},
    {"2*x == 5", "0"},
    {"2*x != 5", "1"},
    {"x == y", "y == x"},
    {"x - y == 0", "x == y"},
    {"not (x < y)", "x >= y"},
    {"not (x == y)", "x != y"},
    {"not not x", "x != 0"},
    {"not (x < 3 and y < 4)", "x >= 3 or y >= 4"},
    {"not (x < 3 or y < 4)", "x >= 3 and y >= 4"},
    {"x < 3 and x < 3", "x < 3"},
    {"x < 3 and x < 5", "x < 3"},
    {"x < 3 or x < 5", "x < 5"},
    {"x < 3 and x >= 3", "0"},
    {"x < 3 or x >= 3", "1"},
    {"x < 3 and x > 7", "0"},
    {"x < 3 and 1", "x < 3"},
    {"x < 3 and 0", "0"},
    {"x < 3 or 1", "1"},
    {"x < 3 or 0", "x < 3"},
    {"x < 3 and y < 4", "y < 4 and x < 3"},
    {"(x < 3 and y < 4) and z < 5", "x < 3 and (y < 4 and z < 5)"},
    {"(x < 3)*(x < 3)", "x < 3"},
    {"(x < 3) == 1", "x < 3"},
    {"(x < 3) == 0", "x >= 3"},
    {"(x < 3) + 1 > 1", "x < 3"},
    {"min(x, x)", "x"},
    {"min(x, y)", "min(y, x)"},
    {"max(min(x, y), min(y, x))", "min(x, y)"},
    {"min(min(x, y), z)", "min(x, min(y, z))"},
    {"min(i0, 4)", "i0"},
    {"max(i0, 0)", "i0"},
    {"min(i1, n)", "i1"},
    {"max(i1, n)", "n"},
    {"min(n, n + 1)", "n"},
    {"max(n, n + 1)", "n + 1"},
    {"min(3, 5)", "3"},
    {"max(3, 5)", "5"},
    {"max(n, 1)", "n"},
    {"min(neg, 0)", "neg"},
    {"min(n*m, n)", "n"},
    {"min(x, y) <= x", "1"},
    {"max(x, y) >= x", "1"},
    {"min(x, 3) < 4", "1"},
    {"min(x, max(x, y))", "x"},
    {"max(x, min(x, y))", "x"},
};

// What must not be simplified: a divisor that may be 0, sides that differ for some value.
constexpr Identity kDifferent[] = {
    {"x/x", "1"},   {"(x*y)/x", "y"},     {"0/x", "0"},         {"e/e", "1"},           {"x%x", "0"},
    {"z/4", "0"},   {"(z + 1)/4", "z/4"}, {"z%4", "z"},         {"(x*n + y)/n", "x"},   {"(z/4)*4", "z"},
    {"x < 3", "1"}, {"x < 3", "x <= 3"},  {"min(x, y)", "x"},   {"i1 < 500", "1"},      {"x*x", "x"},
    {"i0/3", "0"},  {"(3*z)/2", "z"},     {"z/x/y", "z/(x*y)"}, {"(2*z)/(2*x)", "z/y"}, {"x == y", "0"},
};

void expect_equal(std::span<const Identity> rows) {
  for (const Identity& row : rows) {
    EXPECT_EQ(read(row.left).str(), read(row.right).str()) << row.left;
    EXPECT_TRUE(read(row.left) == read(row.right)) << row.left << " -> " << read(row.left).str();
  }
}

TEST(ExprIdentity, unequal_stay_apart) {
  for (const Identity& row : kDifferent) {
    EXPECT_FALSE(read(row.left) == read(row.right)) << row.left << " became " << row.right;
  }
}
TEST(ExprIdentity, sums) { expect_equal(kSums); }
TEST(ExprIdentity, divisions) { expect_equal(kDivisions); }
TEST(ExprIdentity, nested) { expect_equal(kNested); }
TEST(ExprIdentity, comparisons) { expect_equal(kComparisons); }
TEST(ExprIdentity, table_is_large_enough) {
  EXPECT_GE(std::size(kSums) + std::size(kDivisions) + std::size(kNested) + std::size(kComparisons), 150u);
}

}  // namespace
}  // namespace lumen
