// Programs: files, faults, state, threads, and what a wrong kernel does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lumen/backend/program.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/backend/waves.h"
#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "lumen/runtime/program_file.h"
#include "lumen/runtime/program_json.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/tune.h"
#include "lumen/search/verify.h"
#include "tests/support/gpu_target.h"
#include "tests/support/scratch_dir.h"
#include "tests/support/source_dir.h"

namespace lumen {
namespace {

using tests::ScratchDir;

CompileOptions quick() {
  CompileOptions options;
  options.measure = false;
  options.c_flags = {"-O1", "-w"};
  return options;
}

template <class F>
std::string failure(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// Softmax of [rows, 5] and the rows' sums, with the input itself as an output and one output twice.
std::shared_ptr<Graph> sample() {
  auto graph = std::make_shared<Graph>();
  const Expr rows = graph->dim("rows", 0, 4096);
  const Tensor x = graph->input("x", {rows, 5});
  const Tensor y = softmax(x, -1);
  y.output("y");
  sum(x, {1}).output("sums");
  x.output("x_again");
  y.output("y_again");
  return graph;
}

void expect_sample(Session& session) {
  session.set_dim("rows", 2);
  session.set("x", {0, 0, 0, 0, 0, 1, 2, 3, 4, 5});
  session.execute();
  const std::vector<float> y = session.get<float>("y");
  EXPECT_FLOAT_EQ(y[0], 0.2F);
  EXPECT_NEAR(y[9], 0.6364086, 1e-6);
  EXPECT_EQ(session.get<float>("sums"), (std::vector<float>{0, 15}));
  EXPECT_EQ(session.get<float>("x_again"), (std::vector<float>{0, 0, 0, 0, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(session.get<float>("y_again"), y);
  session.set_dim("rows", 0);
  session.set("x", std::vector<float>{});
  session.execute();
  EXPECT_EQ(session.get<float>("y").size(), 0u);
  EXPECT_EQ(session.dims("y"), (std::vector<int64_t>{0, 5}));
}

TEST(Program, runs_at_every_size) {
  Session session = compile(*sample(), quick());
  expect_sample(session);
  expect_sample(session);
}

// A row of a state is replaced, the whole is summed; `old` reads the state as it was.
std::shared_ptr<Graph> updated_row(bool old_is_read) {
  auto graph = std::make_shared<Graph>();
  const Tensor state = graph->input("state", {6, 4}, f32, InputKind::state);
  const Tensor which = graph->input("which", {1}, i32);
  const Tensor row = graph->input("row", {1, 4});
  const Tensor next = index_copy(state, 0, which, row + 1.0);
  const Tensor again = index_add(next, 0, which, row);
  again.output("next", state);
  Tensor total = sum(again, {0});
  if (old_is_read) total = total + sum(state, {0}) * sum(again, {0});
  total.output("total");
  return graph;
}

TEST(State, is_updated_in_place_when_nobody_reads_it_later) {
  for (const bool old_is_read : {true, false}) {
    const std::shared_ptr<Graph> graph = updated_row(old_is_read);
    const Compiled compiled = compile_program(*graph, quick());
    EXPECT_EQ(compiled.variants[0].binary.program.in_place[0], !old_is_read);
    Session session = make_session(compiled), reference(graph);
    const std::byte* where = nullptr;
    for (int k = 0; k < 4; ++k) {
      for (Session* each : {&session, &reference}) {
        each->set("which", {5.0 - k});
        each->set("row", {1.0 + k, 2, 3, 4});
        each->execute();
      }
      EXPECT_EQ(session.get<float>("next"), reference.get<float>("next"));
      EXPECT_EQ(session.get<float>("total"), reference.get<float>("total"));
      EXPECT_TRUE(old_is_read || where == nullptr || session.bytes("next").data() == where);
      where = session.bytes("next").data();
    }
    session.set("state", std::vector<float>(24, 7));
    session.execute();
    EXPECT_EQ(session.get<float>("next")[0], 7);
  }
}

TEST(State, checker_finds_what_is_lost) {
  const Compiled compiled = compile_program(*updated_row(true), quick());
  Program program = compiled.variants[0].binary.program;
  EXPECT_TRUE(check_memory(program).ok());
  program.in_place[0] = true;
  EXPECT_FALSE(check_memory(program).ok());
  program = compiled.variants[0].binary.program;
  ASSERT_GT(program.inner.size(), 0u);
  std::fill(program.plan.slots.begin(), program.plan.slots.end(), 0u);
  EXPECT_FALSE(check_memory(program).ok());
}

TEST(ProgramFile, says_what_it_cannot_read) {
  const ScratchDir dir;
  const auto loaded = [&](const std::string& content) {
    std::ofstream(dir / "p.lumen", std::ios::binary) << content;
    const std::string text = failure([&] { load_program(dir / "p.lumen"); });
    return text.substr(text.find("p.lumen") + 9);
  };
  const Compiled compiled = compile_program(*sample(), quick());
  const std::string good = program_text(*compiled.graph, compiled.variants, *compiled.device);
  EXPECT_EQ(loaded("something else"), "not a Lumen program");
  EXPECT_EQ(loaded("lumen-program 9 1 1 0\nab"),
            "a program of version 9; this Lumen reads version 7: compile it again");
  EXPECT_EQ(loaded(good.substr(0, good.size() - 1)), "cut off, or not as it was written");
  EXPECT_EQ(loaded(good.substr(0, 20)), "cut off, or not as it was written");
  std::string damaged = good;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_EQ(loaded(damaged), "damaged: its checksum does not fit");
  EXPECT_NE(failure([&] { load_program(dir / "none.lumen"); }).find("No such file"), std::string::npos);

  cpu::CpuFeatures small;
  small.model = "a small one";
  const Expected<LoadedProgram> refused = parse_program(good, "p.lumen", small);
  if (!cpu::cpu().avx2) GTEST_SKIP() << "this machine has nothing that a small one lacks";
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diag().str(),
            "p.lumen: made for a processor with avx2, which this one (a small one) has not; compile it again here");
}

TEST(ProgramFile, runs_as_what_was_saved) {
  const ScratchDir dir;
  const Compiled compiled = compile_program(*sample(), quick());
  save_program(dir / "p.lumen", *compiled.graph, compiled.variants, *compiled.device);
  EXPECT_TRUE(is_program_file(dir / "p.lumen"));
  Session session = load_program(dir / "p.lumen");
  expect_sample(session);
  EXPECT_EQ(program_text(*compiled.graph, compiled.variants, *compiled.device),
            program_text(*compiled.graph, compiled.variants, *compiled.device));
}

TEST(Program, is_the_same_every_time) {
  const auto text = [] {
    const Compiled compiled = compile_program(*sample(), quick());
    return program_text(*compiled.graph, compiled.variants, *compiled.device);
  };
  EXPECT_EQ(text(), text());
}

TEST(Buckets, are_refused_when_they_make_no_sense) {
  const std::shared_ptr<Graph> graph = sample();
  const auto refused = [&](const char* text) { return parse_buckets(text, *graph).diag().str(); };
  EXPECT_EQ(refused("seq=1"), "buckets \"seq=1\": not DIM=N,LO-HI,… of a dim of the graph");
  EXPECT_EQ(refused("rows=5-2"), "buckets \"rows=5-2\": \"5-2\" is no range above those before it within 0..4096");
  EXPECT_NE(refused("rows=1-4,4-8").find("\"4-8\" is no range"), std::string::npos);
  EXPECT_NE(refused("rows=1-5000").find("\"1-5000\" is no range"), std::string::npos);
  EXPECT_NE(refused("rows=1,x").find("\"x\" is no range"), std::string::npos);
  EXPECT_EQ(refused("rows="), "buckets \"rows=\": no ranges");
}

TEST(Buckets, each_have_a_program) {
  CompileOptions options = quick();
  options.buckets = {"rows=1,2-64,65-100"};
  const ScratchDir dir;
  const Compiled compiled = compile_program(*sample(), options);
  ASSERT_EQ(compiled.variants.size(), 3u);
  save_program(dir / "p.lumen", *compiled.graph, compiled.variants, *compiled.device);
  std::vector<Session> sessions;
  sessions.push_back(make_session(compiled));
  sessions.push_back(load_program(dir / "p.lumen"));
  for (Session& session : sessions) {
    for (const int64_t rows : {1, 2, 64, 65, 100, 7}) {
      session.set_dim("rows", rows);
      session.set("x", std::vector<float>(static_cast<size_t>(rows) * 5, 2));
      session.execute();
      EXPECT_EQ(session.get<float>("sums"), std::vector<float>(static_cast<size_t>(rows), 10));
    }
    session.set_dim("rows", 101);
    session.set("x", std::vector<float>(505, 2));
    EXPECT_EQ(failure([&] { session.execute(); }), "no variant for rows=101; there are rows=1, rows=2-64, rows=65-100");
    EXPECT_EQ(session.get<float>("sums").size(), 7u);
  }
}

TEST(Program, keeps_state_and_says_why_it_failed) {
  auto graph = std::make_shared<Graph>();
  const Tensor total = graph->input("total", {2}, i32, InputKind::state);
  const Tensor divisor = graph->input("divisor", {2}, i32);
  const Tensor next = floor_divide(total, divisor) + 7;
  next.output("next", total);
  Session session = compile(*graph, quick());
  session.set("divisor", {1, 2});
  session.execute();
  session.execute();
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{14, 10}));
  session.set("divisor", {1, 0});
  EXPECT_EQ(failure([&] { session.execute(); }), "[Div] integer division by zero: 10 by 0 in i32");
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{14, 10}));
  session.set("divisor", {1, 1});
  session.execute();
  EXPECT_EQ(session.get<int>("next"), (std::vector<int>{21, 17}));
  EXPECT_EQ(failure([&] { session.bind("total", nullptr, {2}); }),
            "input \"total\" is state that output \"next\" updates: it cannot be bound");
}

TEST(Program, reads_bound_inputs_where_they_are) {
  auto graph = std::make_shared<Graph>();
  (graph->input("x", {graph->dim("n", 1, 100)}) * 2.0).output("y");
  Session session = compile(*graph, quick());
  std::vector<float> x = {1, 2, 3};
  session.bind("x", x.data(), {3});
  session.execute();
  EXPECT_EQ(session.get<float>("y"), (std::vector<float>{2, 4, 6}));
  x[1] = 10;
  session.execute();
  EXPECT_EQ(session.get<float>("y"), (std::vector<float>{2, 20, 6}));
  EXPECT_NE(failure([&] { session.bind("x", x.data(), {101}); }).find("outside 1..100"), std::string::npos);
}

TEST(Program, tells_when_its_kernels_ran) {
  Session session = compile(*sample(), quick());
  session.set_profiling(true);
  session.set_dim("rows", 3);
  session.set("x", std::vector<float>(15, 1));
  session.execute();
  ASSERT_FALSE(session.profile().empty());
  for (const CallTime& call : session.profile()) {
    EXPECT_GT(call.start, 0);
    EXPECT_GE(call.seconds, 0);
    EXPECT_EQ(call.schedule, "fold");
  }
}

TEST(Program, tells_the_work_of_the_sizes_that_ran) {
  Session session = compile(*sample(), quick());
  const auto flops_of = [&](int64_t rows, bool off_before) {
    if (off_before) session.set_profiling(false);
    session.set_dim("rows", rows);
    session.set("x", std::vector<float>(static_cast<size_t>(5 * rows), 1));
    session.execute();
    session.set_profiling(true);
    session.execute();
    return session.profile()[0].work.flops;
  };
  const double three = flops_of(3, false);
  EXPECT_GT(three, 0);
  EXPECT_EQ(flops_of(6, false), 2 * three);
  EXPECT_EQ(flops_of(9, true), 3 * three);
}

TEST(Verify, names_a_kernel_that_is_wrong) {
  const std::shared_ptr<Graph> graph = sample();
  CompileOptions options = quick();
  options.verify = false;
  const Compiled compiled = compile_program(*graph, options);
  const Device& device = *compiled.device;
  EXPECT_TRUE(search::verify(compiled.graph, compiled.variants[0].binary, device).ok());
  std::vector<Program> programs = {compiled.variants[0].binary.program};
  std::string& text = programs[0].kernels[0].text.text;
  const size_t at = text.find("exp2");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 4, "log2");
  const Binary wrong = std::move(device.build(std::move(programs)).value()[0]);
  const Expected<void> found = search::verify(compiled.graph, wrong, device);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.diag().str().find("does not compute the graph"), std::string::npos) << found.diag().str();
  const std::string note = found.diag().notes.at(0);
  EXPECT_EQ(note.substr(0, 10), "the kernel") << note;
  const std::string file = note.substr(note.find("is in ") + 6);
  EXPECT_TRUE(std::filesystem::exists(file)) << file;
  std::filesystem::remove_all(std::filesystem::path(file).parent_path());
}

