// The worked example of lumen/egraph/README.md: which order of reductions reads memory best?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "lumen/base/hash.h"
#include "lumen/egraph/core/host.h"
#include "lumen/egraph/extract/extract.h"
#include "lumen/egraph/lang/program.h"
#include "lumen/egraph/report/explain.h"
#include "lumen/egraph/report/why_not.h"

using namespace lumen;
using namespace lumen::egraph;

using Shape = std::vector<int64_t>;

// Rules are text; what they name (Shape, without_axis, SumReduce and its fields) is declared below, in C++.
constexpr std::string_view kRules = R"(
(function shape_of (Tensor) Shape :merge old)
(ruleset facts)
(rule ((= ?t (Input ?name :shape ?s))) ((set (shape_of ?t) ?s)) :ruleset facts)

(for ?R in (SumReduce MaxReduce)
  (rule ((= ?t (?R ?x :axis ?i)) (= ?s (without_axis (shape_of ?x) ?i)))
        ((set (shape_of ?t) ?s)) :ruleset facts)
  ; Two reductions may be swapped. :acc is not mentioned: each node inherits that of the one it stands for.
  (rewrite ?outer:(?R ?inner:(?R ?x :axis ?i) :axis ?j)
           (?R (?R ?x :axis (+ ?j 1) ..?inner) :axis ?i ..?outer)
           :when ((>= ?j ?i)) :name "swap-?R"))
)";

struct Ops {
  SortId tensor;
  TableId input, sum, max, shape_of;
};

Expected<Ops> declare(Program& program) {
  EGraph& graph = program.egraph();
  // A sort whose values are C++ objects, and a function on it. Where that gives nothing, a rule does not fire.
  const auto hash = [](const Shape& s) {
    Hasher hasher;
    for (int64_t size : s) hasher.add(size);
    return hasher.value();
  };
  const auto print = [](const Shape& s) { return fmt::format("{}", s); };
  const SortId shape = graph.add_host_sort<Shape>("Shape", hash, print);
  define_primitive(graph, "without_axis", [](const Shape& s, int64_t axis) -> std::optional<Shape> {
    if (axis < 0 || axis >= static_cast<int64_t>(s.size())) return std::nullopt;
    Shape rest = s;
    rest.erase(rest.begin() + axis);
    return rest;
  });
  // Terms, with named fields after the arguments.
  Ops ops;
  ops.tensor = graph.add_sort("Tensor");
  ops.input = graph.add_table(constructor("Input", {kString}, {{"shape", shape}}, ops.tensor));
  const std::vector<Field> fields = {{"axis", kI64}, {"acc", kString}};
  ops.sum = graph.add_table(constructor("SumReduce", {ops.tensor}, fields, ops.tensor));
  ops.max = graph.add_table(constructor("MaxReduce", {ops.tensor}, fields, ops.tensor));
  LUMEN_TRY(program.run_text(kRules, "rules.egg"));
  ops.shape_of = *program.find_table("shape_of");
  return ops;
}

const Shape& shape_at(const EGraph& graph, const Ops& ops, Value tensor) {
  return from_value<Shape>(graph, *graph.lookup(ops.shape_of, std::span(&tensor, 1)));
}

// From op, fields and children: every element that is read, four times dearer when not along the last axis.
Cost read_cost(const EGraph& graph, const Ops& ops, TableId op, std::span<const Value> row) {
  if (op == ops.input) return 0;
  const Shape& read = shape_at(graph, ops, row[0]);
  Cost elements = 1;
  for (int64_t size : read) elements *= static_cast<Cost>(size);
  const bool last = from_value<int64_t>(graph, row[1]) == static_cast<int64_t>(read.size()) - 1;
  return last ? elements : 4 * elements;
}

Expected<void> example() {
  ProgramOptions options;
  options.run.limits.rows = 100'000;
  options.run.limits.seconds = 1;
  Program program(options);
  EGraph& graph = program.egraph();
  graph.enable_tracing();  // only to explain at the end; it costs time and memory
  const Ops ops = LUMEN_TRY(declare(program));

  // The program to improve, built in memory.
  const Value x = make_term(graph, ops.input, "x", Shape{2, 3, 4});
  const Value y = make_term(graph, ops.sum, make_term(graph, ops.sum, x, 1, "f32"), 1, "f32");
  const Value z = make_term(graph, ops.max, y, 0, "f16");
  LUMEN_TRY(program.run_rules("", 10));
  LUMEN_TRY(program.run_rules("facts", 10));
  for (const std::string& limit : program.limits_hit()) fmt::print("stopped: {}\n", limit);

  // Reading: all SumReduce terms, whose columns are the arguments, the fields and the class.
  graph.for_each_row(ops.sum, [&](std::span<const Value> row, bool) {
    fmt::print("class {}: SumReduce of class {} over axis {}, {}\n", row[3], row[0], from_value<int64_t>(graph, row[1]),
               shape_at(graph, ops, row[3]));
  });

  ExtractOptions extract;
  extract.flatten.roots = {{ops.tensor, z}};
  extract.flatten.base_cost = 0;
  extract.flatten.row_cost = [&](TableId op, std::span<const Value> row) { return read_cost(graph, ops, op, row); };
  const std::optional<Extracted> best = Extractor(graph, extract).best(ops.tensor, z);
  fmt::print("cost {}: {}\n", best->cost, best->text);

  // Why is it the same, and why did another rule not fire?
  const Value inner = make_term(graph, ops.sum, x, 2, "f32");
  const Value outer = traced_id(graph, ops.sum, to_values(graph, inner, 1, "f32"));
  fmt::print("{}", LUMEN_TRY(explain(graph, ops.tensor, y, outer)).text());
  const RuleId swap_max = *program.find_rule("swap-MaxReduce");
  fmt::print("{}", LUMEN_TRY(why_not(graph, swap_max, ops.tensor, z)).text());
  return {};
}

int main() {
  const Expected<void> done = example();
  if (!done.ok()) fmt::print("{}\n", done.diag().str());
  return done.ok() ? 0 : 1;
}
