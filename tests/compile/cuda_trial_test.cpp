// Kernels for a GPU that fail or never end: they are blamed, and the search goes on.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "lumen/backend/buffer.h"
#include "lumen/backend/cuda/call_launches.h"
#include "lumen/backend/cuda/device_worker.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/ops.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "lumen/search/tune.h"
#include "lumen/search/verify.h"
#include "tests/compile/working_driver.h"

namespace lumen::cuda {
namespace {

namespace fs = std::filesystem;
using search::Tuned;
using search::Tuner;
using search::TuningDb;
using search::TuningEntry;

// What the tests below start as their worker: this program again.
TEST(CudaTrialWorker, DISABLED_serves) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(kWorkerSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) GTEST_SKIP() << "not started by a test";
  const Expected<int> status = run_device_worker();
  _exit(status.ok() ? *status : 1);
}

struct LaunchLine {
  pid_t process = 0;
  std::string function, what;  // what: sizes, and the first bytes of its first input
};

class CudaTrial : public tests::CudaFakes {
 protected:
  CudaTrial() {
    Graph graph;
    sum(graph.input("x", {4, 1 << 16}), {-1}).output("y");
    body_ = rewrite(graph).value().candidates[0].graph;
    const std::vector<std::string> all = kernel_schedules(*body_, open()->target()).value();
    schedules_.assign(all.begin(), all.end());
    EXPECT_GE(schedules_.size(), 2u);
  }

  // Each has a driver of its own, as another process has.
  std::shared_ptr<CudaDevice> open(bool with_worker = true) {
    LibrarySearch search;
    const std::string number = std::to_string(opened_++);
    search.driver = {library("driver" + number, tests::working_driver(good_driver(), folder_.path()))};
    search.compiler = {library("compiler" + number, tests::text_compiler(good_compiler()))};
    search.worker = worker_;
    if (!with_worker) search.worker.command = {};
    return CudaDevice::open(0, 0, search).value();
  }

  std::string name_of(const std::string& schedule, const Target& target) const {
    return search::make_kernel(body_, schedule, target).value().text.steps[0].name;
  }
  void make(const std::string& schedule, const std::string& what, const Target& target) {
    std::ofstream(folder_ / "behaviour", std::ios::app) << name_of(schedule, target) << " " << what << "\n";
  }
  Expected<std::vector<Tuned>> tune(const CudaDevice& device, TuningDb* db) {
    Tuner tuner(device, {{}, true, db});
    return tuner.tune(std::span(&body_, 1));
  }

  std::vector<LaunchLine> launches() const {
    std::vector<LaunchLine> lines;
    std::ifstream file(folder_ / "launches");
    for (std::string text; std::getline(file, text);) {
      LaunchLine& line = lines.emplace_back();
      std::istringstream words(text);
      words >> line.process >> line.function;
      std::getline(words, line.what);
    }
    return lines;
  }
  // Processes in which a function was launched.
  std::set<pid_t> processes_of(const std::string& function) const {
    std::set<pid_t> found;
    for (const LaunchLine& line : launches()) {
      if (line.function == function) found.insert(line.process);
    }
    return found;
  }
  pid_t last_worker() const {
    pid_t found = 0;
    for (const LaunchLine& line : launches()) {
      if (line.process != getpid()) found = line.process;
    }
    return found;
  }
  const TuningEntry* entry_of(const std::vector<TuningEntry>& entries, const std::string& schedule) const {
    const auto found = std::ranges::find(entries, schedule, &TuningEntry::schedule);
    return found == entries.end() ? nullptr : &*found;
  }

  // The first schedule does harm in a worker: it is blamed with these words, and nothing else is.
  void expect_blamed(const std::string& what, const std::string& words) {
    const std::shared_ptr<CudaDevice> device = open();
    make(schedules_[0], what, device->target());
    TuningDb db = TuningDb::open(":memory:").value();
    ::testing::internal::CaptureStderr();
    const Expected<std::vector<Tuned>> tuned = tune(*device, &db);
    const std::string log = ::testing::internal::GetCapturedStderr();
    ASSERT_TRUE(tuned.ok()) << tuned.diag().str();
    EXPECT_NE((*tuned)[0].schedule, schedules_[0]);
    EXPECT_NE((*tuned)[0].schedule, "");
    const std::vector<TuningEntry> entries = db.list().value();
    ASSERT_EQ(entries.size(), std::min<size_t>(schedules_.size(), 6));
    for (const TuningEntry& entry : entries) {
      EXPECT_EQ(entry.rejected.empty(), entry.schedule != schedules_[0]) << entry.schedule << " " << entry.rejected;
    }
    const TuningEntry* const bad = entry_of(entries, schedules_[0]);
    ASSERT_NE(bad, nullptr);
    EXPECT_TRUE(bad->rejected.starts_with("[trial] SumReduce")) << bad->rejected;
    EXPECT_NE(bad->rejected.find("(" + schedules_[0] + "): " + words), std::string::npos) << bad->rejected;
    EXPECT_NE(log.find("a kernel is left out from now on: " + bad->rejected), std::string::npos) << log;
    EXPECT_TRUE(device->usable().ok());
    const std::set<pid_t> processes = processes_of(name_of(schedules_[0], device->target()));
    EXPECT_FALSE(processes.empty());
    EXPECT_FALSE(processes.contains(getpid()));
  }