// What a kernel of a GPU's program is launched with, and what a library is asked for.
TEST(ProgramFile, keeps_how_steps_run) {
  auto graph = std::make_shared<Graph>();
  const Expr rows = graph->dim("rows", 1, 4096);
  matmul(graph->input("x", {rows, 64}), graph->input("y", {64, 32})).output("out");
  const std::shared_ptr<const Graph> body = rewrite(*graph).value().candidates[0].graph;
  Target target = tests::gpu_target();
  target.library = true;
  for (const char* const schedule :
       {"library algorithm=1", "gpu-tile rows=32 columns=16 summed=8 threads=64 parts=3"}) {
    const Program saved = search::alone(search::make_kernel(body, schedule, target).value()).value();
    const Program read = read_program_json(program_json(saved), *body).value();
    EXPECT_EQ(program_json(read), program_json(saved));
    const std::vector<KernelStep>&was = saved.kernels[0].text.steps, &is = read.kernels[0].text.steps;
    ASSERT_EQ(is.size(), was.size());
    for (size_t k = 0; k < is.size(); ++k) {
      EXPECT_EQ(is[k].threads, was[k].threads);
      EXPECT_EQ(is[k].block_rows, was[k].block_rows);
      EXPECT_EQ(is[k].walks, was[k].walks);
      EXPECT_EQ(is[k].shared, was[k].shared);
      ASSERT_EQ(is[k].product.has_value(), was[k].product.has_value());
      if (!is[k].product) continue;
      EXPECT_EQ(is[k].product->columns.pitch, was[k].product->columns.pitch);
    }
  }
}

