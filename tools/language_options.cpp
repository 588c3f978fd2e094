#include "tools/language_options.h"

#include <cstdlib>

#include "tools/fusion_options.h"

namespace lumen::tools {

void use_threads(const std::optional<int>& threads) {
  if (threads) setenv("LUMEN_THREADS", std::to_string(*threads).c_str(), 1);
}

void add_model(CLI::App& app, ModelArguments& model, std::optional<int>& threads, bool is_required) {
  app.add_option("--model,-m", model.path, "a GGUF file, or a folder with config.json, weights and a tokenizer")
      ->type_name("PATH")
      ->required(is_required);
  app.add_flag("--random-weights", model.random_weights, "PATH is a config.json, or has one: weights are made up");
  app.add_option("--dtype", model.dtype, "compute in f32, bf16 or f16 (default: what the model's configuration says)")
      ->type_name("NAME");
  app.add_option("--context", model.max_context, "tokens that the model can hold (default: the model's, 4096 at most)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->type_name("N");
  app.add_option("--device", model.device, "cpu, cuda or cuda:N (default: LUMEN_BACKEND, else cpu)")->type_name("NAME");
  app.add_option("--max-memory", model.max_memory, "MiB of a GPU's memory that may be used (default: all)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->type_name("MIB");
  app.add_option("--threads,-t", threads, "threads that kernels use (default: LUMEN_THREADS, else all)")
      ->check(CLI::Range(1, 256))
      ->type_name("N");
  add_fusion(app, model.fusion);
}

namespace {

void add_sampling(CLI::App& app, SamplingArguments& sampling) {
  models::GenerateOptions& options = sampling.generate;
  SamplingOptions& s = options.sampling;
  const auto add = [&](const char* name, auto& target, const char* help) {
    return app.add_option(name, target, help)->capture_default_str()->group("Sampling");
  };
  s.temperature = 0;
  app.add_option("--n,-n", options.max_tokens, "tokens to write at most")->capture_default_str()->type_name("N");
  add("--temperature", s.temperature, "0: always the most likely token");
  add("--top-k", s.top_k, "only the K most likely tokens; 0: all");
  add("--top-p", s.top_p, "only the fewest tokens that are together this likely");
  add("--min-p", s.min_p, "only tokens at least this share as likely as the most likely one");
  add("--repetition-penalty", s.repetition_penalty, "divides the logits of tokens seen before");
  add("--presence-penalty", s.presence_penalty, "taken from the logits of tokens written before");
  add("--frequency-penalty", s.frequency_penalty, "the same, for each time");
  add("--seed", s.seed, "the same seed gives the same text");
  app.add_option("--logit-bias", sampling.logit_bias, "added to the logit of a token; may be repeated")
      ->type_name("TOKEN=BIAS")
      ->group("Sampling");
  app.add_option("--stop", options.stop, "a string that ends the text; may be repeated")->type_name("TEXT");
  app.add_flag("--ignore-eos", options.ignore_end, "go on after the token that ends a text");
  app.add_option("--chunk", options.chunk, "tokens of the prompt that are read at once")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
}

}  // namespace

CLI::Validator some_text() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, "");
}

void add_trace(CLI::App& app, std::string& file) {
  const auto refuse_stdout = [](const std::string& name) {
    return name == "-" ? "stdout is for the program's text; name a file" : "";
  };
  app.add_option("--trace", file, "what ran when on which thread, for Perfetto or chrome://tracing")
      ->check(CLI::Validator(refuse_stdout, ""))
      ->type_name("FILE.json");
}

void add_language_commands(CLI::App& app, LanguageArguments& arguments, Chosen& chosen) {
  const auto choose = [&](CLI::App* sub, auto command) {
    sub->callback([&arguments, &chosen, command] {
      use_threads(arguments.threads);
      chosen = command;
    });
  };
  CLI::App* generate = app.add_subcommand("generate", "continue a text with a language model");
  add_model(*generate, arguments.generate.model, arguments.threads);
  CLI::Option* prompt = generate->add_option("--prompt,-p", arguments.generate.prompt, "the text to continue");
  CLI::Option* file = generate->add_option("--prompt-file", arguments.generate.prompt_file, "a file that holds it");
  prompt->excludes(file);
  generate->add_flag("--raw", arguments.generate.raw, "the prompt as it is, without a token that begins a text");
  add_trace(*generate, arguments.generate.trace);
  add_sampling(*generate, arguments.generate.sampling);
  generate->footer(
      "The text that is written goes to stdout, all else to stderr. The first run searches for the fastest kernels "
      "and\n"
      "remembers them.\n"
      "\n"
      "Examples:\n"
      "  lumen generate --model model.gguf --prompt \"Once upon a time\" -n 64\n"
      "  lumen generate --model folder --prompt-file question.txt --temperature 0.8 --top-p 0.95 --seed 7");
  choose(generate, [&arguments] { return generate_text(arguments.generate); });

  CLI::App* chat = app.add_subcommand("chat", "talk with a language model that has a chat template");
  add_model(*chat, arguments.chat.model, arguments.threads);
  chat->add_option("--system", arguments.chat.system, "what the model is told first")->type_name("TEXT");
  add_sampling(*chat, arguments.chat.sampling);
  choose(chat, [&arguments] { return chat_with_model(arguments.chat); });

  CLI::App* embed = app.add_subcommand("embed", "texts as vectors, one line each");
  add_model(*embed, arguments.embed.model, arguments.threads);
  embed->add_option("TEXT", arguments.embed.texts, "texts (default: the lines of stdin)")->type_name("");
  choose(embed, [&arguments] { return embed_texts(arguments.embed); });
}

void add_profile(CLI::App& app, LanguageArguments& arguments, Chosen& chosen) {
  ProfileArguments& profile = arguments.profile;
  CLI::App* sub = app.add_subcommand("profile", "where the time goes, kernel by kernel, beside the machine's limits");
  sub->add_option("FILE", profile.file, "a graph, or a program of `lumen compile`")->type_name("");
  add_model(*sub, profile.model, arguments.threads, false);
  sub->add_option("--dim", profile.dims, "NAME=N: a symbolic dim of FILE (default: about 512)")->type_name("NAME=N");
  sub->add_option("--pp", profile.prompt, "tokens of the prompt that the model reads")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->type_name("N");
  sub->add_option("--rounds", profile.rounds, "runs, of which the median is shown")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000}))
      ->capture_default_str();
  sub->add_option("--json", profile.json, "write the numbers there; - for stdout")->type_name("FILE");
  sub->footer(
      "First the machine's limits are measured. GB/s and GFLOP/s count what a kernel has to move and to compute at\n"
      "least; MBU and MFU are shares of what copies of that size, and multiply-adds, reach here.\n"
      "--json has {hardware, limits, profiles: {NAME: {seconds, between_kernels_seconds, runs, kernels: [...]}}}.\n"
      "\n"
      "Examples:\n"
      "  lumen profile examples/transformer_block.hlir\n"
      "  lumen profile softmax.lumen --dim rows=4096 --json profile.json\n"
      "  lumen profile --model model.gguf --pp 512");
  sub->callback([&] {
    use_threads(arguments.threads);
    chosen = [&arguments] { return profile_program(arguments.profile); };
  });
}

