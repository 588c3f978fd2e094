// The `lumen` program: declares the options and hands over to the subcommand.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "lumen/backend/cpu/work_dir.h"
#include "lumen/backend/cuda/device_worker.h"
#include "lumen/base/flags.h"
#include "lumen/base/nearest.h"
#include "tools/commands.h"
#include "tools/debug_options.h"
#include "tools/files.h"
#include "tools/fusion_options.h"
#include "tools/language_options.h"

namespace lumen::tools {

namespace {

constexpr const char* kVersion = "lumen " LUMEN_VERSION;

void add_ir(CLI::App& app, IrOptions& options, Chosen& chosen) {
  CLI::App* ir = app.add_subcommand("ir", "check, format or draw a graph in text form");
  ir->require_subcommand(1);
  ir->footer(
      "Examples:\n"
      "  lumen ir check examples/softmax.hlir\n"
      "  lumen ir fmt -i examples/softmax.hlir\n"
      "  lumen ir dot examples/softmax.hlir | dot -Tsvg > softmax.svg");
  const auto add = [&](const char* name, const char* help, Expected<int> (*command)(const IrOptions&)) {
    CLI::App* sub = ir->add_subcommand(name, help);
    sub->add_option("FILE", options.file, "the graph; - reads stdin")->required();
    sub->callback([&chosen, &options, command] { chosen = [&options, command] { return command(options); }; });
    return sub;
  };
  add("check", "verify the graph and print one line about it", check_ir);
  add("fmt", "print the canonical text", format_ir)
      ->add_flag("-i,--in-place", options.in_place, "rewrite the file (atomically) instead of printing");
  add("dot", "print Graphviz source", print_ir_dot);
}

void add_compile(CLI::App& app, CompileArguments& arguments, Chosen& chosen) {
  CLI::App* compile = app.add_subcommand("compile", "search for the fastest program of a graph, and show or save it");
  compile->add_option("FILE", arguments.file, "the graph; - reads stdin")->type_name("")->required();
  compile->add_option("-o,--output", arguments.output, "write the program, for `lumen run`")->type_name("FILE.lumen");
  add_fusion(*compile, arguments.fusion);
  compile->add_option("--dim", arguments.dims, "NAME=N: a symbolic dim, for the times shown (default: about 512)")
      ->type_name("NAME=N");
  compile->add_option("--bucket", arguments.buckets, "DIM=N,LO-HI,…: a program for each range of a symbolic dim")
      ->type_name("RANGES");
  compile->add_flag("--no-rewrite", arguments.no_rewrite, "compile the graph as it is written");
  compile->add_flag("--no-measure", arguments.no_measure, "estimate times instead of measuring");
  compile->add_flag("--no-verify", arguments.no_verify, "do not compare the result with the reference");
  compile->add_flag("--rules", arguments.rules, "list what each rule did");
  compile->add_flag("--unfused", arguments.unfused, "time it beside the program in which every op is a kernel");
  compile->footer(
      "Measured times and compiled kernels are kept in LUMEN_CACHE; the second compile of a graph measures nothing.\n"
      "\n"
      "Examples:\n"
      "  lumen compile examples/transformer_block.hlir --unfused\n"
      "  lumen compile examples/softmax.hlir --dim rows=4096 -o softmax.lumen\n"
      "  lumen compile examples/softmax.hlir --bucket rows=1,2-64,65-4096 -o softmax.lumen\n"
      "  lumen run softmax.lumen --dim rows=3");
  compile->callback([&] { chosen = [&arguments] { return compile_graph(arguments); }; });
}

void add_run(CLI::App& app, RunOptions& options, Chosen& chosen) {
  CLI::App* run = app.add_subcommand("run", "run a graph or a program and show, write or compare its outputs");
  run->add_option("FILE", options.file, "a graph, or a program of `lumen compile`; - reads a graph from stdin")
      ->required();
  run->add_option("--backend", options.backend, "cpu, cuda, cuda:N or reference (default: LUMEN_BACKEND)")
      ->type_name("NAME");
  add_fusion(*run, options.fusion);
  run->add_option("--compare", options.compare, "a backend to compare with; exits with 1 on a mismatch")
      ->type_name("NAME");
  add_trace(*run, options.trace);
  run->add_option("--dim", options.dims,
                  "NAME=N: a symbolic dim (default: from the input files, else 7 or the nearest)");
  run->add_option("--input", options.inputs, "NAME=FILE.npy: an input from a file");
  run->add_option("--inputs", options.inputs_file, "FILE.safetensors: inputs by name from a file");
  run->add_option("--range", options.ranges, "NAME=LO..HI: random values of an input lie there, both ends included");
  run->add_option("--seed", options.seed, "seed of the random inputs (default: LUMEN_SEED, else 0)");
  run->add_option("--output", options.outputs, "NAME=FILE.npy: write an output instead of showing it");
  run->add_option("--outputs", options.outputs_file, "FILE.safetensors: write every output");
  run->add_option(
      "--diff", options.diff,
      "FILE.safetensors, NAME=FILE.npy or (for a single output) FILE.npy: compare; exits with 1 on a mismatch");
  run->add_option("--atol", options.atol, "absolute part of the tolerance")->capture_default_str();
  run->add_option("--rtol", options.rtol, "relative part of the tolerance")->capture_default_str();
  run->footer(
      "Inputs without a file are random: floats roughly normal and never 0, integers 0 or 1, state starts at 0.\n"
      "A value passes --diff when |got - expected| <= atol + rtol*|expected|.\n"
      "\n"
      "Examples:\n"
      "  lumen run examples/softmax.hlir --dim rows=3\n"
      "  lumen run model.hlir --inputs weights.safetensors --input tokens=tokens.npy --output logits=logits.npy\n"
      "  lumen run gather.hlir --range indices=0..99 --seed 5\n"
      "  lumen run model.hlir --inputs in.safetensors --diff expected.safetensors --rtol 1e-4\n"
      "  lumen run model.hlir --compare reference --trace trace.json");
  run->callback([&] { chosen = [&options] { return run_graph(options); }; });
}

void add_egg_output(CLI::App& egg, EggOptions& options) {
  egg.add_flag("--costs", options.costs, "`; cost N` after every extracted term")->group("Output");
  egg.add_flag("--time", options.time, "a line on stderr with time, memory and size")->group("Output");
  const auto file = [&](const char* name, std::string& target, const char* help) {
    egg.add_option(name, target, help)->type_name("FILE")->group("Output");
  };
  file("--report", options.report, "what every iteration and every rule did, as JSON; - for stdout");
  file("--json", options.json, "the e-graph at the end, in the egraph-serialize layout; - for stdout");
  file("--html", options.html, "the e-graph at the end and the rules, as a page for a browser; - for stdout");
  egg.add_flag("--format", options.format, "print the program formatted and stop")->group("Output");
  egg.add_flag("--desugar", options.desugar, "print it as plain egglog, without named fields and `for`, and stop")
      ->group("Output");
}

void add_egg(CLI::App& app, EggOptions& options, Chosen& chosen) {
  CLI::App* egg = app.add_subcommand("egg", "run rule programs: equality saturation in the egglog language");
  egg->add_option("FILE", options.files, "programs, each run on its own; - reads stdin")->type_name("")->required();
  egg->add_option("--threads", options.threads, "threads that match rules; results do not depend on it (default: 1)")
      ->check(CLI::Range(1, 256))
      ->type_name("N");
  egg->add_option("--fact-directory", options.fact_directory, "where (input ...) and (output ...) find files")
      ->type_name("DIR");
  egg->add_flag("--explain", options.explain,
                "record why terms are equal, for (explain a b); on by itself for a FILE with such a command");
  egg->add_flag("--no-seminaive", options.no_seminaive, "match everything at every iteration, not only what is new");
  egg->add_option("--shuffle", options.shuffle, "run the rules of a ruleset in another order")->type_name("SEED");
  add_egg_output(*egg, options);
  egg->add_option("--max-rows", options.max_rows, "stop running rules at this many rows")
      ->type_name("N")
      ->group("Limits");
  egg->add_option("--max-memory", options.max_memory, "stop running rules when tables and indexes hold more")
      ->type_name("MB")
      ->group("Limits");
  egg->add_option("--max-seconds", options.max_seconds, "stop a command that runs rules after this time")
      ->type_name("S")
      ->group("Limits");
  egg->footer(
      "Exits with 1 when a command fails (a check that does not hold, a type error, ...) and with 3 when a limit\n"
      "stopped the rules: the commands after it still ran. The tutorial is docs/egraph.md.\n"
      "\n"
      "Examples:\n"
      "  lumen egg examples/math.egg\n"
      "  lumen egg examples/math.egg --html math.html\n"
      "  lumen egg rules.egg --max-rows 1000000 --max-seconds 10 --time --report report.json\n"
      "  echo '(datatype E (Num i64)) (extract (Num 1))' | lumen egg -");
  egg->callback([&] { chosen = [&options] { return run_egg(options); }; });
}

void add_tune(CLI::App& app, TuneOptions& options, Chosen& chosen) {
  CLI::App* tune = app.add_subcommand("tune", "show, export, import or clear the measured times of kernels");
  tune->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, Expected<int> (*command)(const TuneOptions&)) {
    CLI::App* sub = tune->add_subcommand(name, help);
    sub->add_option("--db", options.db, "the database (default: the one in the folder LUMEN_CACHE)")->type_name("FILE");
    sub->callback([&chosen, &options, command] { chosen = [&options, command] { return command(options); }; });
    return sub;
  };
  const auto add_choice = [&](CLI::App* sub) {
    sub->add_option("--kernel", options.kernel, "only kernels whose text holds this")->type_name("PART");
    sub->add_option("--hardware", options.hardware, "only this hardware")->type_name("NAME");
    return sub;
  };
  add_choice(add("show", "a table of what was measured, the fastest first", show_tuning))
      ->add_flag("--json", options.json, "as `export` prints it");
  add_choice(add("export", "write entries as JSON", export_tuning))
      ->add_option("FILE", options.file, "where to (default: stdout)")
      ->type_name("");
  CLI::App* import = add("import", "take in what `export` wrote, all or nothing", import_tuning);
  import->add_option("FILE", options.file, "what to take in; - reads stdin")->type_name("")->required();
  import->add_flag("--replace", options.replace, "over entries that are newer than those of the file too");
  add_choice(add("clear", "remove entries", clear_tuning))->add_flag("--all", options.all, "every entry");
  tune->footer(
      "A time is the median of its trials, the spread their median absolute deviation. `import` keeps what is newer.\n"
      "\n"
      "Examples:\n"
      "  lumen tune show --kernel matmul\n"
      "  lumen tune export times.json --db tuning.db\n"
      "  lumen tune import times.json\n"
      "  lumen tune clear --kernel matmul");
}

void add_inspect(CLI::App& app, InspectOptions& options, Chosen& chosen) {
  CLI::App* inspect = app.add_subcommand("inspect", "list what a file of weights holds, or show a tensor of it");
  inspect->add_option("PATH", options.path, "a .gguf or .safetensors file, an index of shards, or a folder of these")
      ->type_name("")
      ->required();
  inspect->add_option("--tensor", options.tensor, "show the values of this tensor")->type_name("NAME");
  inspect->add_option("--count", options.count, "how many values; -1: all")
      ->check(CLI::Range(int64_t{-1}, int64_t{1} << 62))
      ->capture_default_str()
      ->type_name("N");
  inspect->add_flag("--json", options.json, "as JSON, with every value of the metadata");
  inspect->footer(
      "Examples:\n"
      "  lumen inspect model.gguf\n"
      "  lumen inspect folder --json\n"
      "  lumen inspect model.gguf --tensor output_norm.weight --count 8");
  inspect->callback([&] { chosen = [&options] { return inspect_weights(options); }; });
}

void add_convert(CLI::App& app, ConvertArguments& arguments, Chosen& chosen) {
  CLI::App* convert = app.add_subcommand("convert", "write weights as another kind of file, or in another type");
  convert->add_option("IN", arguments.in, "weights, as for `inspect`; with --random-weights: a config.json")
      ->type_name("")
      ->required();
  convert->add_option("OUT", arguments.out, "FILE.gguf, FILE.safetensors, or a folder for these and config.json")
      ->type_name("")
      ->required();
  convert->add_option("--type", arguments.type, "f32, f16, bf16, q8_0 or q4_0 (default: floats stay what they are)")
      ->type_name("TYPE");
  convert->add_option("--keep", arguments.keep, "tensors whose new name has a match keep their type; may be repeated")
      ->type_name("REGEX");
  convert->add_flag("--raw", arguments.raw, "tensors alone: names, rows and values stay as they are");
  convert->add_flag("--random-weights", arguments.random_weights, "random weights for the model IN describes");
  convert->add_option("--seed", arguments.seed, "of --random-weights")->capture_default_str()->type_name("N");
  convert->footer(
      "Between .safetensors and .gguf, names, the order of rows and constants change as the two kinds of file have "
      "them,\n"
      "for Llama, Mistral, Qwen2, Qwen3 and Gemma; config.json beside the weights says what they are. In GGUF vectors "
      "are\n"
      "f32, and a matrix whose rows are no whole blocks becomes f16.\n"
      "\n"
      "Examples:\n"
      "  lumen convert folder model.gguf --type q8_0 --keep token_embd\n"
      "  lumen convert model.gguf folder --type bf16\n"
      "  lumen convert a.safetensors a.gguf --raw\n"
      "  lumen convert --random-weights config.json random.gguf --type q4_0");
  convert->callback([&] { chosen = [&arguments] { return convert_files(arguments); }; });
}

void add_tokenize(CLI::App& app, TokenizeOptions& options, Chosen& chosen) {
  CLI::App* tokenize = app.add_subcommand("tokenize", "turn text into token ids, or ids into text");
  tokenize->add_option("--tokenizer", options.tokenizer, "tokenizer.json, a SentencePiece model, or a GGUF file")
      ->type_name("FILE")
      ->required();
  tokenize
      ->add_option("TEXT", options.text, "the text, or with --decode ids with spaces or commas between; - reads stdin")
      ->type_name("")
      ->required();
  tokenize->add_flag("--decode", options.decode, "ids to text");
  tokenize->add_flag("--count", options.count, "print only how many ids there are");
  tokenize->add_flag("--no-special", options.no_special,
                     "add no special tokens and find none in the text; with --decode: show them");
  tokenize->footer(
      "Examples:\n"
      "  lumen tokenize --tokenizer tokenizer.json 'Hello, world'\n"
      "  lumen tokenize --tokenizer tokenizer.model --count - < book.txt\n"
      "  lumen tokenize --tokenizer tokenizer.json --decode '9906 11 1917'");
  tokenize->callback([&] { chosen = [&options] { return tokenize_text(options); }; });
}

// LUMEN_THREADS and LUMEN_CACHE are read once, by flags(), after the options are parsed.
struct BenchEnvironment {
  std::optional<int> threads;
  std::optional<cpu::WorkDir> cache;  // an empty one, for --cold