// A product of floats of 8 bits with scales of its factors, from the graph on.
Program scaled_product(std::string_view schedule, DType result, const Shape& row_scale) {
  Graph graph;
  const Tensor x = graph.input("x", {64, 256}, f8e4m3), w = graph.input("w", {128, 256}, f8e4m3);
  const Tensor rows = cast(x, f32) * graph.input("x_scale", row_scale);
  const Tensor columns = cast(w, f32) * graph.input("w_scale", {1});
  cast(matmul(rows, transpose(columns)) * 0.375, result).output("out");
  const std::shared_ptr<const Graph> body = rewrite(graph).value().candidates[0].graph;
  Target target = tests::gpu_target();
  target.library = true;
  return search::alone(search::make_kernel(body, std::string(schedule), target).value()).value();
}

TEST(ProgramFile, keeps_scales) {
  for (const DType result : {f32, bf16}) {
    const Program saved = scaled_product("library", result, {1});
    ASSERT_EQ(saved.kernels[0].text.steps.size(), 1u) << print(*saved.kernels[0].body);
    const LibraryProduct was = *saved.kernels[0].text.steps[0].product;
    EXPECT_EQ(was.constant, 0.375F);
    EXPECT_EQ(was.scales.size(), 2u);
    EXPECT_EQ(was.result.dtype, result);
    const Program read = read_program_json(program_json(saved), *saved.graph).value();
    const LibraryProduct is = *read.kernels[0].text.steps[0].product;
    EXPECT_EQ(is.constant, was.constant);
    EXPECT_EQ(is.scales, was.scales);
  }
  EXPECT_EQ(scaled_product("library", bf16, {64, 1}).kernels[0].text.steps.size(), 2u) << "of rows: a step behind";
}

