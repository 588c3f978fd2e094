#include <gtest/gtest.h>

#include "tests/ir/sample_ops.h"

namespace lumen {
namespace {

TEST(op_def, derives_what_the_struct_says) {
  const OpDef& sum = op_def<sample::SumReduce>();
  EXPECT_EQ(sum.name, "SumReduce");
  EXPECT_EQ(sum.doc, "Sum over `axis`.");
  EXPECT_EQ(sum.arity, 1);
  EXPECT_EQ(name(sum.family), "reduce");
  ASSERT_EQ(sum.fields.size(), 1u);
  EXPECT_EQ(sum.fields[0].name, "axis");
  EXPECT_EQ(sum.fields[0].type->name, "int");
  EXPECT_EQ(sum.apply, nullptr);
  EXPECT_NE(sum.eval, nullptr);
  EXPECT_TRUE(op_def<sample::Add>().is_elementwise());
  EXPECT_EQ(op_def<sample::Add>().eval, nullptr);
  EXPECT_EQ(op_def<Input>().apply, nullptr);
  EXPECT_EQ(op_def<Input>().eval, nullptr);
  EXPECT_EQ(name(OpFamily::custom), "custom");
  EXPECT_EQ(&op_def<sample::Add>(), &op_def<sample::Add>());
}

TEST(op_def, names_every_field_type) {
  std::vector<std::string> types;
  for (const FieldInfo& field : op_def<sample::Fields>().fields) types.emplace_back(field.type->name);
  for (const FieldInfo& field : op_def<sample::Iota>().fields) types.emplace_back(field.type->name);
  for (const FieldInfo& field : op_def<sample::Loop>().fields) types.emplace_back(field.type->name);
  types.emplace_back(op_def<sample::Look>().fields[0].type->name);
  EXPECT_EQ(types, (std::vector<std::string>{"float", "bool", "scalar", "name", "mode", "shape", "expr", "dtype",
                                             "expr", "body", "view"}));
}

TEST(op_def, compares_and_hashes_fields) {
  const OpDef& def = op_def<sample::Fields>();
  const sample::Fields base;
  const auto differs = [&](sample::Fields other) {
    EXPECT_TRUE(def.equal(&other, &other));
    return !def.equal(&base, &other) && def.hash(&base) != def.hash(&other);
  };
  EXPECT_FALSE(differs(sample::Fields{}));
  EXPECT_TRUE(differs({.rate = -0.5}));
  EXPECT_TRUE(differs({.flag = true}));
  EXPECT_TRUE(differs({.scalar = Scalar::of(i32, 0)}));
  EXPECT_TRUE(differs({.label = "x"}));
  EXPECT_TRUE(differs({.mode = sample::Mode::backward}));
  const sample::Fields zero{.rate = 0.0}, minus_zero{.rate = -0.0};
  EXPECT_FALSE(def.equal(&zero, &minus_zero));
}

TEST(op_def, the_hash_does_not_change_between_processes) {
  const sample::SumReduce sum{.axis = 1};
  // Recomputed by hand from hash.h: it keys files on disk.
  EXPECT_EQ(op_def<sample::SumReduce>().hash(&sum), Hasher().add("SumReduce").add(int64_t{1}).value());
}

TEST(op_def, applies) {
  const Lane a[] = {{.f = 1}, {.f = 2}}, b[] = {{.f = 10}, {.f = 20}};
  Lane out[] = {{.f = -1}, {.f = -1}};
  const Lane* in[] = {a, b};
  const DType types[] = {f32, f32};
  std::string problem;
  const sample::Add add;
  op_def<sample::Add>().apply(
      &add, ApplyArgs{.in_dtypes = types, .in = in, .out_dtype = f32, .out = out, .count = 2, .error = &problem});
  EXPECT_EQ(out[0].f, 11);
  EXPECT_EQ(out[1].f, 22);
}

TEST(op_table, finds_by_name) {
  const OpTable table = sample::ops();
  EXPECT_EQ(table.find("Add"), &op_def<sample::Add>());
  EXPECT_EQ(table.find("add"), nullptr);
  EXPECT_EQ(table.ops().size(), 7u);
}

TEST(op_table_death, refuses_a_name_twice) {
  OpTable table = sample::ops();
  EXPECT_DEATH(table.add(op_def<sample::Add>()), "two ops have the name Add");
}

}  // namespace
}  // namespace lumen
