// Writing a token takes no memory from the heap.
#include <gtest/gtest.h>

#include "lumen/compile.h"
#include "tests/models/tiny.h"
#include "tests/support/counted_memory.h"

namespace lumen::models {
namespace {

struct How {
  const char* name;
  bool paged;
  int64_t candidates;
};
class Steps : public ::testing::TestWithParam<How> {};

TEST_P(Steps, allocate_nothing) {
  ModelOptions how{.batch = 2, .max_context = 128, .candidates = GetParam().candidates};
  if (GetParam().paged) how.paging = {.page = 16, .pages = 16};
  const Model model = build_model(tiny_config(), how).value();
  CompileOptions options;
  options.measure = false;
  Decoder decoder(with_random_parameters(compile(*model.graph, options)), model);
  decoder.prefill({{1, 2, 3}, {4}}, 8);
  decoder.step({5, 6});  // one token a sequence: sizes are settled anew
  decoder.step({7, 8});  // and the second set of outputs is made
  const size_t before = testing::allocations;
  int32_t next[2] = {1, 2};
  for (int k = 0; k < 50; ++k) {  // up to 55 of 64, where the context grows
    decoder.step(next);
    for (int64_t b = 0; b < 2; ++b) {
      next[b] = decoder.best(b).value_or(0);
      if (!decoder.has_candidates()) continue;
      decoder.set_draws(b, {.temperature = 0.5F + static_cast<float>(k)});
      ASSERT_EQ(decoder.candidates(b).ids[0], next[b]);
    }
    ASSERT_EQ(decoder.logits(1).size(), 11U);
  }
  EXPECT_EQ(testing::allocations, before);
}

INSTANTIATE_TEST_SUITE_P(Caches, Steps,
                         ::testing::Values(How{"paged", true, 0}, How{"whole", false, 0}, How{"candidates", false, 4}),
                         [](const auto& how) { return how.param.name; });

}  // namespace
}  // namespace lumen::models