  void apply(bool cold) {
    if (threads) setenv("LUMEN_THREADS", std::to_string(*threads).c_str(), 1);
    if (!cold) return;
    cache.emplace(cpu::WorkDir::make().value());
    setenv("LUMEN_CACHE", cache->file("cache").c_str(), 1);
  }
};

void add_bench(CLI::App& app, BenchOptions& options, BenchEnvironment& environment, LanguageArguments& language,
               Chosen& chosen) {
  CLI::App* bench = app.add_subcommand("bench", "time single primitives, or the patterns that models are made of");
  bench->require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    CLI::App* sub = bench->add_subcommand(name, help);
    sub->add_option("--only", options.only, "cases whose name (group/size/dtype) has a match")->type_name("REGEX");
    sub->add_option("--dtype", options.dtype, "cases of this dtype")->type_name("NAME");
    sub->add_option("--threads", environment.threads, "threads that kernels use (default: LUMEN_THREADS, else all)")
        ->check(CLI::Range(1, 256))
        ->type_name("N");
    sub->add_option("--device", options.device, "cpu, or cuda, or cuda:1: a GPU, whose patterns are larger")
        ->type_name("NAME");
    sub->add_flag("--quick", options.quick, "a few cases of each group, and fewer trials");
    sub->add_flag("--cold", options.cold, "compile with an empty cache, so that compile times include all tuning");
    sub->add_option("--json", options.json, "write everything there; - for stdout")->type_name("FILE");
    sub->add_option("--html", options.html, "write a page with plots there; - for stdout")->type_name("FILE");
    add_trace(*sub, options.trace);
    add_fusion(*sub, options.fusion);
    sub->add_option("--compare", options.compare, "set the times beside those of a file that --json wrote")
        ->type_name("OLD.json");
    sub->callback([&, name] {
      options.suite = name;
      environment.apply(options.cold);
      chosen = [&options] { return run_bench(options); };
    });
  };
  add("micro", "the primitives, each alone, at 1k to 10M elements");
  add("patterns", "matmul, gemv, convolution, softmax, norms, activations, attention, a transformer block");
  add_llm_bench(*bench, language, chosen);
  CLI::App* serve = bench->add_subcommand("serve", "answer requests on stdin, for bench/compare");
  serve->callback([&chosen] { chosen = serve_bench; });
  serve->group("");  // for a program, not for people
  bench->footer(
      "First the machine's limits are measured: copying at several sizes, multiply-adds, matrix tiles. MBU and MFU "
      "are\n"
      "shares of those. A time is the median of trials that take turns with those of all other cases; its mad is the\n"
      "median absolute deviation. --compare calls a case slower beyond 3 mad and 2 %, and then exits with 1.\n"
      "\n"
      "Examples:\n"
      "  lumen bench micro --quick\n"
      "  lumen bench patterns --only 'softmax|norm' --threads 1\n"
      "  lumen bench patterns --json new.json --compare old.json\n"
      "  lumen bench patterns --only matmul --dtype bf16 --cold\n"
      "  lumen bench llm --model model.gguf --pp 128,512 --tg 64");
}

