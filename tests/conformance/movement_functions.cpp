#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

Results slice_either(const Call& c) {
  if (c.has("ranges")) return {slice(c.x(), c.pairs("ranges"))};
  return {slice(c.x(), c.integer("axis"), c.optional_expr("start"), c.optional_expr("stop"), c.integer("step"))};
}

Results split_either(const Call& c) {
  if (c.has("sizes")) return split(c.x(), c.exprs("sizes"), c.integer("axis"));
  return split(c.x(), Expr(c.integer("size")), c.integer("axis"));
}

}  // namespace

std::span<const Function> movement_functions() {
  static const std::vector<Function> table = {
      {"permute", [](const Call& c) -> Results { return {permute(c.x(), c.integers("order"))}; }},
      {"transpose",
       [](const Call& c) -> Results { return {transpose(c.x(), c.integer("axis0"), c.integer("axis1"))}; }},
      {"t", unary(t)},
      {"moveaxis", [](const Call& c) -> Results { return {moveaxis(c.x(), c.integer("from"), c.integer("to"))}; }},
      {"reshape", [](const Call& c) -> Results { return {reshape(c.x(), c.exprs("shape"))}; }},
      {"flatten", [](const Call& c) -> Results { return {flatten(c.x(), c.integer("first"), c.integer("last"))}; }},
      {"merge_dims", [](const Call& c) -> Results { return {merge_dims(c.x(), c.integer("axis"))}; }},
      {"split_dims",
       [](const Call& c) -> Results { return {split_dims(c.x(), c.integer("axis"), c.integer("inner"))}; }},
      {"unflatten", [](const Call& c) -> Results { return {unflatten(c.x(), c.integer("axis"), c.exprs("sizes"))}; }},
      {"squeeze", [](const Call& c) -> Results { return {squeeze(c.x(), c.integers("axes"))}; }},
      {"unsqueeze", [](const Call& c) -> Results { return {unsqueeze(c.x(), c.integer("axis"))}; }},
      {"expand", [](const Call& c) -> Results { return {expand(c.x(), c.exprs("shape"))}; }},
      {"expand_dim",
       [](const Call& c) -> Results { return {expand_dim(c.x(), c.integer("axis"), c.integer("size"))}; }},
      {"broadcast_to", [](const Call& c) -> Results { return {broadcast_to(c.x(), c.integers("shape"))}; }},
      {"repeat", [](const Call& c) -> Results { return {repeat(c.x(), c.exprs("times"))}; }},
      {"tile", [](const Call& c) -> Results { return {tile(c.x(), c.exprs("times"))}; }},
      {"repeat_interleave",
       [](const Call& c) -> Results { return {repeat_interleave(c.x(), c.integer("times"), c.integer("axis"))}; }},
      {"slice", slice_either},
      {"narrow",
       [](const Call& c) -> Results {
         return {narrow(c.x(), c.integer("axis"), c.integer("start"), c.integer("length"))};
       }},
      {"select", [](const Call& c) -> Results { return {select(c.x(), c.integer("axis"), c.integer("index"))}; }},
      {"pad", [](const Call& c) -> Results { return {pad(c.x(), c.pairs("amounts"), c.operand(1))}; }},
      {"pad_along",
       [](const Call& c) -> Results {
         return {pad_along(c.x(), c.integer("axis"), c.integer("before"), c.integer("after"), c.operand(1))};
       }},
      {"flip", [](const Call& c) -> Results { return {flip(c.x(), c.integers("axes"))}; }},
      {"roll", [](const Call& c) -> Results { return {roll(c.x(), c.integer("shift"), c.integer("axis"))}; }},
      {"unfold",
       [](const Call& c) -> Results {
         return {unfold(c.x(), c.integer("axis"), c.integer("size"), c.integer("step"), c.integer("dilation"))};
       }},
      {"diagonal",
       [](const Call& c) -> Results {
         return {diagonal(c.x(), c.integer("offset"), c.integer("axis0"), c.integer("axis1"))};
       }},
      {"concat", [](const Call& c) -> Results { return {concat(c.tensors(), c.integer("axis"))}; }},
      {"stack", [](const Call& c) -> Results { return {stack(c.tensors(), c.integer("axis"))}; }},
      {"split", split_either},
      {"chunk", [](const Call& c) -> Results { return chunk(c.x(), c.integer("chunks"), c.integer("axis")); }},
      {"unbind", [](const Call& c) -> Results { return unbind(c.x(), c.integer("axis")); }},
  };
  return table;
}

}  // namespace lumen::conformance
