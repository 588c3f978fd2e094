#include "tools/fusion_options.h"

#include <bit>
#include <cstdlib>

#include "tools/language_options.h"

namespace lumen::tools {

namespace {

void add_profile_command(CLI::App& fusion, FusionCommandArguments& arguments, Chosen& chosen) {
  FusionProfileArguments& profile = arguments.profile;
  CLI::App* sub = fusion.add_subcommand("profile", "time patterns fused and unfused over shapes, as a profile");
  sub->add_option("--patterns", profile.patterns, "swiglu, add+rms_norm, … (default: all)")
      ->check(some_text())
      ->type_name("NAME,…");
  sub->add_option("--dtype", profile.dtype, "f32, bf16 or f16")->capture_default_str()->type_name("NAME");
  CLI::Option* shapes =
      sub->add_option("--shapes", profile.shapes, "BATCHxSEQxWIDTH,… (default: prompts, batches and widths of models)")
          ->check(some_text())
          ->type_name("SHAPES");
  CLI::Option* quick = sub->add_flag("--quick", profile.quick, "a few shapes")->excludes(shapes);
  const auto power_of_two = [](const std::string& text) {
    const int64_t tokens = std::strtoll(text.c_str(), nullptr, 10);
    return tokens >= 16 && tokens <= 131072 && std::has_single_bit(static_cast<uint64_t>(tokens))
               ? ""
               : "not a power of two from 16 to 131072";
  };
  sub->add_option("--max-tokens", profile.most_tokens, "of the longest prompt: a power of two, 131072 at most")
      ->check(CLI::Validator(power_of_two, ""))
      ->excludes(shapes)
      ->excludes(quick)
      ->capture_default_str()
      ->type_name("N");
  sub->add_option("--trials", profile.trials, "of each form, of which a time is the median")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str()
      ->type_name("N");
  sub->add_option("--max-mb", profile.most_mb, "MiB of inputs and outputs; larger shapes are left out")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str()
      ->type_name("MIB");
  sub->add_option("--threads,-t", arguments.threads, "threads that kernels use (default: LUMEN_THREADS, else all)")
      ->check(CLI::Range(1, 256))
      ->type_name("N");
  sub->add_option("-o,--output", profile.output, "the profile; - for stdout")
      ->capture_default_str()
      ->type_name("FILE.json");
  sub->callback([&] {
    use_threads(arguments.threads);
    chosen = [&arguments] { return profile_fusion(arguments.profile); };
  });
}

void add_bench_command(CLI::App& fusion, FusionCommandArguments& arguments, Chosen& chosen) {
  FusionBenchArguments& bench = arguments.bench;
  CLI::App* sub = fusion.add_subcommand("bench", "a model with every strategy: reading and writing, and the texts");
  add_model(*sub, bench.model, arguments.threads);
  sub->remove_option(sub->get_option("--fusion"));
  sub->add_option("--strategies", bench.strategies, "of never, always, profile")
      ->capture_default_str()
      ->type_name("NAME,…");
  sub->add_option("--runs", bench.runs,
                  "of each case, of which the median is shown (default: 7, more where those are short)")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->type_name("N");
  sub->add_flag("--quick", bench.quick, "a few cases");
  sub->add_option("--json", bench.json, "write the numbers there; - for stdout")->type_name("FILE");
  sub->add_option("--html", bench.html, "write a page with a plot there; - for stdout")->type_name("FILE");
  sub->callback([&] {
    use_threads(arguments.threads);
    chosen = [&arguments] { return bench_fusion(arguments.bench); };
  });
}

}  // namespace

void add_fusion(CLI::App& app, FusionArguments& arguments) {
  const auto add = [&](const char* name, std::string& target, const char* help, const char* type) {
    app.add_option(name, target, help)->type_name(type)->group("Fusion");
  };
  add("--fusion", arguments.policy, "profile (measured), always or never (default: LUMEN_FUSION)", "POLICY");
  add("--fusion-profile", arguments.profile,
      "times of `lumen fusion profile` decide, of whatever machine (default: LUMEN_FUSION_PROFILE)", "FILE.json");
  add("--fusion-gates", arguments.gates,
      "what --fusion profile keeps apart: min_tensor_elements=N, min_nodes=N, max_graph_size=N, margin=X", "GATE=N,…");
  add("--fusion-log", arguments.log, "every decision with its numbers; - for stderr", "FILE");
}

void add_fusion_commands(CLI::App& app, FusionCommandArguments& arguments, Chosen& chosen) {
  CLI::App* fusion = app.add_subcommand("fusion", "what fusing ops into kernels gains: a profile of it, whole models");
  fusion->require_subcommand(1);
  add_profile_command(*fusion, arguments, chosen);
  add_bench_command(*fusion, arguments, chosen);
  fusion->footer(
      "A profile decides with --fusion-profile FILE, or LUMEN_FUSION_PROFILE where it is this machine's.\n"
      "`bench` exits with 1 when strategies write different texts. docs/fusion.md tells how it works.\n"
      "\n"
      "Examples:\n"
      "  lumen fusion profile --quick -o profile.json\n"
      "  lumen fusion profile --patterns swiglu,add+rms_norm --shapes 1x512x4096,8x1x4096 -o profile.json\n"
      "  lumen compile examples/transformer_block.hlir --fusion-profile profile.json --fusion-log -\n"
      "  lumen fusion bench --model examples/tiny_llama.json --random-weights --dtype f32 --html fusion.html");
}

}  // namespace lumen::tools
