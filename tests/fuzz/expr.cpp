// Normalised expressions against a naive evaluator: the bytes choose a tree and the environments.
#include <cstdio>
#include <cstdlib>

#include "tests/support/naive_expr.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lumen;
  size_t at = 0;
  const naive::Draw draw = [&](uint64_t n) {
    uint64_t v = at < size ? data[at++] : 0;
    if (n > 256) v = v * 256 + (at < size ? data[at++] : 0);
    return v % n;
  };
  const auto tree = naive::draw_tree(draw, 6);
  const Expr e = naive::build(*tree);
  auto failure = naive::check_normal(*tree, e);
  for (int k = 0; k < 3 && !failure; ++k) failure = naive::check(*tree, e, naive::draw_environment(draw));
  if (failure) {
    std::fprintf(stderr, "%s\n", failure->c_str());
    std::abort();
  }
  return 0;
}