TEST(ProgramFile, refuses_scales_that_are_none) {
  const Program saved = scaled_product("library", bf16, {1});
  const auto read_with = [&](const char* member, const nlohmann::json& value, const char* narrow = "f8e4m3") {
    nlohmann::json json = program_json(saved);
    nlohmann::json& product = json["kernels"][0]["steps"][0]["products"][0];
    product[member] = value;
    product["columns"]["dtype"] = narrow;
    const Expected<Program> read = read_program_json(json, *saved.graph);
    return read.ok() ? "read" : read.diag().str();
  };
  const std::vector<uint32_t> good = saved.kernels[0].text.steps[0].product->scales;
  EXPECT_EQ(read_with("constant", 0), "\"constant\" of the product is not a normal number of f32");
  EXPECT_EQ(read_with("constant", 1e300), "\"constant\" of the product is not a normal number of f32");
  EXPECT_EQ(read_with("constant", "1"), "\"constant\" of the product is not a number");
  EXPECT_EQ(read_with("scales", {7U}), "\"scales\" of the product is not below 4");
  EXPECT_EQ(read_with("scales", {0U}), "\"scales\" of the product is not single numbers of f32");
  EXPECT_EQ(read_with("scales", {good[0], good[1], good[0]}), "\"scales\" of the product is not two numbers at most");
  EXPECT_EQ(read_with("constant", 2, "bf16"), "\"scales\" of the product is not of floats of 8 bits, as \"constant\"");
  EXPECT_EQ(read_with("constant", 2), "read");
}

