// The subcommands of the `lumen` program. Each gives its exit status, or a Diag that main prints as `lumen: …`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lumen/base/expected.h"
#include "tools/fusion_arguments.h"

namespace lumen::tools {

// A graph in a file, or on stdin when the name is "-".
struct IrOptions {
  std::string file;
  bool in_place = false;  // format: write the file instead of stdout
};
Expected<int> check_ir(const IrOptions& options);
Expected<int> format_ir(const IrOptions& options);
Expected<int> print_ir_dot(const IrOptions& options);

// A graph, compiled for this machine.
struct CompileArguments {
  std::string file;
  std::string output;  // .lumen; empty: none is written
  FusionArguments fusion;
  std::vector<std::string> dims;     // NAME=N, for the times that are shown
  std::vector<std::string> buckets;  // DIM=N,LO-HI
  bool no_rewrite = false;
  bool no_measure = false;
  bool no_verify = false;
  bool rules = false;    // list what each rule did
  bool unfused = false;  // time the program without fusion, too
};
Expected<int> compile_graph(const CompileArguments& arguments);

struct RunOptions {
  std::string file;     // a graph, or a program
  std::string backend;  // empty: LUMEN_BACKEND
  FusionArguments fusion;
  std::string compare;  // a backend to compare with
  std::string trace;    // .json
  // NAME=VALUE arguments, unparsed: run.cpp names what is wrong with one.
  std::vector<std::string> dims;
  std::vector<std::string> ranges;
  std::vector<std::string> inputs;  // NAME=FILE.npy
  std::string inputs_file;          // .safetensors
  std::vector<std::string> outputs;
  std::string outputs_file;
  std::string diff;  // .npy, NAME=FILE.npy or .safetensors
  double atol = 1e-6;
  double rtol = 1e-5;
  std::optional<int64_t> seed;  // default: LUMEN_SEED
};
Expected<int> run_graph(const RunOptions& options);

struct OpsOptions {
  std::string name;  // empty: all of them
  bool markdown = false;
};
Expected<int> list_ops(const OpsOptions& options);

Expected<int> list_flags();
Expected<int> list_devices();

// Rule programs, each run on an e-graph of its own.
struct EggOptions {
  std::vector<std::string> files;  // "-" reads stdin
  int threads = 1;
  bool no_seminaive = false;
  std::optional<uint64_t> shuffle;  // seed
  bool time = false;
  bool costs = false;
  bool explain = false;
  bool format = false;
  bool desugar = false;
  std::string report;  // .json
  std::string json;    // egraph-serialize
  std::string html;
  std::optional<uint64_t> max_rows;
  std::optional<uint64_t> max_memory;  // MB
  std::optional<double> max_seconds;   // of each command that runs rules
  std::string fact_directory;
};
// 3 when a limit was hit.
Expected<int> run_egg(const EggOptions& options);

// What became of a graph in the search, and why.
struct DebugArguments {
  std::string name;  // of a case
  std::string file;
  bool all = false;  // every case
  bool list = false;
  int64_t size = 262144;  // elements of a case's first input
  bool analyze = false;
  std::string inspect_op;               // OP:KERNEL
  std::string inspect_var;              // VAR
  std::vector<std::string> trace_fact;  // FACT VAR
  std::string first_missing_fact;       // FACT
  bool trace_missing_dtype = false;     // the same for type_of
  std::string within_op;
  std::string check;
  std::vector<std::string> why, why_not;  // RULE VAR
  bool print_egraph = false;
  std::string json;
  std::string dump_egraph;  // .html: a page; else JSON
  std::vector<std::string> without_rules, without_facts, without_kernels;
};
// 1 when a check found something.
Expected<int> debug_graph(const DebugArguments& arguments);

// A graph, made as small as a command allows.
struct ReduceArguments {
  std::string file;
  std::string check;   // for the shell; {} is the candidate's file, which is appended where there is none
  std::string output;  // empty: stdout
  bool fails = false;  // interesting is what the command fails for
  size_t tries = 10'000;
  double timeout = 60;  // seconds, of one command
};
Expected<int> reduce_file(const ReduceArguments& arguments);

// The tuning database.
struct TuneOptions {
  std::string db;        // empty: the one in LUMEN_CACHE
  std::string kernel;    // a part of the kernel's text
  std::string hardware;  // a fingerprint
  std::string file;      // to import or to export to; "-" is stdin or stdout
  bool json = false;     // show: as export
  bool replace = false;  // import: over newer entries too
  bool all = false;      // clear: everything
};
Expected<int> show_tuning(const TuneOptions& options);
Expected<int> export_tuning(const TuneOptions& options);
Expected<int> import_tuning(const TuneOptions& options);
Expected<int> clear_tuning(const TuneOptions& options);

// What is in a file (or folder) of weights.
struct InspectOptions {
  std::string path;
  std::string tensor;  // show the values of this one
  int64_t count = 32;  // how many values; -1: all
  bool json = false;
};
Expected<int> inspect_weights(const InspectOptions& options);

// Weights from one kind of file to another.
struct ConvertArguments {
  std::string in;   // weights; with random_weights: config.json
  std::string out;  // .gguf, .safetensors or a folder
  std::string type;
  std::vector<std::string> keep;  // regular expressions
  bool raw = false;
  bool random_weights = false;
  int64_t seed = 0;
};
Expected<int> convert_files(const ConvertArguments& arguments);

// Text to ids and back.
struct TokenizeOptions {
  std::string tokenizer;  // tokenizer.json, a SentencePiece model, or a GGUF file
  std::string text;       // "-" reads stdin
  bool decode = false;    // the text is ids
  bool count = false;     // only how many ids there are
  bool no_special = false;
};
Expected<int> tokenize_text(const TokenizeOptions& options);

// Timings of the benchmark's cases.
struct BenchOptions {
  std::string suite;    // "micro" or "patterns"
  std::string only;     // a regular expression searched in names
  std::string dtype;    // a dtype's name
  std::string json;     // a file to write
  std::string html;     // a page to write
  std::string compare;  // a file that --json wrote before
  std::string trace;    // of compiling, and of one run of each case
  std::string device;   // a GPU; empty for the processor
  FusionArguments fusion;
  bool quick = false;
  bool cold = false;  // compiled with an empty cache
};
// 1 when a case failed or became slower.
Expected<int> run_bench(const BenchOptions& options);
// Answers requests on stdin until it ends (bench/suite/serve.h).
Expected<int> serve_bench();

}  // namespace lumen::tools
