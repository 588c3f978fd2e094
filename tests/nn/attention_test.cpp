#include "nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/frontend/rig.h"

namespace lumen::nn {
namespace {

struct Heads {
  Tensor query, key, value;
};

Heads random_heads(Rig& rig) { return {rig.random({2, 4, 3, 8}), rig.random({2, 2, 5, 8}), rig.random({2, 2, 5, 8})}; }

TEST(Attend, is_scaled_dot_product_attention) {
  Rig rig;
  const Heads h = random_heads(rig);
  const Tensor wanted = scaled_dot_product_attention(h.query, h.key, h.value, {.scale = 0.3, .enable_gqa = true});
  expect_close(rig.run(attend(h.query, h.key, h.value, {.scale = 0.3})), doubles(rig.run(wanted)), 1e-6);
}

TEST(Attend, a_sink_is_one_more_key_with_value_0) {
  Rig rig;
  const Heads h = random_heads(rig);
  const Tensor sinks = rig.input({4}, {0.5, -3, 200, 2});  // the third leaves nothing for the keys
  const Tensor got = attend(h.query, h.key, h.value, {.scale = 0.3, .sinks = sinks});
  const Tensor keys = repeat_interleave(h.key, 2, 1), values = repeat_interleave(h.value, 2, 1);
  const Tensor scores = matmul(h.query, transpose(keys)) * 0.3;
  const Tensor column = expand(reshape(sinks, {1, 4, 1, 1}), {2, 4, 3, 1});
  const Tensor weights = narrow(softmax(concat({scores, column}, -1), -1), -1, 0, 5);
  expect_close(rig.run(got), doubles(rig.run(matmul(weights, values))), 1e-6);
}

TEST(Attend, caps_scores_before_it_masks) {
  Rig rig;
  const Heads h = random_heads(rig);
  const Tensor visible = rig.input({1, 1, 3, 5}, {1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1}, bool_);
  const Tensor got = attend(h.query, h.key, h.value, {.scale = 4, .visible = visible, .soft_cap = 2.0});
  const Tensor keys = repeat_interleave(h.key, 2, 1), values = repeat_interleave(h.value, 2, 1);
  const Tensor capped = tanh(matmul(h.query, transpose(keys)) * 2.0) * 2.0;
  const Tensor weights = softmax(where(visible, capped, -INFINITY), -1);
  expect_close(rig.run(got), doubles(rig.run(matmul(weights, values))), 1e-6);
}

TEST(VisibleKeys, past_and_window) {
  Rig rig;
  const Tensor positions = rig.input({2, 2}, {0, 3, 1, 4}, i64);
  expect_close(rig.run(visible_keys(positions, 5, {})),
               {1, 0, 0, 0, 0, 1, 1, 1, 1, 0, /**/ 1, 1, 0, 0, 0, 1, 1, 1, 1, 1});
  expect_close(rig.run(visible_keys(positions, 5, 2)),
               {1, 0, 0, 0, 0, 0, 0, 1, 1, 0, /**/ 1, 1, 0, 0, 0, 0, 0, 0, 1, 1});
}

}  // namespace
}  // namespace lumen::nn
