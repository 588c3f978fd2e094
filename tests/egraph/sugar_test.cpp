#include "lumen/egraph/lang/sugar.h"

#include <gtest/gtest.h>

#include <map>

#include "lumen/egraph/lang/parse.h"

namespace lumen::egraph {
namespace {

// Tables: Mul has two arguments and the fields scale and dtype, and so on.
const Signature* signature_of(std::string_view name) {
  static const std::vector<std::string> kMul = {"scale", "dtype"};
  static const std::vector<std::string> kFma = {"dtype"};
  static const std::vector<std::string> kSum = {"axis", "dtype"};
  static const std::map<std::string, Signature, std::less<>> kTables = {
      {"Mul", {2, kMul}}, {"Fma", {3, kFma}}, {"Sum", {1, kSum}}, {"Add", {2, {}}}, {"Zero", {0, kFma}}};
  const auto found = kTables.find(name);
  return found == kTables.end() ? nullptr : &found->second;
}

// What the only command of the text becomes; new variables show their names.
Expected<std::string> desugar(std::string text) {
  const auto source = make_source("test.egg", std::move(text));
  const auto commands = LUMEN_TRY(parse_program(source));
  EXPECT_EQ(commands.size(), 1u);
  return print_command(LUMEN_TRY(desugar_fields(commands[0], signature_of, source->arena)));
}

std::string desugared(std::string text) {
  const auto result = desugar(std::move(text));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.diag().str());
  return result.ok() ? *result : "";
}

std::string sugar_error_of(std::string text) {
  const auto result = desugar(std::move(text));
  EXPECT_FALSE(result.ok()) << *result;
  return result.ok() ? "" : result.diag().str();
}

TEST(EggSugar, Errors) {
  EXPECT_EQ(sugar_error_of("(check (Sum x :axs 1))"),
            "test.egg:1:15: `Sum` has no field `axs`; its fields: axis, dtype\n"
            "  note: (check (Sum x :axs 1))\n"
            "  note:               ^~~~~~\n"
            "  note: did you mean `axis`?");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"(check (Add x y :axis 1))", "1:17: `Add` has no named fields"},
      {"(check (+ x y :axis 1))", "1:15: `+` has no named fields"},
      {"(check (Sum x :axis 1 :axis 2))", "1:23: the field `axis` of `Sum` is given twice"},
      {"(check (Sum))", "1:8: `Sum` takes 1 arguments and the fields axis, dtype, given 0 arguments"},
      {"(check (Sum x 1))", "`Sum` takes 1 arguments and the fields axis, dtype, given 2 arguments"},
      {"(check (Sum x 1 2 :axis 3))", "given 3 arguments"},
      {"(let y (Sum x :axis 1))", "1:8: the field `dtype` of `Sum` is missing"},
      {"(union a (Sum b ..m))", "1:17: `..m`: no node with fields is bound to `m` in the patterns of this command"},
      {"(check (Sum x ..m) (= m (Mul a b)))", "1:15: `..m`: no node with fields is bound to `m` before this"},
      {"(check m:(Sum x ..m))", "no node with fields is bound to `m` before this"},
      {"(rule (m:(Fma a b c)) ((Sum a ..m)))", "the field `axis` of `Sum` is missing\n"},
      {"(rule (m:(Fma a b c)) ((Sum a ..m)))", "the node bound to `m` has no such field"},
      {"(rule (m:(Fma a b c) m:(Mul a b)) ((Sum a :axis 1 ..m)))", "several nodes bound to `m` have the field `dtype`"},
      {"(rule () (m:(Zero :dtype 1)))", "expected an action"},
      {"(rule () ((union m:(Zero :dtype 1) x)))", "the label `m` stands outside of a pattern"},
      {"(birewrite (Sum x) (Sum x))", "the field `axis` of `Sum` is missing"},
      {"(fail (let y (Zero)))", "the field `dtype` of `Zero` is missing"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(sugar_error_of(text).find(message), std::string::npos) << sugar_error_of(text);
}

TEST(EggSugar, FieldsTakeTheirPlaces) {
  EXPECT_EQ(desugared("(check (= y (Sum x :dtype 2 :axis 1)))"), "(check (= y (Sum x 1 2)))");
  EXPECT_EQ(desugared("(check (= y (Sum x :axis 1)))"), "(check (= y (Sum x 1 @y.dtype)))");
  EXPECT_EQ(desugared("(check (Sum (Mul a b) 1 2))"), "(check (Sum (Mul a b _ _) 1 2))");
  EXPECT_EQ(desugared("(check (Sum x) (Zero))"), "(check (Sum x _ _) (Zero _))");
  EXPECT_EQ(desugared("(let y (Sum (Zero :dtype 3) :dtype 2 :axis (f 1)))"), "(let y (Sum (Zero 3) (f 1) 2))");
  EXPECT_EQ(desugared("(fail (extract (Zero :dtype 2)))"), "(fail (extract (Zero 2)))");
  EXPECT_EQ(desugared("(run 3 :until (= x (Zero)))"), "(run 3 :until (= x (Zero @x.dtype)))");
  EXPECT_EQ(desugared("(set (g (Zero :dtype 1)) 2)"), "(set (g (Zero 1)) 2)");
}

TEST(EggSugar, PlainCommandsStayAsTheyAre) {
  for (const char* text : {"(rule ((= e (Add a b)) (f _)) ((union e (Add b a))))", "(let x (Sum y 1 2))", "(sort S)",
                           "(rewrite (Add a b) (Add b a) :when ((= a b)))"}) {
    EXPECT_EQ(desugared(text), text);
  }
}

TEST(EggSugar, LabelsAndInheritedFields) {
  EXPECT_EQ(desugared("(rule ((= ?e (Add ?m:(Mul ?a ?b :scale 1) ?c))) ((union ?e (Fma ?a ?b ?c ..?m))))"),
            "(rule ((= ?m (Mul ?a ?b 1 @?m.dtype)) (= ?e (Add ?m ?c))) ((union ?e (Fma ?a ?b ?c @?m.dtype))))");
  EXPECT_EQ(desugared("(rule ((= m (Mul a b :dtype (f 1)))) ((Fma a b a ..m)))"),
            "(rule ((= m (Mul a b @m.scale (f 1)))) ((Fma a b a (f 1))))");
  EXPECT_EQ(desugared("(rule ((= m (Mul a b 1 d))) ((Fma a b a ..m)))"),
            "(rule ((= m (Mul a b 1 d))) ((Fma a b a d)))");
  // In a pattern: the same values; what the node does not have matches anything.
  EXPECT_EQ(desugared("(check m:(Fma a b c) (= a (Sum x ..m)))"),
            "(check (= m (Fma a b c @m.dtype)) (= a (Sum x @a.axis @m.dtype)))");
  // A function without fields has none to inherit.
  EXPECT_EQ(desugared("(rewrite ?f:(Add x y) (Add y x ..?f))"), "(rewrite (Add x y) (Add y x))");
  // Labels in labels, and one label for two nodes.
  EXPECT_EQ(desugared("(check p:(Add q:(Zero) q:(Zero)))"),
            "(check (= q (Zero @q.dtype)) (= q (Zero @q(2).dtype)) (= p (Add q q)))");
}

TEST(EggSugar, Rewrites) {
  EXPECT_EQ(desugared("(rewrite m:(Mul a b) (Fma a b a ..m))"),
            "(rewrite (Mul a b @m.scale @m.dtype) (Fma a b a @m.dtype))");
  EXPECT_EQ(desugared("(rewrite m:(Sum a) (Add m m))"),
            "(rewrite (Sum a @m.axis @m.dtype) (Add m m) :when ((= m (Sum a @m.axis @m.dtype))))");
  EXPECT_EQ(desugared("(rewrite (Add m:(Zero) x) m :when ((= x (Zero ..m))))"),
            "(rewrite (Add m x) m :when ((= m (Zero @m.dtype)) (= x (Zero @m.dtype))))");
  EXPECT_EQ(desugared("(birewrite (Sum x :dtype d :axis i) (Add x x) :when ((= d 1)))"),
            "(birewrite (Sum x i d) (Add x x) :when ((= d 1)))");
}

TEST(EggSugar, DeepTrees) {
  std::string text = "(let x ";
  std::string plain = text;
  for (int k = 0; k < 3999; ++k) {
    text += "(Zero :dtype ";
    plain += "(Zero ";
  }
  const std::string end = "1" + std::string(4000, ')');
  EXPECT_EQ(desugared(text + end), desugared(plain + end));
}

}  // namespace
}  // namespace lumen::egraph
