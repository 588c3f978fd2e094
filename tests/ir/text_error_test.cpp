#include <gtest/gtest.h>

#include "tests/ir/sample_ops.h"

namespace lumen {
namespace {

// What parsing says; the header and an input are put before `text`, so that its first line is line 3.
std::string said_of(const std::string& text) {
  const std::string header = "lumen 1\n%x = Input() :name \"x\" :shape [2,3]\n";
  const auto read = parse(header + text, sample::ops(), "t");
  return read.ok() ? "no error" : read.diag().str();
}
std::string said_of_all(const std::string& text) {
  const auto read = parse(text, sample::ops(), "t");
  return read.ok() ? "no error" : read.diag().str();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct Case {
  const char* text;
  const char* message;  // with line and column
};

TEST(text_error, has_the_place_and_the_line) {
  EXPECT_EQ(said_of("%1 = Add(%x, %x)\n%2 = SumReduce(%1) :axis 3\n"),
            "t:4:6: [SumReduce] axis 3 out of range for f32[2,3]\n"
            "  note: %2 = SumReduce(%1) :axis 3\n"
            "  note:      ^");
  EXPECT_EQ(said_of_all("lumen 1\n\t%0 = Ad()"),
            "t:2:7: unknown op `Ad`; did you mean `Add`?\n"
            "  note:  %0 = Ad()\n"
            "  note:       ^");
}

TEST(text_error, shows_part_of_a_long_line) {
  const std::string dots(300, ' ');
  const auto read = parse("lumen 1\n" + dots + "!" + dots, sample::ops());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.diag().where.column, 301);
  EXPECT_EQ(read.diag().notes[0], std::string(50, ' ') + "!" + std::string(99, ' '));
  EXPECT_EQ(read.diag().notes[1], std::string(50, ' ') + "^");
}

TEST(text_error, says_what_was_expected) {
  const Case cases[] = {
      // statements
      {"foo", "3:1: expected `dim`, `output` or `%`, got `foo`"},
      {"}", "3:1: expected `dim`, `output` or `%`, got `}`"},
      {"\x01", "3:1: expected `dim`, `output` or `%`, got the byte 0x01"},
      {"%", "3:2: expected the name of a node, got the end of the text"},
      {"%x = Add(%x, %x)", "3:1: %x is defined twice"},
      {"%1 Add", "3:4: expected `=`, got `Add`"},
      {"%1 = (", "3:6: expected the name of an op, got `(`"},
      {"%1 = Quux()", "3:6: unknown op `Quux`"},
      {"%1 = add(%x, %x)", "3:6: unknown op `add`; did you mean `Add`?"},
      {"%1 = Add %x", "3:10: expected `(`, got `%`"},
      {"%1 = Add(%x %x)", "3:13: expected `,`, got `%`"},
      {"%1 = Add(x)", "3:10: expected `%`, got `x`"},
      {"%1 = Add(%7, %x)", "3:10: %7 is not defined above"},
      {"%1 = Add(%1, %x)", "3:10: %1 is not defined above"},
      {"%1 = Add(%x)", "3:6: [Add] takes 2 operands, got 1"},
      {"%1 = Input() :name \"x\"", "3:6: [Input] the name \"x\" is taken"},
      {"%1 = Input()", "3:6: [Input] the name is empty"},
      // fields
      {"%1 = SumReduce(%x) :", "3:21: expected the name of a field, got the end of the text"},
      {"%1 = SumReduce(%x) :axes 1", "3:20: SumReduce has no field `axes`; did you mean `axis`?"},
      {"%1 = Add(%x, %x) :axis 1", "3:18: Add has no field `axis`"},
      {"%1 = SumReduce(%x) :axis 1 :axis 1", "3:28: field `axis` is given twice"},
      {"%1 = SumReduce(%x) :axis one", "3:26: expected an integer, got `one`"},
      {"%1 = SumReduce(%x) :axis 1.5", "3:26: expected an integer, got `1.5`"},
      {"%1 = SumReduce(%x) :axis 99999999999999999999", "3:26: 99999999999999999999 is out of range for an integer"},
      {"%1 = Fields() :rate 1e999", "3:21: 1e999 is out of range for a number"},
      {"%1 = Fields() :rate abc", "3:21: expected a number, got `abc`"},
      {"%1 = Fields() :flag 1", "3:21: expected true or false, got `1`"},
      {"%1 = Fields() :mode forwards", "3:21: unknown mode `forwards`; did you mean `forward`?"},
      {"%1 = Fields() :mode \"forward\"", "3:21: expected a mode, got `\"`"},
      {"%1 = Fields() :label x", "3:22: expected a name in double quotes, got `x`"},
      {"%1 = Fields() :label \"x", "3:22: the string does not end on its line"},
      {"%1 = Fields() :label \"\\q\"", "3:23: an escape is one of \\\" \\\\ \\n \\r \\t \\xNN"},
      {"%1 = Fields() :label \"\\x1\"", "3:23: an escape is one of \\\" \\\\ \\n \\r \\t \\xNN"},
      {"%1 = Fields() :label \"\\", "3:23: an escape is one of \\\" \\\\ \\n \\r \\t \\xNN"},
      {"%1 = Fields() :scalar f33(0)", "3:23: unknown dtype `f33`"},
      {"%1 = Fields() :scalar f32 0", "3:27: expected `(`, got `0`"},
      {"%1 = Fields() :scalar f32(0", "3:28: expected `)`, got the end of the text"},
      {"%1 = Fields() :scalar i8(128)", "3:23: i8(128) is out of range"},
      {"%1 = Fields() :scalar u8(-1)", "3:23: u8(-1) is out of range"},
      {"%1 = Fields() :scalar u64(-1)", "3:27: expected an unsigned integer, got `-`"},
      {"%1 = Fields() :scalar f16(1e6)", "3:23: f16(1e6) is out of range"},
      {"%1 = Fields() :scalar f4e2m1(nan)", "3:23: f4e2m1(nan) is out of range"},
      {"%1 = Fields() :scalar bool(1)", "3:28: expected true or false, got `1`"},
      {"%1 = Fields() :scalar f32(infx)", "3:27: expected a number, got `infx`"},
      // shapes, views, expressions
      {"%1 = Iota() :shape 4", "3:20: expected `[`, got `4`"},
      {"%1 = Iota() :shape [4", "3:22: expected `,`, got the end of the text"},
      {"%1 = Iota() :shape [4 5]", "3:23: expected `,`, got `5`"},
      {"%1 = Iota() :shape [-4]", "3:21: a dim is negative"},
      {"%1 = Iota() :shape [seq]", "3:21: unknown dim seq"},
      {"%1 = Iota() :shape [i0]", "3:21: i0 is not a coordinate here: there are 0 dims"},
      {"%1 = Iota() :shape [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "3:53: a shape has at most 16 dims"},
      {"%1 = Iota() :shape [4611686018427387904,4]",
       "3:6: [Iota] the element count of [4611686018427387904,4] does not fit in 64 bits"},
      {"%1 = Iota() :value i0 :shape [4]", "3:20: i0 is not a coordinate here: there are 0 dims"},
      {"%1 = Iota() :shape [4] :value i1", "3:31: i1 is not a coordinate here: there are 1 dims"},
      {"%1 = Iota() :shape [4] :value i0 +\n1", "3:35: expected an expression"},
      {"%1 = Iota() :shape [4] :value i0 / 0",
       "3:6: [Iota] an expression is undefined: it divides by 0 or does not fit in 64 bits"},
      {"%1 = View(%x) :view [2]", "3:21: expected `{`, got `[`"},
      {"%1 = View(%x) :view {2}", "3:22: expected `[`, got `2`"},
      {"%1 = View(%x) :view {[2] i0", "3:28: expected `}`, got the end of the text"},
      {"%1 = View(%x) :view {[2] i0 if i0 < 1}", "3:38: expected `else`, got `}`"},
      {"%1 = View(%x) :view {[2] i0 if i0 < 1 else 0}", "3:44: unknown dtype `0`"},
      // types
      {"%1 = SumReduce(%x) -> f32[3,2]", "3:23: the type is f32[3], not f32[3,2]"},
      {"%1 = SumReduce(%x) -> f16[3]", "3:23: the type is f32[3], not f16[3]"},
      {"%1 = SumReduce(%x) -> 3", "3:23: unknown dtype `3`"},
      // dims
      {"dim", "3:4: expected the name of a dim, got the end of the text"},
      {"dim s 1", "3:8: expected `..`, got the end of the text"},
      {"dim s 1..", "3:10: expected an integer, got the end of the text"},
      {"dim s 5..1", "3:5: dim `s` has bounds 5..1; 0 <= lo <= hi is needed"},
      {"dim s 1..5 dim s 1..5", "3:16: dim `s` is declared twice"},
      {"dim if 1..5", "3:5: dim name `if` is a word of the text format"},
      {"dim 2s 1..5", "3:5: dim name \"2s\" is not a letter followed by letters, digits, _ or ."},
      // outputs
      {"output y = %x", "3:8: expected the name of an output in double quotes, got `y`"},
      {"output \"y\" %x", "3:12: expected `=`, got `%`"},
      {"output \"y\" = x", "3:14: expected `%`, got `x`"},
      {"output \"y\" = %9", "3:14: %9 is not defined above"},
      {"output \"y\" = %x updates %x", "3:8: [Output] \"y\" updates what is not a state input"},
      {"output \"y\" = %x output \"y\" = %x", "3:24: [Output] the name \"y\" is taken"},
      // bodies
      {"%1 = Loop()", "3:6: [Loop] the body is missing"},
      {"%1 = Loop() :body %x", "3:19: expected `{`, got `%`"},
      {"%1 = Loop() :body {", "3:20: expected `dim`, `output` or `%`, got the end of the text"},
      {"%1 = Loop() :body {}", "3:6: [Loop] the body has no output"},
      {"%1 = Loop() :body { %1 = Add(%x, %x) }", "3:30: %x is not defined above"},
      {"%1 = Loop() :body { dim s 1..2 %1 = Iota() :shape [s] output \"y\" = %1 }",
       "3:6: [Loop] dim `s` is not declared in this graph"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(first_line(said_of(c.text)), "t:" + std::string(c.message)) << c.text;
  }
}

TEST(text_error, needs_its_header) {
  EXPECT_EQ(said_of_all(""), "t:1:1: expected `lumen 1`, got the end of the text\n  note: \n  note: ^");
  EXPECT_EQ(first_line(said_of_all("hello")), "t:1:1: expected `lumen 1`, got `hello`");
  EXPECT_EQ(first_line(said_of_all("lumen 2")), "t:1:7: version 2 is not known; this reads version 1");
  EXPECT_EQ(first_line(said_of_all("lumen x")), "t:1:7: expected an integer, got `x`");
}

TEST(text_error, limits_how_deep_bodies_nest) {
  std::string text = "lumen 1\n";
  for (int k = 0; k < 100000; ++k) text += "%0 = Loop() :body {";
  EXPECT_EQ(first_line(said_of_all(text)), "t:2:323: bodies nest deeper than 16");
}

TEST(text_error, limits_how_deep_expressions_nest) {
  const std::string text = "%1 = Iota() :value " + std::string(100000, '(');
  EXPECT_NE(said_of(text).find("the expression is nested too deeply"), std::string::npos);
}

// Every prefix of a text is either a graph or an error, never a crash.
TEST(text_error, survives_truncation_anywhere) {
  const std::string text =
      "lumen 1\ndim seq 1..8\n%0 = Input() :name \"x\\x01\" :kind state :dtype f32 :shape [seq,64] -> f32[seq,64]\n"
      "%1 = View(%0) :view {[9] i0 - 2 if i0 >= 2 and i0 < 7 else f32(-0.5)} -> f32[9]\n"
      "%2 = Loop(%1) :trip seq :body {\n  %0 = Iota() :shape [4] :value i0*2 % 3 -> i64[4]\n  output \"y\" = %0\n}\n"
      "output \"y\" = %0 updates %0\n";
  ASSERT_TRUE(parse(text, sample::ops()).ok()) << parse(text, sample::ops()).diag().str();
  int errors = 0;
  for (size_t length = 0; length < text.size(); ++length) {
    errors += parse(std::string_view(text).substr(0, length), sample::ops()).ok() ? 0 : 1;
  }
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace lumen
