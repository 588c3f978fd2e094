#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

using nlohmann::json;

// Two products that take a few milliseconds, so that what is between kernels is nothing beside them.
constexpr const char* kProducts = R"(lumen 1
%a = Input() :name "a" :shape [512,512]
%b = Input() :name "b" :shape [512,512]
%ta = View(%a) :view {[512,512,512] i0*512 + i2}
%tb = View(%b) :view {[512,512,512] i1 + 512*i2}
%p = Mul(%ta, %tb)
%c = SumReduce(%p) :axis 2
%e = Exp2(%c)
%te = View(%e) :view {[512,512,512] i0*512 + i2}
%q = Mul(%te, %tb)
%d = SumReduce(%q) :axis 2
output "d" = %d
)";

struct Traced {
  TemporaryFolder folder;
  Finished operator()(std::vector<std::string> arguments) const {
    return run_lumen(std::move(arguments), folder.path(), "",
                     {"LUMEN_CACHE=" + folder.path() + "/cache", "LUMEN_THREADS=2"});
  }
  json events() const { return json::parse(folder.read("t.json"))["traceEvents"]; }
};

double end_of(const json& event) { return event["ts"].get<double>() + event["dur"].get<double>(); }

// What viewers need of every event, and that those of a thread lie beside or inside each other.
void check_structure(const json& events) {
  std::map<int, std::vector<json>> open;  // by thread
  std::map<int, std::string> lanes;
  for (const json& event : events) {
    ASSERT_TRUE(event["name"].is_string() && event["pid"].is_number() && event["tid"].is_number()) << event;
    if (event["ph"] == "M") {
      if (event["name"] == "thread_name") lanes[event["tid"]] = event["args"]["name"];
      continue;
    }
    ASSERT_EQ(event["ph"], "X") << event;
    ASSERT_GE(event["ts"], 0.0);
    ASSERT_GE(event["dur"], 0.0);
    std::vector<json>& around = open[event["tid"]];
    constexpr double kRounding = 0.01;
    while (!around.empty() && end_of(around.back()) <= event["ts"].get<double>() + kRounding) around.pop_back();
    if (!around.empty()) {
      ASSERT_LE(end_of(event), end_of(around.back()) + kRounding) << event << around.back();
    }
    around.push_back(event);
  }
  for (const auto& [thread, events_of_it] : open) EXPECT_TRUE(lanes.contains(thread)) << thread;
}

std::vector<json> of_category(const json& events, const std::string& category) {
  std::vector<json> found;
  for (const json& event : events) {
    if (event.value("cat", "") == category) found.push_back(event);
  }
  return found;
}

constexpr double kAddUp = 0.95;

// Of an event that runs a program: what its kernels take of it.
double share_of_kernels(const json& run, const json& events) {
  double sum = 0;
  for (const json& kernel : of_category(events, "kernel")) {
    const bool is_inside = kernel["ts"] >= run["ts"] && end_of(kernel) <= end_of(run) + 0.01;
    if (!is_inside || kernel["tid"] != run["tid"]) continue;
    sum += kernel["dur"].get<double>();
  }
  EXPECT_LE(sum, 1.0001 * run["dur"].get<double>());
  return sum / run["dur"].get<double>();
}

// A model of one layer that reads and writes words.
void write_model(const TemporaryFolder& folder) {
  folder.write("config.json", R"({"model_type": "llama", "vocab_size": 64, "hidden_size": 32,
    "num_hidden_layers": 1, "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 2,
    "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": false})");
  folder.write("tokenizer.json", R"({"pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2}}})");
}

}  // namespace

// In the best of several: a busy machine may take the core away between two kernels, and often does.
TEST(TraceOption, kernels_add_up_to_the_run) {
  const Traced traced;
  traced.folder.write("g.hlir", kProducts);
  double most = 0;
  for (int round = 0; round < 20 && most < kAddUp; ++round) {
    const Finished run = traced({"run", "g.hlir", "--trace", "t.json"});
    ASSERT_EQ(run.status, 0) << run.err;
    const json events = traced.events();
    check_structure(events);
    const std::vector<json> runs = of_category(events, "run");
    ASSERT_EQ(runs.size(), 1U);
    for (const json& kernel : of_category(events, "kernel")) EXPECT_GT(kernel["args"]["flops"], 0);
    most = std::max(most, share_of_kernels(runs[0], events));
  }
  EXPECT_GE(most, kAddUp);
}

// What lies on the main lane and in no other event, over the time from the first to the last.
TEST(TraceOption, events_cover_the_command) {
  const Traced traced;
  traced.folder.write("g.hlir", kProducts);
  double most = 0;
  for (int round = 0; round < 20 && most < kAddUp; ++round) {
    ASSERT_EQ(traced({"run", "g.hlir", "--trace", "t.json"}).status, 0);
    const std::vector<json> stages = of_category(traced.events(), "command");
    std::vector<std::string> names;
    double sum = 0;
    for (const json& stage : stages) {
      names.push_back(stage["name"]);
      sum += stage["dur"].get<double>();
    }
    ASSERT_EQ(names,
              (std::vector<std::string>{"read", "make inputs", "make the program", "bind inputs", "run", "outputs"}));
    most = std::max(most, sum / (end_of(stages.back()) - stages[0]["ts"].get<double>()));
  }
  EXPECT_GE(most, kAddUp);
}

