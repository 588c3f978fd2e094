// Random bodies of fold kernels: any axes, reductions of each other, views and broadcasts around them.
#include <fmt/format.h>

#include "lumen/codegen/fold.h"
#include "lumen/frontend/ops.h"
#include "tests/codegen/kernel_cases.h"

namespace lumen {
namespace {

using namespace lumen::testing;

class RandomFold {
 public:
  RandomFold(uint64_t seed, KernelCases& cases) : random_(seed), cases_(cases) {
    const int64_t rank = 1 + pick(4);
    for (int64_t k = 0; k < rank; ++k) {
      const int64_t size = kSizes[pick(std::size(kSizes))];
      const bool is_symbolic = pick(3) == 0;
      dims_.push_back(is_symbolic ? graph_.dim(fmt::format("n{}", k), pick(2), 40) : Expr(size));
      if (is_symbolic) values_.set(fmt::format("n{}", k), std::max<int64_t>(size, 1));
    }
    for (int64_t k = 0; k < rank; ++k) {
      if (pick(2) == 0) axes_.push_back(k);
    }
    if (axes_.empty()) axes_.push_back(pick(static_cast<size_t>(rank)));
    // Positive and not far from 1, so that nothing cancels.
    wholes_.push_back(abs(graph_.input("x", Shape(dims_))) + 0.5);
    const int64_t steps = 3 + pick(6);
    for (int64_t k = 0; k < steps; ++k) step();
    finish(fmt::format("seed {}", seed));
  }

 private:
  static constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 17, 33};

  int64_t pick(size_t count) { return static_cast<int64_t>(random_() % count); }
  Tensor any(const std::vector<Tensor>& from) { return from[random_() % from.size()]; }

  // A new input that is broadcast along some dims.
  Tensor broadcast() {
    std::vector<Expr> dims = dims_;
    for (Expr& dim : dims) dim = pick(2) == 0 ? dim : Expr(1);
    return abs(graph_.input(fmt::format("b{}", wholes_.size()), Shape(dims))) + 0.5;
  }

  void step() {
    const Tensor x = any(wholes_);
    switch (pick(7)) {
      case 0:
        wholes_.push_back(x * broadcast());
        break;
      case 1:
        wholes_.push_back(sigmoid(x) + 0.5);
        break;
      case 2:
        wholes_.push_back(sqrt(x + any(wholes_)));
        break;
      case 3:
        wholes_.push_back(flip(x, {pick(dims_.size())}) + x);
        break;
      default: {
        const Tensor row = pick(2) == 0 ? mean(x, axes_, true) : max(x, axes_, true);
        rows_.push_back(row);
        wholes_.push_back(pick(2) == 0 ? x / (row + 1.0) : exp2(row * 0.25) + x);
      }
    }
  }

  void finish(const std::string& about) {
    if (rows_.empty()) rows_.push_back(sum(any(wholes_), axes_, true));
    if (pick(2) == 0) wholes_.back().output("whole");
    if (graph_.outputs().empty() || pick(2) == 0) {
      std::vector<Expr> kept;
      for (int64_t k = 0; k < static_cast<int64_t>(dims_.size()); ++k) {
        if (std::find(axes_.begin(), axes_.end(), k) == axes_.end()) kept.push_back(dims_[static_cast<size_t>(k)]);
      }
      (reshape(rows_.back(), kept) * 2.0).output("row");
    }
    if (print_fold(graph_, "k").ok()) cases_.add(graph_, values_, 512, about);
  }

  Graph graph_;
  std::mt19937_64 random_;
  KernelCases& cases_;
  std::vector<Expr> dims_;
  DimValues values_;
  Axes axes_;
  std::vector<Tensor> wholes_, rows_;
};

TEST(FoldRandom, means_what_the_reference_means) {
  const uint64_t first = std::random_device{}();
  KernelCases cases([](const Graph& body, const std::string& name) { return print_fold(body, name); });
  for (uint64_t seed = first; seed < first + 150; ++seed) RandomFold(seed, cases);
  EXPECT_GT(cases.size(), 75u);
  cases.run_all();
}

// The same, cut into chunks although the rows are short.
TEST(FoldRandom, means_the_same_in_chunks) {
  const uint64_t first = std::random_device{}();
  KernelCases cases([](const Graph& body, const std::string& name) {
    return print_fold(body, name, {.split_below = int64_t{1} << 40, .chunk_work = 7, .most_items = int64_t{1} << 40});
  });
  for (uint64_t seed = first; seed < first + 100; ++seed) RandomFold(seed, cases);
  EXPECT_GT(cases.size(), 50u);
  cases.run_all();
}

}  // namespace
}  // namespace lumen
