#include "tools/debug_options.h"

#include <CLI/CLI.hpp>

namespace lumen::tools {

namespace {

void add_graphs(CLI::App& debug, DebugArguments& arguments) {
  const auto text = [&](const char* name, std::string& target, const char* what, const char* help) {
    return debug.add_option(name, target, help)->check(some_text())->type_name(what)->group("Graph");
  };
  text("--case", arguments.name, "NAME", "a graph by name; --list shows them");
  CLI::Option* file = text("--file", arguments.file, "FILE", "a graph in text form; - reads stdin");
  debug.add_flag("--all", arguments.all, "every case")->group("Graph");
  debug.add_flag("--list", arguments.list, "list the cases and stop")->group("Graph");
  debug.add_option("--size", arguments.size, "elements of a case's first input, about")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str()
      ->excludes(file)
      ->type_name("N")
      ->group("Graph");
  const auto without = [&](const char* name, std::vector<std::string>& target, const char* what, const char* help) {
    debug.add_option(name, target, help)->type_name(what)->expected(1)->take_all()->group("What if");
  };
  without("--without-rule", arguments.without_rules, "RULE", "do not run this rule");
  without("--without-fact", arguments.without_facts, "FACT", "state no such facts: type_of, constant_of, …");
  without("--without-kernel", arguments.without_kernels, "KIND", "as if there were no such kernels: map, fold, …");
}

void add_questions(CLI::App& debug, DebugArguments& arguments) {
  const auto text = [&](const char* name, std::string& target, const char* what, const char* help) {
    debug.add_option(name, target, help)->check(some_text())->type_name(what)->group("Questions");
  };
  const auto pair = [&](const char* name, std::vector<std::string>& target, const char* what, const char* help) {
    debug.add_option(name, target, help)->check(some_text())->type_name(what)->expected(2)->group("Questions");
  };
  debug
      .add_flag("--analyze", arguments.analyze, "every value and where it ends up, every kernel, rules that are absent")
      ->group("Questions");
  text("--inspect-op", arguments.inspect_op, "OP:KERNEL",
       "which values of an op end up in this kind of kernel, and why not");
  text("--inspect-var", arguments.inspect_var, "VAR", "all that a value was found equal to, its facts, what reads it");
  pair("--trace-fact,--trace-fn", arguments.trace_fact, "FACT VAR", "how a fact came to be known, or why it did not");
  text("--trace-first-missing-fact", arguments.first_missing_fact, "FACT", "the same for the first value without it");
  debug
      .add_flag("--trace-missing-dtype", arguments.trace_missing_dtype,
                "the same as --trace-first-missing-fact type_of")
      ->group("Questions");
  text("--within-op", arguments.within_op, "OP", "only values of this op, for the two above");
  text("--check", arguments.check, "WHAT",
       "missing-kernel, dtype, shape, facts (both) or all; exits with 1 when something is found");
  pair("--why", arguments.why, "RULE VAR", "what a rule found equal to a value, and how");
  pair("--why-not", arguments.why_not, "RULE VAR", "how far a rule gets at a value before it fails");
}

}  // namespace

void add_debug(CLI::App& app, DebugArguments& arguments, Chosen& chosen) {
  CLI::App* debug = app.add_subcommand("debug", "ask why a graph is rewritten and lowered as it is");
  add_graphs(*debug, arguments);
  add_questions(*debug, arguments);
  debug->add_flag("--print-egraph,--print-egglog", arguments.print_egraph, "every class with its terms")
      ->group("Output");
  const auto file = [&](const char* name, std::string& target, const char* help) {
    debug->add_option(name, target, help)->check(some_text())->type_name("FILE")->group("Output");
  };
  file("--json", arguments.json, "write the answers there, too; - for stdout, and the text goes to stderr");
  file("--dump-egraph,--dump-egglog", arguments.dump_egraph,
       "the e-graph: FILE.html is a page, FILE.json egraph-serialize JSON, - the same on stdout");
  debug->footer(
      "A VAR is a value as `lumen ir fmt` prints it (%3, or 3), or the name of an input or output. Nothing is "
      "compiled\n"
      "or measured. docs/debugging.md walks through a wrong rule and an op that is not lowered.\n"
      "\n"
      "Examples:\n"
      "  lumen debug --case softmax\n"
      "  lumen debug --file examples/transformer_block.hlir --check all\n"
      "  lumen debug --case matmul --inspect-op SumReduce:contract\n"
      "  lumen debug --case softmax --why-not sum-of-products y\n"
      "  lumen debug --case gelu --trace-fact type_of y");
  debug->callback([&] { chosen = [&arguments] { return debug_graph(arguments); }; });
}

void add_reduce(CLI::App& app, ReduceArguments& arguments, Chosen& chosen) {
  CLI::App* reduce = app.add_subcommand("reduce", "make a graph as small as a command allows");
  reduce->add_option("FILE", arguments.file, "the graph; - reads stdin")->type_name("")->required();
  reduce->add_option("--check", arguments.check, "for the shell; exits with 0 while the graph is interesting")
      ->check(some_text())
      ->type_name("CMD")
      ->required();
  reduce->add_flag("--fails", arguments.fails, "the graph is interesting while CMD fails instead");
  reduce->add_option("-o,--output", arguments.output, "where to, after every step (default, and -: stdout, at the end)")
      ->type_name("FILE");
  reduce->add_option("--tries", arguments.tries, "how often CMD is run, at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str()
      ->type_name("N");
  reduce->add_option("--timeout", arguments.timeout, "what takes longer is not interesting")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str()
      ->type_name("S");
  reduce->footer(
      "As with creduce, CMD asks one question about a file: it exits with 0 when the file still shows what you are\n"
      "after. {} in CMD is the file with the candidate; without {} the file is appended. Candidates are valid graphs:\n"
      "outputs are dropped, values become inputs or one of their operands, sizes shrink, until no step is left.\n"
      "\n"
      "Examples:\n"
      "  lumen reduce model.hlir --check 'lumen run {} --compare reference' --fails -o small.hlir\n"
      "  lumen reduce model.hlir --check 'lumen compile {} 2>&1 | grep -q \"does not compute\"' -o small.hlir\n"
      "  lumen reduce model.hlir --check 'lumen debug --check missing-kernel --file' --fails");
  reduce->callback([&] { chosen = [&arguments] { return reduce_file(arguments); }; });
}

}  // namespace lumen::tools