TEST(TraceOption, shows_the_stages_the_tuning_and_the_threads) {
  const Traced traced;
  traced.folder.write("g.hlir", kProducts);
  ASSERT_EQ(traced({"run", "g.hlir", "--trace", "t.json"}).status, 0);
  const json events = traced.events();
  std::vector<std::string> stages;
  for (const json& event : of_category(events, "compile")) stages.push_back(event["name"]);
  EXPECT_EQ(stages, (std::vector<std::string>{"compile", "roll", "rewrite", "group and tune", "build", "verify"}));
  EXPECT_GE(of_category(events, "tune").size(), 2U);
  // Every share of a kernel lies within a call of that kernel.
  const std::vector<json> kernels = of_category(events, "kernel"), shares = of_category(events, "share");
  EXPECT_GE(shares.size(), 2U);
  for (const json& share : shares) {
    const bool inside = std::any_of(kernels.begin(), kernels.end(), [&](const json& kernel) {
      return kernel["name"] == share["name"] && share["ts"] >= kernel["ts"] && end_of(share) <= end_of(kernel) + 0.01;
    });
    EXPECT_TRUE(inside) << share;
  }
}

TEST(TraceOption, a_full_disk_does_not_end_the_run) {
  const Traced traced;
  traced.folder.write("g.hlir", "lumen 1\n%x = Input() :name \"x\" :shape [4]\n%y = Exp2(%x)\noutput \"y\" = %y\n");
  const Finished good = traced({"run", "g.hlir"});
  for (const std::string path : {"/dev/full", "nowhere/t.json"}) {
    const Finished full = traced({"run", "g.hlir", "--trace", path});
    EXPECT_EQ(full.status, 0);
    EXPECT_EQ(full.out, good.out);
    EXPECT_NE(full.err.find("lumen: the trace is lost: " + path + ": cannot write: "), std::string::npos) << full.err;
  }
}

TEST(TraceOption, of_a_benchmark) {
  const Traced traced;
  const Finished run = traced({"bench", "micro", "--only", "^add/1k", "--quick", "--trace", "t.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json events = traced.events();
  check_structure(events);
  EXPECT_EQ(of_category(events, "case").size(), 2U);  // compiled, and run once
  EXPECT_EQ(of_category(events, "run").size(), 1U);
}

// Each token is a run with kernels in it, after the stages of compiling.
TEST(TraceOption, of_a_text) {
  const Traced traced;
  write_model(traced.folder);
  const Finished run = traced({"generate", "--model", "config.json", "--random-weights", "--dtype", "f32", "-p", "a b",
                               "-n", "3", "--trace", "t.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json events = traced.events();
  check_structure(events);
  std::vector<std::string> loading;
  for (const json& event : of_category(events, "command")) loading.push_back(event["name"]);
  EXPECT_EQ(loading, (std::vector<std::string>{"open the model", "bind weights"}));
  EXPECT_EQ(of_category(events, "compile").front()["name"], "compile");
  const std::vector<json> runs = of_category(events, "run");
  EXPECT_EQ(runs.size(), 3U);  // the prompt, and two tokens: the last is not read
  for (const json& each : runs) EXPECT_GT(share_of_kernels(each, events), 0);
}

TEST(TraceOption, of_a_benchmark_of_a_model) {
  const Traced traced;
  write_model(traced.folder);
  const Finished run = traced({"bench", "llm", "--model", "config.json", "--random-weights", "--dtype", "f32", "--pp",
                               "8", "--tg", "2", "--depth", "4,16", "--rounds", "1", "--trace", "t.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json events = traced.events();
  check_structure(events);
  const std::vector<json> runs = of_category(events, "run");
  EXPECT_GE(runs.size(), 6U);  // prompts, and tokens
  EXPECT_NE(run.out.find("tg 2@4 "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("tg 2@16 "), std::string::npos) << run.out;
  const Finished wrong = traced({"bench", "llm", "--model", "config.json", "--random-weights", "--depth", "4,x"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.err.find("--depth 4,x: \"x\" is no length of a prompt"), std::string::npos) << wrong.err;
  for (const json& each : runs) EXPECT_GT(share_of_kernels(each, events), 0);
}

TEST(Profile, is_a_table_and_json) {
  const Traced traced;
  traced.folder.write("g.hlir", kProducts);
  const Finished run = traced({"profile", "g.hlir", "--rounds", "3", "--json", "p.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("GFLOP/s     MFU  kernel\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("in all, the median of 3 runs\n"), std::string::npos) << run.out;
  const json whole = json::parse(traced.folder.read("p.json"));
  EXPECT_NE(whole["hardware"], "");
  EXPECT_GT(whole["limits"]["f32_flops"], 0);
  EXPECT_GT(whole["limits"]["copies"].size(), 0u);
  const json profile = whole["profiles"]["g.hlir"];
  EXPECT_GE(profile["between_kernels_seconds"], 0);
  double share = 0, flops = 0;
  for (const json& kernel : profile["kernels"]) {
    share += kernel["share"].get<double>();
    flops += kernel["flops"].get<double>();
    EXPECT_GT(kernel["mfu"], 0);
    EXPECT_GT(kernel["mbu"], 0);
    EXPECT_GT(kernel["gb_per_second"], 0);
    EXPECT_GT(kernel["gflop_per_second"], 0);
  }
  EXPECT_EQ(flops, 2 * 2 * 512.0 * 512 * 512 + 512 * 512);
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 1.5);  // medians of each need not add up
}

TEST(Profile, needs_one_thing_to_profile) {
  const Traced traced;
  EXPECT_EQ(traced({"profile"}).err, "lumen: either FILE or --model PATH is needed\n");
  EXPECT_EQ(traced({"profile", "a.hlir", "--model", "b"}).err, "lumen: either FILE or --model PATH is needed\n");
}

}  // namespace lumen::tests
