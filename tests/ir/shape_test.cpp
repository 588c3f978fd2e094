#include "lumen/ir/shape.h"

#include <gtest/gtest.h>

#include <thread>

#include "lumen/ir/view.h"

namespace lumen {
namespace {

const Expr kSeqDim = Expr::dim("seq", 1, 8192);

TEST(Shape, EvaluateRejects) {
  EXPECT_EQ(Shape({2, kSeqDim - 4}).evaluate({{"seq", 3}}).diag().message,
            "dim 1 of [2,seq - 4] is -1, which is negative");
  EXPECT_EQ(Shape({int64_t{1} << 40, int64_t{1} << 40}).evaluate({}).diag().message,
            "the element count of [1099511627776,1099511627776] does not fit in 64 bits");
  EXPECT_FALSE(Shape({kSeqDim}).evaluate({}).ok());
  EXPECT_FALSE(Shape({kSeqDim}).evaluate({{"seq", 8193}}).ok());
}

TEST(Shape, AxisIsChecked) {
  EXPECT_DEATH((void)Shape({2, 3})[2], "axis 2 of \\[2,3\\]");
  EXPECT_DEATH((void)Shape({2, 3})[-1], "axis -1 of \\[2,3\\]");
}

TEST(Shape, Values) {
  const Shape shape{2, kSeqDim, 3};
  EXPECT_EQ(shape.evaluate({{"seq", 5}}).value(), (std::vector<int64_t>{2, 5, 3}));
  EXPECT_EQ(Shape({0, int64_t{1} << 40, int64_t{1} << 40}).evaluate({}).value().size(), 3u);
  EXPECT_EQ(shape.numel(), kSeqDim * 6);
  EXPECT_EQ(shape.strides(), (std::vector<Expr>{kSeqDim * 3, 3, 1}));
  EXPECT_EQ(shape.flat_index(std::vector<Expr>{1, 2, 0}), kSeqDim * 3 + 6);
  EXPECT_EQ(Shape().numel(), Expr(1));
  EXPECT_EQ(Shape().strides(), std::vector<Expr>{});
  EXPECT_FALSE(shape.is_static());
  EXPECT_TRUE(Shape({2, 3}).is_static());
}

TEST(Shape, PrintsLikeTheText) {
  EXPECT_EQ(Shape({2, kSeqDim}).str(), "[2,seq]");
  EXPECT_EQ(Shape().str(), "[]");
  EXPECT_EQ((TensorType{DType::f32, Shape{2, kSeqDim}}).str(), "f32[2,seq]");
}

TEST(Shape, EqualContentIsOneObject) {
  EXPECT_EQ(Shape({2, kSeqDim}), Shape(std::vector<Expr>{2, kSeqDim}));
  EXPECT_EQ(Shape({2, 3}), Shape(std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(Shape({2, 3}) == Shape({3, 2}));
  EXPECT_FALSE(Shape({kSeqDim}) == Shape({Expr::dim("seq", 1, 4096)}));
}

TEST(Shape, InterningFromManyThreadsGivesOneObject) {
  constexpr size_t kThreads = 8, kShapes = 500;
  std::vector<std::vector<View>> seen(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t n = 0; n < kShapes; ++n) {
        seen[t].push_back(View::identity(Shape{kSeqDim, static_cast<int64_t>(n), Expr::dim("thread_test", 1, 9)}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 1; t < kThreads; ++t) EXPECT_TRUE(seen[t] == seen[0]);
}

}  // namespace
}  // namespace lumen