// What the fuzzer of programs begins with (tests/fuzz/program.cpp): it finds little when that is refused.
TEST(ProgramFile, reads_the_seed_of_its_fuzzer) {
  std::ifstream file(tests::source_dir() / "tests/fuzz/corpus/program/softmax.json");
  Graph whole;
  whole.input("x", {whole.dim("rows", 0, 64), 5}).output("y");
  const Expected<Program> read = read_program_json(nlohmann::json::parse(file), whole);
  EXPECT_TRUE(read.ok()) << read.diag().str();
}

TEST(ProgramFile, keeps_which_calls_can_run_at_once) {
  Graph graph;
  exp2(graph.input("x", {8})).output("a");
  sqrt(graph.input("y", {5})).output("b");
  const Compiled compiled = compile_program(graph, quick());
  const Program& one_by_one = compiled.variants[0].binary.program;
  ASSERT_EQ(one_by_one.calls.size(), 2u);
  const Program waves = in_waves(
                            one_by_one, [](const ProgramKernel&) { return "any"; }, 2)
                            .value();
  const Program read = read_program_json(program_json(waves), *compiled.graph).value();
  EXPECT_FALSE(read.calls[0].joins);
  EXPECT_TRUE(read.calls[1].joins);
}

// Rounded scores, and where the largest of each row is: of the scores, or of what `best` is given.
std::shared_ptr<Graph> best_of(Tensor (*best)(Tensor x, Tensor scores)) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {64, 2000});
  const Tensor scores = cast(cast(x, bf16), f32).output("scores");
  cast(best(x, scores), i32).output("best");
  return graph;
}

TEST(Verify, lets_an_index_point_at_another_element_that_is_as_large) {
  const std::shared_ptr<Graph> right = best_of([](Tensor, Tensor scores) { return argmax(scores, 1); });
  const auto compared = [&](Tensor (*best)(Tensor, Tensor)) {
    const std::unique_ptr<Executable> wanted = reference_executable(right), got = reference_executable(best_of(best));
    const Expected<void> same = search::compare_executables(*right, {}, *wanted, *got);
    return same.ok() ? "" : same.diag().str();
  };
  EXPECT_NE(compared([](Tensor x, Tensor) { return argmin(x, 1); }).find("output \"best\": 64 of 64"),
            std::string::npos);
  EXPECT_NE(compared([](Tensor x, Tensor) { return argmax(x, 1) + 1; }).find("output \"best\": "), std::string::npos);
  EXPECT_NE(compared([](Tensor x, Tensor) { return argmax(x, 1) + 2000; }).find("64 of 64"), std::string::npos);
  EXPECT_EQ(compared([](Tensor x, Tensor) { return argmax(x, 1); }), "");
}

}  // namespace
}  // namespace lumen
