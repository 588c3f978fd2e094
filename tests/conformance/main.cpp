// conformance: runs the cases of tests/conformance/generate.py and compares with PyTorch's results.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "lumen/base/progress.h"
#include "tests/conformance/run_case.h"

namespace lumen::conformance {

namespace {

constexpr std::string_view kHelp =
    "usage: conformance FOLDER [--only FUNCTION] [--all] [--worst] [--part K/N]\n"
    "\n"
    "Runs the cases that tests/conformance/generate.py wrote to FOLDER; exits with 1 when one fails.\n"
    "\n"
    "  --only FUNCTION  only the cases of this function\n"
    "  --all            show every failure, not only the first three of a function\n"
    "  --part K/N       only part K (from 0) of N: several processes can share the work\n"
    "  --worst          list the largest error of each function and dtype, in units of its tolerance\n"
    "\n"
    "LUMEN_BACKEND and LUMEN_FUSION say on what.\n";

constexpr size_t kBatch = 400;  // cases that are compiled together

struct Options {
  std::string folder;
  std::string only;
  bool all = false;
  bool worst = false;
  size_t part = 0, parts = 1;
};

struct Tally {
  int64_t passed = 0;
  int64_t failed = 0;
  std::map<std::string, int64_t> failures;                      // by function
  std::map<std::string, std::pair<double, std::string>> worst;  // by function and dtype: ratio and case
};

void count(const CaseRun& run, const Comparison& result, const Options& options, Tally& tally) {
  const Case& test = *run.test;
  const std::string what = test.what + (run.symbolic ? ", symbolic" : "");
  if (result.passed) {
    ++tally.passed;
  } else {
    ++tally.failed;
    if (++tally.failures[test.function] <= 3 || options.all) {
      fmt::print("FAILED {}: {} {}\n  {}\n", test.function, what, test.args.dump(), result.problem);
    }
  }
  if (!options.worst || test.expected.empty() || result.ratio == 0) return;
  auto& worst = tally.worst[fmt::format("{} {}", test.function, name(test.expected[0].tensor.dtype))];
  if (result.ratio > worst.first) worst = {result.ratio, what};
}

int report(const Tally& tally) {
  for (const auto& [key, worst] : tally.worst) fmt::print("{:10.3f} {} ({})\n", worst.first, key, worst.second);
  for (const auto& [function, count] : tally.failures) fmt::print("failed {:4} {}\n", count, function);
  fmt::print("conformance: {} passed, {} failed\n", tally.passed, tally.failed);
  if (tally.failed > 0 || tally.passed == 0) return 1;
  fmt::print("conformance: {} cases passed\n", tally.passed);
  return 0;
}

int run(const Options& options) {
  const CaseFile file = CaseFile::open(options.folder).value();
  CompileOptions compile_options = CompileOptions::from_flags();
  compile_options.c_flags = {"-O1", "-w"};
  compile_options.measure = false;
  Tally tally;
  Progress progress("conformance", file.size());
  std::vector<Case> tests;
  const auto run_batch = [&] {
    std::vector<CaseRun> runs;
    for (const Case& test : tests) {
      runs.push_back({&test, false});
      if (test.symbolic) runs.push_back({&test, true});
    }
    const std::vector<Comparison> results = run_cases(runs, compile_options);
    for (size_t k = 0; k < runs.size(); ++k) count(runs[k], results[k], options, tally);
    tests.clear();
  };
  for (size_t k = 0; k < file.size(); ++k) {
    Case test = file.read(k).value();
    if (compile_options.backend == BackendKind::cuda) {
      for (ExpectedTensor& expected : test.expected) expected.atol += expected.gpu_atol;
    }
    const bool wanted = options.only.empty() || test.function == options.only;
    if (wanted && k % options.parts == options.part) tests.push_back(std::move(test));
    if (tests.size() == kBatch) run_batch();
    progress.advance();
  }
  run_batch();
  return report(tally);
}

int main_with(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument == "--all") {
      options.all = true;
    } else if (argument == "--worst") {
      options.worst = true;
    } else if (argument == "--only" && k + 1 < argc) {
      options.only = argv[++k];
    } else if (argument == "--part" && k + 1 < argc) {
      if (std::sscanf(argv[++k], "%zu/%zu", &options.part, &options.parts) != 2 || options.part >= options.parts) {
        fmt::print(stderr, "conformance: --part {}: not K/N with K below N\n", argv[k]);
        return 1;
      }
    } else if (argument == "--help") {
      fmt::print("{}", kHelp);
      return 0;
    } else if (argument.starts_with("-") || !options.folder.empty()) {
      fmt::print(stderr, "conformance: unknown argument {}\n{}", argument, kHelp);
      return 1;
    } else {
      options.folder = argument;
    }
  }
  if (options.folder.empty()) {
    fmt::print(stderr, "conformance: the folder is missing\n{}", kHelp);
    return 1;
  }
  return run(options);
}

}  // namespace

}  // namespace lumen::conformance

int main(int argc, char** argv) try {
  return lumen::conformance::main_with(argc, argv);
} catch (const std::exception& problem) {
  fmt::print(stderr, "conformance: {}\n", problem.what());
  return 1;
}
