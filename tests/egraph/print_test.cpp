#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "lumen/egraph/lang/parse.h"
#include "tests/egraph/same_tree.h"
#include "tests/support/source_dir.h"

namespace lumen::egraph {
namespace {

std::shared_ptr<Source> printed_source(std::string text) { return make_source("printed.egg", std::move(text)); }

void expect_reads_back(const Command& command) {
  const std::string text = print_command(command);
  const auto source = printed_source(text);
  const auto again = parse_program(source);
  ASSERT_TRUE(again.ok()) << again.diag().str() << "\nin\n" << text;
  ASSERT_EQ(again->size(), 1u) << text;
  EXPECT_TRUE(same(command, (*again)[0])) << text << "\nreads as\n" << print_command((*again)[0]);
  EXPECT_EQ(print_command((*again)[0]), text);
}

// Any tree that the parser can give.
class TreeMaker {
 public:
  explicit TreeMaker(uint32_t seed) : random_(seed) {}

  Command command(int depth = 2) {
    switch (below(26)) {
      case 0:
        return {{}, SortCommand{name(), maybe([&] { return presort(); })}};
      case 1:
        return {{}, DatatypeCommand{{{}, name(), list(3, [&] { return variant(); }), std::nullopt}}};
      case 2:
        return {{}, DatatypesCommand{list(3, [&] { return body(); })}};
      case 3:
        return {{}, FunctionCommand{name(), params(), name(), coin() ? expr() : nullptr, coin(), coin(), number()}};
      case 4:
        return {{}, ConstructorCommand{name(), params(), name(), number(), coin(), coin()}};
      case 5:
        return {{}, RelationCommand{name(), params()}};
      case 6:
        return {{}, RulesetCommand{name()}};
      case 7:
        return {{}, CombinedRulesetCommand{name(), list(3, [&] { return name(); }), {}}};
      case 8:
        return {{}, rule()};
      case 9:
        return {{}, rewrite()};
      case 10:
        return {{}, ActionCommand{action()}};
      case 11:
        return {{}, RunScheduleCommand{list(3, [&] { return schedule(3); })}};
      case 12:
        return {{}, ExtractCommand{expr(), coin() ? expr() : nullptr, coin()}};
      case 13:
        return {{}, CheckCommand{facts()}};
      case 14:
        return {{}, PushCommand{below(5)}};
      case 15:
        return {{}, PopCommand{below(5)}};
      case 16:
        return {{}, PrintStatsCommand{maybe([&] { return string(); })}};
      case 17:
        return {{}, PrintFunctionCommand{name(), number(), maybe([&] { return string(); }), coin()}};
      case 18:
        return {{}, PrintSizeCommand{coin() ? name() : ""}};
      case 19:
        return {{}, InputCommand{name(), string()}};
      case 20:
        return {{}, OutputCommand{string(), list(3, [&] { return expr(); })}};
      case 21:
        return {{}, IncludeCommand{string()}};
      case 22:
        return {{}, SimplifyCommand{schedule(3), expr()}};
      case 23:
        return {{}, ExplainCommand{expr(), expr()}};
      case 24:
        return {{}, WhyNotCommand{string(), expr()}};
      default:
        if (depth == 0) return {{}, CheckCommand{}};
        return {{}, FailCommand{std::make_shared<const Command>(command(depth - 1))}};
    }
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  bool coin() { return below(2) == 0; }
  template <class Make>
  std::vector<std::invoke_result_t<Make>> list(size_t most, Make make) {
    std::vector<std::invoke_result_t<Make>> result(below(most + 1));
    for (auto& item : result) item = make();
    return result;
  }
  template <class Make>
  std::optional<std::decay_t<std::invoke_result_t<Make>>> maybe(Make make) {
    if (coin()) return std::nullopt;
    return make();
  }
  std::optional<uint64_t> number() {
    return maybe([&] { return uint64_t{random_()}; });
  }
  // Not the name of a command, an action or a schedule.
  std::string_view name() {
    static constexpr std::string_view kNames[] = {
        "a",     "?x", "Add", "x:", "..",   "+",  "-", "a\"b\"", "\xC3\xA4", "1e400",
        "e-1:2", "%",  "<=",  "[",  ".5.x", "->", ":", "nan",    "true?",    "a.very-long_name?that=fills&lines"};
    return kNames[below(std::size(kNames))];
  }
  std::string_view string() {
    static constexpr std::string_view kStrings[] = {"x",     "",       "a b",          "(",
                                                    ")\"\\", "\n\t\r", "; no comment", "\xC3\xA4 \x01"};
    return kStrings[below(std::size(kStrings))];
  }
  Literal literal() {
    static constexpr double kReals[] = {0.0, -0.0, 1.0, 0.1, 1e300, -5e-324, 123456789012345680.0, 1e21};
    Literal result;
    result.kind = static_cast<Literal::Kind>(below(5));
    if (result.kind == Literal::Kind::integer) {
      result.integer = static_cast<int64_t>((uint64_t{random_()} << 32) | random_()) >> below(64);
    } else if (result.kind == Literal::Kind::real) {
      const size_t k = below(std::size(kReals) + 3);
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      result.real = k < std::size(kReals) ? kReals[k] : k == 8 ? kInfinity : k == 9 ? -kInfinity : std::nan("");
    } else if (result.kind == Literal::Kind::boolean) {
      result.boolean = coin();
    } else if (result.kind == Literal::Kind::string) {
      result.string = string();
    }
    return result;
  }
  const Expr* variable() {
    Expr* result = arena_.make<Expr>();
    result->kind = Expr::Kind::variable;
    result->name = name();
    return result;
  }
  const Expr* expr(int depth = 4) {
    if (depth == 0 || below(3) == 0) {
      Expr* result = arena_.make<Expr>();
      result->kind = coin() ? Expr::Kind::literal : Expr::Kind::variable;
      if (result->kind == Expr::Kind::literal) result->literal = literal();
      if (result->kind == Expr::Kind::variable) result->name = below(5) == 0 ? "@_1" : name();
      return result;
    }
    return call(depth, below(4) == 0);
  }
  const Expr* call(int depth, bool label) {
    Expr* result = arena_.make<Expr>();
    result->kind = Expr::Kind::call;
    result->name = name();
    if (label) result->label = name();
    const auto args = list(3, [&] { return expr(depth - 1); });
    result->args = arena_.copy(std::span<const Expr* const>(args));
    const auto fields = list(below(3), [&] {
      return coin() ? FieldArg{{}, "axis", expr(depth - 1)} : FieldArg{{}, {}, variable()};
    });
    result->fields = arena_.copy(std::span<const FieldArg>(fields));
    return result;
  }
  Fact fact() {
    if (coin()) return {{}, true, expr(), expr()};
    return {{}, false, call(4, coin()), nullptr};
  }
  std::vector<Fact> facts() {
    return list(4, [&] { return fact(); });
  }
  ActionNode action() {
    switch (below(6)) {
      case 0:
        return {{}, LetAction{name(), expr()}};
      case 1:
        return {{}, SetAction{call(2, false), expr()}};
      case 2:
        return {{}, UnionAction{expr(), expr()}};
      case 3:
        return {{}, ChangeAction{coin(), call(2, false)}};
      case 4:
        return {{}, PanicAction{string()}};
      default:
        return {{}, ExprAction{call(3, false)}};
    }
  }
  Schedule schedule(int depth) {
    const auto body = [&] { return list(2, [&] { return schedule(depth - 1); }); };
    switch (depth == 0 ? below(2) : below(5)) {
      case 0:
        return {{}, RunNode{coin() ? name() : "", facts(), coin() ? name() : ""}};
      case 1:
        return {{}, SchedulerNode{name(), "back-off", number(), number()}};
      case 2:
        return {{}, RepeatNode{below(9), body()}};
      case 3:
        return {{}, SaturateNode{body()}};
      default:
        return {{}, SeqNode{body()}};
    }
  }
  Params params() {
    Params result;
    result.sorts = list(4, [&] { return name(); });
    static constexpr std::string_view kFields[] = {"axis", "keep", "x", "3"};
    result.names.assign(kFields, kFields + below(result.sorts.size() + 1));
    return result;
  }
  Presort presort() {
    return {name(), list(3, [&] { return expr(1); })};
  }
  Variant variant() { return {{}, name(), params(), number(), coin()}; }
  DatatypeBody body() {
    if (coin()) return {{}, name(), {}, presort()};
    return {{}, name(), list(3, [&] { return variant(); }), std::nullopt};
  }
  RuleCommand rule() {
    const bool naive = coin();
    return {facts(), list(4, [&] { return action(); }), coin() ? name() : "", string(), naive, !naive && coin(), coin(),
            coin()};
  }
  RewriteCommand rewrite() {
    const bool both_ways = coin();
    return {expr(), expr(), facts(), coin() ? name() : "", string(), !both_ways && coin(), both_ways};
  }

  std::mt19937 random_;
  Arena arena_;
};

TEST(EggPrint, WhatIsPrintedReadsBackToTheSameTree) {
  for (uint32_t seed = 0; seed < 5000; ++seed) {
    TreeMaker maker(seed);
    expect_reads_back(maker.command());
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(EggPrint, TheProgramsReadBack) {
  const std::filesystem::path folder = tests::source_dir() / "tests/egraph/programs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".egg") continue;
    std::ifstream file(entry.path());
    const auto source = printed_source(std::string(std::istreambuf_iterator<char>(file), {}));
    const auto commands = parse_program(source);
    if (!commands.ok()) continue;  // a program may show an error
    for (const Command& command : *commands) expect_reads_back(command);
    if (HasFailure()) FAIL() << entry.path();
  }
}

TEST(EggPrint, LongCommandsAreBroken) {
  const auto source = printed_source(
      "(rule ((= ?lhs (Add (Mul ?some_long_name ?another_long_name) ?c:(Mul ?a ?other :axis 3))) (is-not-zero ?a)) "
      "((union ?lhs (Mul ?some_long_name (Add ?another_long_name ?other))) (let y 1)) :ruleset arithmetic :name "
      "\"long\")"
      "(let x (Mul 1 2))");
  const auto commands = parse_program(source);
  ASSERT_TRUE(commands.ok());
  EXPECT_EQ(print_command((*commands)[0]),
            "(rule\n"
            "  ((= ?lhs (Add (Mul ?some_long_name ?another_long_name) ?c:(Mul ?a ?other :axis 3)))\n"
            "   (is-not-zero ?a))\n"
            "  ((union ?lhs (Mul ?some_long_name (Add ?another_long_name ?other))) (let y 1))\n"
            "  :ruleset arithmetic\n"
            "  :name \"long\")");
  EXPECT_EQ(print_command((*commands)[1]), "(let x (Mul 1 2))");
}

TEST(EggPrint, LinesStayNarrow) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    TreeMaker maker(seed);
    const std::string text = print_command(maker.command());
    size_t longest = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      longest = std::max(longest, end - at);
      at = end + 1;
    }
    EXPECT_LE(longest, 120u) << text;  // deep nests and their closing brackets may pass 100
  }
}

TEST(EggPrint, DeepTreesStaySmall) {
  std::string text = "(let a ";
  for (int k = 1; k < 4000; ++k) text += "(N ";
  const auto source = printed_source(text + "1" + std::string(4000, ')'));
  const auto commands = parse_program(source);
  ASSERT_TRUE(commands.ok());
  EXPECT_LT(print_command((*commands)[0]).size(), 400'000u);
  expect_reads_back((*commands)[0]);
}

}  // namespace
}  // namespace lumen::egraph