  WorkerOptions worker_{{fs::read_symlink("/proc/self/exe").string(), "--gtest_filter=CudaTrialWorker.DISABLED_serves",
                         "--gtest_also_run_disabled_tests"},
                        20,
                        0.5,
                        20};
  std::shared_ptr<const Graph> body_;
  std::vector<std::string> schedules_;
  int opened_ = 0;
};

TEST_F(CudaTrial, blames_an_illegal_address) { expect_blamed("illegal", "[cuda] a run of it failed: a reason (700)"); }

TEST_F(CudaTrial, blames_what_never_ends) { expect_blamed("hang", "it had not ended after 0.5 s"); }

TEST_F(CudaTrial, blames_what_takes_the_worker_with_it) {
  expect_blamed("crash", "its worker process was killed by signal 6 (Aborted)");
}

// Without a worker the process loses its GPU; the next one knows why.
TEST_F(CudaTrial, remembers_what_to_blame_for_other_processes) {
  for (const std::string what : {"illegal", "hang"}) {
    const std::string file = folder_ / (what + ".db");
    fs::remove(folder_ / "behaviour");
    fs::remove(folder_ / "launches");
    {
      const std::shared_ptr<CudaDevice> device = open(false);
      make(schedules_[1], what, device->target());
      TuningDb db = TuningDb::open(file).value();
      const Expected<std::vector<Tuned>> tuned = tune(*device, &db);
      ASSERT_FALSE(tuned.ok());
      EXPECT_TRUE(tuned.diag().message.starts_with("[trial] SumReduce")) << tuned.diag().str();
      EXPECT_NE(tuned.diag().message.find("(" + schedules_[1] + "): "), std::string::npos) << tuned.diag().str();
      EXPECT_NE(tuned.diag().message.find("this process can no longer use the GPU"), std::string::npos);
      const std::string why = what == "hang" ? "it had not ended after 0.5 s" : "a run of it failed: a reason (700)";
      EXPECT_NE(tuned.diag().message.find(why), std::string::npos) << tuned.diag().str();
      const std::vector<TuningEntry> entries = db.list().value();
      ASSERT_EQ(entries.size(), 1u) << "what was not run properly is not known";
      EXPECT_EQ(entries[0].schedule, schedules_[1]);
      EXPECT_FALSE(device->usable().ok());
      EXPECT_FALSE(device->memory()->allocate(4).ok());
    }
    fs::remove(folder_ / "launches");
    const std::shared_ptr<CudaDevice> next = open(false);
    TuningDb db = TuningDb::open(file).value();
    const Expected<std::vector<Tuned>> tuned = tune(*next, &db);
    ASSERT_TRUE(tuned.ok()) << tuned.diag().str();
    EXPECT_FALSE(launches().empty());
    EXPECT_TRUE(processes_of(name_of(schedules_[1], next->target())).empty());
  }
}

TEST_F(CudaTrial, does_not_blame_a_kernel_for_a_worker_that_was_killed) {
  const std::shared_ptr<CudaDevice> device = open();
  ASSERT_TRUE(tune(*device, nullptr).ok());
  const pid_t first = last_worker();
  ASSERT_NE(first, 0);
  ASSERT_EQ(kill(first, SIGKILL), 0);
  const Expected<std::vector<Tuned>> again = tune(*device, nullptr);
  ASSERT_TRUE(again.ok()) << again.diag().str();
  EXPECT_NE((*again)[0].schedule, "");
  EXPECT_NE(last_worker(), first);
}

TEST_F(CudaTrial, interprets_where_every_schedule_does_harm) {
  const std::shared_ptr<CudaDevice> device = open();
  for (const std::string& schedule : schedules_) make(schedule, "illegal", device->target());
  TuningDb db = TuningDb::open(":memory:").value();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(tune(*device, &db).value()[0].schedule, "");
  fs::remove(folder_ / "launches");
  EXPECT_EQ(tune(*device, &db).value()[0].schedule, "");
  ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(launches().empty());
  EXPECT_TRUE(device->usable().ok());
}

TEST_F(CudaTrial, comes_before_verification) {
  const std::shared_ptr<CudaDevice> device = open();
  make(schedules_[0], "illegal", device->target());
  std::vector<Program> programs;
  programs.push_back(search::alone(search::make_kernel(body_, schedules_[0], device->target()).value()).value());
  const std::unique_ptr<Executable> got = device->load(device->build(std::move(programs)).value()[0]).value();
  const std::unique_ptr<Executable> wanted = reference_executable(expand(*body_));
  const Expected<void> same = search::compare_executables(*body_, {}, *wanted, *got);
  ASSERT_FALSE(same.ok());
  EXPECT_TRUE(same.diag().message.starts_with("one of two fails: [trial] SumReduce")) << same.diag().str();
  EXPECT_TRUE(device->usable().ok());
}

bool is_there(pid_t process) { return kill(process, 0) == 0; }

TEST_F(CudaTrial, ends_a_worker_that_has_nothing_to_do) {
  worker_.idle_seconds = 0.2;
  const std::shared_ptr<CudaDevice> device = open();
  ASSERT_TRUE(tune(*device, nullptr).ok());
  const pid_t first = last_worker();
  usleep(1'000'000);
  const Expected<std::vector<Tuned>> again = tune(*device, nullptr);
  ASSERT_TRUE(again.ok()) << again.diag().str();
  EXPECT_NE(last_worker(), first);
  EXPECT_FALSE(is_there(first));
}

TEST_F(CudaTrial, ends_the_worker_with_the_device_or_where_memory_is_short) {
  std::shared_ptr<CudaDevice> device = open();
  ASSERT_TRUE(tune(*device, nullptr).ok());
  const pid_t first = last_worker();
  EXPECT_TRUE(is_there(first));
  EXPECT_FALSE(device->memory()->allocate(int64_t{1} << 40).ok());
  EXPECT_FALSE(is_there(first));
  ASSERT_TRUE(tune(*device, nullptr).ok());
  const pid_t second = last_worker();
  EXPECT_NE(second, first);
  EXPECT_TRUE(is_there(second));
  device.reset();
  EXPECT_FALSE(is_there(second));
}

TEST_F(CudaTrial, goes_on_without_a_worker_and_says_so_once) {
  const auto expect_said = [&](std::vector<std::string> command, const std::string& why) {
    worker_.command = std::move(command);
    worker_.start_seconds = 0.3;
    const std::shared_ptr<CudaDevice> device = open();
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(tune(*device, nullptr).ok());
    EXPECT_TRUE(tune(*device, nullptr).ok());
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(log, "[lumen] cuda: no worker process (" + why +
                       "): kernels are tried in this one, which does not survive all\n");
    EXPECT_EQ(last_worker(), 0);
  };
  expect_said({"/nowhere/lumen"}, "[cuda] /nowhere/lumen could not be run: No such file or directory");
  expect_said({"/bin/true"}, "/bin/true exited with status 0");
  expect_said({"/bin/sleep", "100"}, "/bin/sleep was not ready after 0.3 s");
  expect_said({}, "no program `lumen` beside this one or on the PATH");
}

TEST_F(CudaTrial, refuses_a_worker_of_another_version) {
  WorkerHello hello;
  hello.protocol = kWorkerProtocol + 1;
  KernelTrials trials(worker_, hello);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(trials.run({}, 1).value());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("the worker is of another version of Lumen"), std::string::npos) << log;
}