void add_listings(CLI::App& app, OpsOptions& options, bool& flags_markdown, Chosen& chosen) {
  CLI::App* ops = app.add_subcommand("ops", "list the primitives, or show one of them");
  ops->add_option("NAME", options.name, "a primitive");
  ops->add_flag("--markdown", options.markdown, "as docs/ops.md");
  ops->footer("Examples:\n  lumen ops\n  lumen ops SumReduce");
  ops->callback([&] { chosen = [&options] { return list_ops(options); }; });

  CLI::App* flags = app.add_subcommand("flags", "list the environment variables that Lumen reads");
  flags->add_flag("--markdown", flags_markdown, "as docs/flags.md (the same text)");
  flags->callback([&] { chosen = [] { return list_flags(); }; });

  app.add_subcommand("devices", "list what graphs can be compiled for here")->callback([&] {
    chosen = [] { return list_devices(); };
  });
  CLI::App* worker = app.add_subcommand("device-worker", "try kernels for another process (docs/gpu.md)");
  worker->callback([&] { chosen = cuda::run_device_worker; });
  worker->group("");  // for a program, not for people
}

// CLI11 only says that a subcommand is required: which word was wrong, and what was meant.
std::optional<std::string> unknown_command(const CLI::App& app, int argc, char** argv, int at = 1) {
  std::vector<std::string_view> known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (at < argc && sub->get_name() == argv[at]) return unknown_command(*sub, argc, argv, at + 1);
    known.push_back(sub->get_name());
  }
  if (known.empty() || at >= argc || argv[at][0] == '-') return std::nullopt;
  const std::optional<std::string> guess = nearest(argv[at], known);
  return "unknown command `" + std::string(argv[at]) + "`" + (guess ? "; did you mean `" + *guess + "`?" : "");
}

