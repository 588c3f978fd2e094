// Runs of a GPU that are begun and finished apart, over a driver that writes down what it is asked.
#include <fstream>

#include "lumen/backend/buffer.h"
#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/backend/cuda/cuda_executable.h"
#include "lumen/frontend/ops.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"
#include "tests/compile/working_driver.h"

namespace lumen::cuda {
namespace {

class CudaRuns : public tests::CudaFakes {
 protected:
  CudaRuns() {
    const std::string head =
        "#include <stdio.h>\nstatic void say(const char* what, void* which) {\n  FILE* f = fopen(\"" + folder_.path() +
        "/calls\", \"a\");\n  fprintf(f, \"%s %p\\n\", what, which);\n  fclose(f);\n}\n";
    std::string text = tests::working_driver(good_driver(), folder_.path());
    const auto replace = [&](const std::string& symbol, const std::string& parameters, const std::string& body) {
      text = tests::with(std::move(text), symbol, "int " + symbol + "(" + parameters + ") { " + body + " return 0; }");
    };
    replace("cuGraphInstantiateWithFlags", "char** exec, void* g, unsigned long long f",
            "static char e[9]; static int n; *exec = e + n++;");
    replace("cuGraphLaunch", "void* exec, void* s", "say(\"launch\", exec);");
    replace("cuEventCreate", "char** event, unsigned flags", "static char e[9]; static int n; *event = e + n++;");
    replace("cuEventRecordWithFlags", "void* event, void* s, unsigned f", "say(\"record\", event);");
    replace("cuEventSynchronize", "void* event", "say(\"wait\", event);");
    const std::string refusal = "return 500;";  // of a kernel that is not there
    text.replace(text.find(refusal), refusal.size(), "abort();");
    LibrarySearch search;
    search.driver = {library("driver", head + text)};
    search.compiler = {library("compiler", tests::text_compiler(good_compiler()))};
    search.worker.command = {};
    device_ = CudaDevice::open(0, 0, search).value();

    Graph graph;
    sum(graph.input("x", {4, 64}), {-1}).output("y");
    search::Tuner tuner(*device_, {{}, false, nullptr});
    const std::shared_ptr<const Graph> plain = rewrite(graph).value().candidates[0].graph;
    std::vector<Program> programs;
    programs.push_back(search::lower(plain, search::FusionPolicy::always, tuner).value().program);
    executable_ = device_->load(std::move(device_->build(std::move(programs)).value()[0])).value();
    EXPECT_TRUE(executable_->prepare({}).ok());
    for (const int64_t bytes : {4 * 64 * 4, 4 * 4, 4 * 4}) {
      buffers_.push_back(Buffer::make(device_->memory(), bytes).value());
    }
  }

  Expected<void> start(size_t output) {
    const void* const in[] = {buffers_[0].data()};
    void* const out[] = {buffers_[1 + output].data()};
    return executable_->start(in, out);
  }
  // The calls since the last time, with names in place of addresses: what was met first is a.
  std::string calls() {
    std::ifstream file(folder_ / "calls");
    file.seekg(read_);
    std::string said;
    for (std::string what, which; file >> what >> which;) {
      const auto [name, is_new] = names_.try_emplace(which, 'a' + names_.size());
      said += what + " " + static_cast<char>(name->second) + ", ";
      read_ = file.tellg();
    }
    return said;
  }

  std::shared_ptr<CudaDevice> device_;
  std::unique_ptr<Executable> executable_;
  std::vector<Buffer> buffers_;
  std::map<std::string, size_t> names_;
  std::streamoff read_ = 0;
};

TEST_F(CudaRuns, two_are_under_way) {
  ASSERT_TRUE(start(0).ok());
  ASSERT_TRUE(start(1).ok());
  EXPECT_EQ(calls(), "launch a, record b, launch c, record d, ");
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_EQ(calls(), "wait b, ") << "the first alone";
  const std::byte* const first = executable_->fetched(0);
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(start(0).ok());
  EXPECT_EQ(calls(), "launch a, record b, ") << "captured once";
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_EQ(calls(), "wait d, ");
  EXPECT_NE(executable_->fetched(0), first) << "each has a room of its own";
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_EQ(executable_->fetched(0), first);
}

TEST_F(CudaRuns, two_that_are_profiled_are_under_way) {
  executable_->set_profiling(true);
  ASSERT_TRUE(start(0).ok());
  ASSERT_TRUE(start(1).ok());
  const std::string said = calls();
  EXPECT_EQ(said.find("wait"), std::string::npos) << said;
  ASSERT_TRUE(executable_->finish().ok());
  const std::byte* const first = executable_->fetched(0);
  ASSERT_EQ(executable_->profile().size(), 1U);
  const CallTime before = executable_->profile()[0];
  ASSERT_TRUE(executable_->finish().ok());
  EXPECT_NE(executable_->fetched(0), first);
  const CallTime after = executable_->profile()[0];
  EXPECT_GE(after.start, before.start + before.seconds) << "one begins when the other has ended";
}

// The driver ends this process where it is asked for what is not there.
TEST_F(CudaRuns, kernels_are_asked_for_where_they_are) {
  const std::vector<std::string> objects = {"k_first k_second_2", "k_second"};
  const std::shared_ptr<const CudaCode> code = CudaCode::load(device_, objects).value();
  EXPECT_TRUE(code->function("k_first", 0).ok());
  EXPECT_TRUE(code->function("k_second", 0).ok());
  EXPECT_EQ(code->object_with("k_second").value(), "k_second");
  EXPECT_EQ(code->function("k_", 0).diag().message, "[cuda] the code has no kernel \"k_\"");
}

}  // namespace
}  // namespace lumen::cuda