TEST_F(CudaTrial, is_what_this_process_then_runs) {
  const std::shared_ptr<CudaDevice> device = open();
  ASSERT_TRUE(tune(*device, nullptr).ok());
  std::map<std::string, std::set<std::string>> here, there;
  for (const LaunchLine& line : launches()) (line.process == getpid() ? here : there)[line.function].insert(line.what);
  EXPECT_FALSE(here.empty());
  EXPECT_EQ(here, there);
}

TEST_F(CudaTrial, is_left_out_where_memory_is_capped) {
  LibrarySearch search;
  search.driver = {library("capped", tests::working_driver(good_driver(), folder_.path()))};
  search.compiler = {library("compiler", tests::text_compiler(good_compiler()))};
  search.worker = worker_;
  const std::shared_ptr<CudaDevice> device = CudaDevice::open(0, 3 << 19, search).value();  // 1 MiB is in use
  ASSERT_TRUE(tune(*device, nullptr).ok());
  EXPECT_FALSE(launches().empty());
  EXPECT_EQ(last_worker(), 0);
}

// Every word that is an address in one of the buffers is named as such, and no other; in joint launches, too.
TEST_F(CudaTrial, names_every_address) {
  const std::shared_ptr<CudaDevice> device = open();
  Graph graph;
  const Tensor x = graph.input("x", {1, 512}, bf16);
  for (const char* const name : {"q", "k"}) {
    matmul(x, graph.input(std::string("w") + name, {512, 256}, bf16)).output(name);
  }
  exp(graph.input("z", {graph.dim("n", 1, 100), 64})).output("e");
  const std::shared_ptr<const Graph> plain = rewrite(graph).value().candidates[0].graph;
  Tuner tuner(*device, {{}, false, nullptr});
  std::vector<Program> programs;
  programs.push_back(search::lower(plain, search::FusionPolicy::never, tuner).value().program);
  const Binary binary = std::move(device->build(std::move(programs)).value()[0]);
  const Program& program = binary.program;
  const auto* const code = dynamic_cast<const CudaCode*>(binary.code.get());
  CallLaunches launches(program, *device);
  ASSERT_TRUE(launches.load(code).ok());
  std::vector<int64_t> sizes;
  DimValues dims;
  dims.set("n", 5);
  for (const uint32_t value : program.inner) sizes.push_back(program.values[value].bytes(dims).value());
  const std::vector<int64_t> scratch = launches.bind_sizes(dims, dims).value();
  sizes.insert(sizes.end(), scratch.begin(), scratch.end());
  const std::vector<int64_t> offsets = program.plan.offsets(sizes, 256);
  std::vector<Buffer> buffers;
  const auto add = [&](int64_t bytes) {
    return buffers.emplace_back(Buffer::make(device->memory(), bytes).value()).data();
  };
  const std::byte* const arena = add(offsets.back());
  const std::byte* const faults = add(static_cast<int64_t>(program.calls.size() * 8));
  const std::byte* const read_sizes = add(static_cast<int64_t>(launches.sizes().size_bytes()));
  EXPECT_EQ(launches.sizes().back(), 5) << "the last dim of the last kernel that has dims";
  launches.bind_addresses(arena, offsets, read_sizes, faults);
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const NodeId id : program.graph->inputs()) inputs.push_back(add((*program.graph)[id].type.bytes(dims).value()));
  for (const uint32_t value : program.outputs) outputs.push_back(add(program.values[value].bytes(dims).value()));
  launches.fill_places(inputs, outputs);
  std::vector<TrialRegion> regions;
  std::vector<Address> places;
  for (const Buffer& buffer : buffers) {
    regions.push_back({static_cast<uint64_t>(buffer.bytes()), ""});
    places.push_back(address(buffer.data()));
  }
  const Trial trial = launches.trial(code, regions, places).value();
  size_t joint = 0;
  for (const TrialLaunch& launch : trial.launches) {
    joint += launch.function.starts_with("joint2") ? 1 : 0;
    for (size_t word = 0; word < launch.arguments.size(); ++word) {
      const uint64_t value = launch.arguments[word];
      const auto named = std::ranges::find(launch.addresses, word, &TrialAddress::word);
      const bool is_address = std::ranges::any_of(buffers, [&](const Buffer& buffer) {
        return value >= address(buffer.data()) && value <= address(buffer.data() + buffer.bytes());
      });
      EXPECT_EQ(named != launch.addresses.end(), is_address) << launch.function << " word " << word;
      if (named == launch.addresses.end()) continue;
      EXPECT_EQ(places[named->region] + named->offset, value);
    }
  }
  EXPECT_GE(joint, 1u);
  size_t calls = 0;
  for (const Launched& each : launches.launched()) {
    EXPECT_EQ(each.first, calls);
    EXPECT_TRUE(launches.notes_its_end(each.first));
    calls += each.count;
  }
  EXPECT_EQ(calls, program.calls.size());
  EXPECT_LT(launches.launched().size(), calls) << "two products are one launch";
  EXPECT_FALSE(launches.trial(code, {regions[0]}, std::span(places).first(1)).ok()) << "addresses of nothing";
}

TEST(CudaTrialMessage, comes_back_whole_or_is_refused) {
  Trial trial;
  trial.forget = true;
  trial.objects.push_back({"key", "object"});
  trial.regions.push_back({100, "ab"});
  trial.launches.push_back({0, "f", 1, 2, 3, {4, 5}, {{1, 0, 7}}});
  const std::string bytes = encode(trial);
  const Trial back = decode_trial(bytes).value();
  EXPECT_EQ(encode(back), bytes);
  for (size_t k = 0; k < bytes.size(); ++k) EXPECT_FALSE(decode_trial(std::string_view(bytes).substr(0, k)).ok()) << k;
  for (const TrialAddress wrong : {TrialAddress{2, 0, 0}, TrialAddress{0, 1, 0}}) {
    trial.launches[0].addresses = {wrong};
    EXPECT_FALSE(decode_trial(encode(trial)).ok());
  }
  trial.launches[0].addresses.clear();
  trial.launches[0].object = 1;
  EXPECT_FALSE(decode_trial(encode(trial)).ok());
  MessageWriter answer;
  answer.number(3);
  answer.text("");
  EXPECT_FALSE(decode_answer(answer.bytes()).ok());
}

}  // namespace
}  // namespace lumen::cuda