void add_explain(CLI::App& app, LanguageArguments& arguments, Chosen& chosen) {
  ExplainArguments& explain = arguments.explain;
  CLI::App* sub = app.add_subcommand("explain", "a page about what was compiled, how it was found, and what lost");
  sub->add_option("FILE", explain.file, "a graph")->type_name("");
  sub->add_option("--diff", explain.diff, "two graphs, side by side")->expected(2)->type_name("A B");
  add_model(*sub, explain.model, arguments.threads, false);
  sub->add_option("-o,--output", explain.output, "the page; - for stdout")
      ->capture_default_str()
      ->type_name("FILE.html");
  sub->add_option("--dim", explain.dims, "NAME=N: a symbolic dim, for the run that is timed (default: about 512)")
      ->type_name("NAME=N");
  sub->add_flag("--no-rewrite", explain.no_rewrite, "compile the graph as it is written");
  sub->add_flag("--no-measure", explain.no_measure, "estimate the times of kernels instead of measuring");
  sub->add_option("--pp", explain.prompt, "tokens of the prompt that a model reads")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{512}))
      ->type_name("N");
  sub->footer(
      "The page needs no network and no other file: the graph, kernels with their source and their place under the\n"
      "roofline, rules, classes, and what lost against what was taken. docs/explain.md walks through it.\n"
      "\n"
      "Examples:\n"
      "  lumen explain examples/transformer_block.hlir -o page.html\n"
      "  lumen explain --diff before.hlir after.hlir -o page.html\n"
      "  lumen explain --model model.gguf -o page.html");
  sub->callback([&] {
    use_threads(arguments.threads);
    chosen = [&arguments] { return explain_programs(arguments.explain); };
  });
}

void add_llm_bench(CLI::App& bench, LanguageArguments& arguments, Chosen& chosen) {
  CLI::App* llm = bench.add_subcommand("llm", "a language model: reading a prompt and writing a text");
  add_model(*llm, arguments.bench.model, arguments.threads);
  llm->add_option("--pp", arguments.bench.prompts, "lengths of prompts")->capture_default_str()->type_name("N,N");
  llm->add_option("--tg", arguments.bench.tokens, "tokens to write; 0: none")->capture_default_str();
  llm->add_option("--depth", arguments.bench.depths, "lengths of texts that they are written after")
      ->type_name("N,N")
      ->capture_default_str();
  llm->add_option("--top-k", arguments.bench.top_k,
                  "draw each of them from the K likeliest (default: take the likeliest)")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("K");
  llm->add_option("--batch", arguments.bench.model.batch, "texts that are read and written at once; rates are of all")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str()
      ->type_name("N");
  llm->add_option("--rounds", arguments.bench.rounds, "measurements, of which the median is shown")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  llm->add_option("--json", arguments.bench.json, "write the numbers there; - for stdout")->type_name("FILE");
  llm->add_flag("--profile", arguments.bench.profile, "show where the time goes");
  add_trace(*llm, arguments.bench.trace);
  llm->callback([&] {
    use_threads(arguments.threads);
    chosen = [&arguments] { return bench_language_model(arguments.bench); };
  });
}

}  // namespace lumen::tools