int fail(const std::string& message) {
  std::fprintf(stderr, "lumen: %s\n", message.c_str());
  return 1;
}

int main_with(int argc, char** argv) {
  CLI::App app("A deep-learning compiler that searches.", "lumen");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  IrOptions ir;
  CompileArguments compile;
  RunOptions run;
  DebugArguments debug;
  ReduceArguments reduce;
  EggOptions egg;
  TuneOptions tune;
  InspectOptions inspect;
  ConvertArguments convert;
  FusionCommandArguments fusion;
  LanguageArguments language;
  TokenizeOptions tokenize;
  BenchOptions bench;
  BenchEnvironment bench_environment;
  OpsOptions ops;
  bool flags_markdown = false;
  Chosen chosen;
  add_ir(app, ir, chosen);
  add_compile(app, compile, chosen);
  add_run(app, run, chosen);
  add_debug(app, debug, chosen);
  add_reduce(app, reduce, chosen);
  add_egg(app, egg, chosen);
  add_tune(app, tune, chosen);
  add_inspect(app, inspect, chosen);
  add_convert(app, convert, chosen);
  add_language_commands(app, language, chosen);
  add_fusion_commands(app, fusion, chosen);
  add_profile(app, language, chosen);
  add_explain(app, language, chosen);
  add_tokenize(app, tokenize, chosen);
  add_bench(app, bench, bench_environment, language, chosen);
  add_listings(app, ops, flags_markdown, chosen);
  if (const std::optional<std::string> unknown = unknown_command(app, argc, argv)) {
    return fail(*unknown + " (see lumen --help)");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& problem) {
    return fail(std::string(problem.what()) + " (see lumen --help)");
  }
  flags();  // a wrong LUMEN_* variable is an error whatever was asked for
  const Expected<int> status = chosen();
  return status.ok() ? *status : fail(status.diag().str());
}

}  // namespace

}  // namespace lumen::tools

int main(int argc, char** argv) {
  using namespace lumen;
  int status = 1;
  try {
    status = tools::main_with(argc, argv);
  } catch (const std::exception& problem) {
    if (std::ferror(stdout) == 0) tools::fail(problem.what());  // else it is said below
  }
  const Expected<void> finished = tools::finish_stdout();
  if (!finished.ok()) tools::fail(finished.diag().str());
  return finished.ok() || status != 0 ? status : 1;
}
