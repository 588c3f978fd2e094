#include "lumen/backend/cpu/compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "tests/backend/cpu/fake_compiler.h"
#include "tests/support/scratch_dir.h"

namespace lumen::cpu {

using lumen::tests::ScratchDir;
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

CompilerSearch search_for(std::string cc) {
  CompilerSearch search = CompilerSearch::from_flags();
  if (!cc.empty()) search.cc = std::move(cc);
  return search;
}

Compiler system_compiler(const std::string& cc = "", std::shared_ptr<ObjectCache> cache = nullptr) {
  return Compiler::find(search_for(cc), cpu(), std::move(cache)).value();
}

template <class F>
F* function(const Library& library, const std::string& name) {
  return reinterpret_cast<F*>(library.symbol(name).value());
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The path in the note "source: PATH", checked to exist; the folder is removed with the returned text read.
std::string kept_source(const Diag& diag) {
  for (const std::string& note : diag.notes) {
    if (!note.starts_with("source: ")) continue;
    const std::string path = note.substr(8);
    std::string text = text_of(path);
    EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path).parent_path()), fs::directory_iterator()), 1);
    fs::remove_all(fs::path(path).parent_path());
    return text;
  }
  ADD_FAILURE() << "no source kept: " << diag.str();
  return {};
}

TEST(FindCompiler, says_what_was_tried) {
  const ScratchDir dir;
  CompilerSearch search;
  search.path = dir.path() + ":" + (dir / "no-such-folder");
  const auto none = Compiler::find(search, cpu(), nullptr);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.diag().str(), "[cpu] no C compiler found: tried gcc, clang, cc in PATH=\"" + search.path +
                                   "\"; install one or set LUMEN_CC\n  note: gcc: no such program\n"
                                   "  note: clang: no such program\n  note: cc: no such program");
  search.cc = "/no/such/cc";
  EXPECT_EQ(Compiler::find(search, cpu(), nullptr).diag().str(),
            "[cpu] no C compiler found: LUMEN_CC is \"/no/such/cc\"\n  note: /no/such/cc: no such program");
}

TEST(FindCompiler, one_that_was_asked_for_is_not_replaced) {
  const ScratchDir dir;
  std::ofstream(dir / "broken") << "#!/bin/sh\nexit 3\n";
  chmod((dir / "broken").c_str(), 0755);
  const auto found = Compiler::find(search_for(dir / "broken"), cpu(), nullptr);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.diag().notes.at(0), "`" + (dir / "broken") + " --version` exited with status 3");
}

TEST(FindCompiler, goes_on_to_the_next_when_one_is_broken_or_hangs) {
  const ScratchDir dir;
  std::ofstream(dir / "gcc") << "#!/bin/sh\nexit 1\n";
  std::ofstream(dir / "clang") << "#!/bin/sh\nsleep 100\n";
  for (const char* name : {"clang", "gcc"}) chmod((dir / name).c_str(), 0755);
  fake_compiler(dir / "cc", "exit 0");
  CompilerSearch search{"", dir.path() + ":/usr/bin:/bin", milliseconds(300)};
  const auto found = Compiler::find(search, cpu(), nullptr);
  ASSERT_TRUE(found.ok()) << found.diag().str();
  EXPECT_EQ(found->path(), dir / "cc");
  EXPECT_EQ(found->version(), "fake 1.0");
  fs::remove(dir / "cc");
  search.path = dir.path();
  EXPECT_NE(Compiler::find(search, cpu(), nullptr).diag().str().find("did not end within 0.3 s and was killed"),
            std::string::npos);
}

TEST(FindCompiler, leaves_out_what_the_compiler_does_not_know) {
  CpuFeatures full;
  full.avx2 = full.avx512 = full.avx512_bf16 = full.avx512_fp16 = full.avx512_vnni = true;
  full.amx_tile = full.amx_bf16 = full.amx_int8 = true;
  full.level = Level::amx;
  const ScratchDir dir;
  const auto with = [&](const std::string& unknown) {
    const std::string body = "case \"$*\" in *" + unknown + "*) exit 1;; esac";
    return Compiler::find(search_for(fake_compiler(dir / "old", body)), full, nullptr).value();
  };
  const auto has = [](const Compiler& c, const std::string& flag) {
    return std::ranges::find(c.flags(), flag) != c.flags().end();
  };
  const Compiler knows_all = with("-mavx1024");
  EXPECT_EQ(knows_all.target().level, Level::amx);
  EXPECT_TRUE(has(knows_all, "-mamx-tile") && has(knows_all, "-mavx512fp16") && has(knows_all, "-mavx2"));
  const Compiler no_tiles = with("-mamx-tile");
  EXPECT_EQ(no_tiles.target().level, Level::avx512);
  EXPECT_TRUE(no_tiles.target().avx512_fp16 && has(no_tiles, "-mavx512fp16") && !has(no_tiles, "-mamx-int8"));
  const Compiler no_halves = with("-mavx512fp16");
  EXPECT_EQ(no_halves.target().level, Level::amx);
  EXPECT_FALSE(no_halves.target().avx512_fp16 || has(no_halves, "-mavx512fp16"));
  const Compiler old = with("-mavx512f");  // fp16's name starts like that, too
  EXPECT_EQ(old.target().level, Level::avx2);
  EXPECT_FALSE(has(old, "-mavx512f") || has(old, "-mavx512vnni") || has(old, "-mamx-tile"));
  EXPECT_TRUE(has(old, "-mavx2"));
}

TEST(FindCompiler, leaves_out_products_of_bytes_that_the_compiler_does_not_know) {
  CpuFeatures arm;
  arm.dotprod = true;
  const ScratchDir dir;
  const std::string flag = "-march=armv8.2-a+dotprod";
  for (const bool knows : {true, false}) {
    const std::string body = knows ? "true" : "case \"$*\" in *dotprod*) exit 1;; esac";
    const Compiler found = Compiler::find(search_for(fake_compiler(dir / "cc", body)), arm, nullptr).value();
    EXPECT_EQ(found.target().dotprod, knows);
    EXPECT_EQ(std::ranges::count(found.flags(), flag), knows ? 1 : 0);
  }
}

class EachCompiler : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto found = Compiler::find(search_for(GetParam()), cpu(), nullptr);
    if (!found) GTEST_SKIP() << found.diag().str();
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, EachCompiler, ::testing::Values("clang", "gcc"),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(EachCompiler, an_error_names_kernel_and_place) {
  const Compiler compiler = system_compiler(GetParam());
  const std::vector<Source> sources = {{"good", "int good(void) { return 1; }"},
                                       {"bad", "int bad(void)\n{\n  return missing_name;\n}"}};
  for (const int jobs : {1, 2}) {
    CompileOptions options;
    options.jobs = jobs;
    options.prelude = "typedef float f32;\n\n\n";
    const auto result = compiler.compile(sources, options);
    ASSERT_FALSE(result.ok());
    const Diag& diag = result.diag();
    EXPECT_EQ(diag.where.file, "bad");
    EXPECT_EQ(diag.where.line, 3);
    EXPECT_EQ(diag.where.column, 10);
    EXPECT_TRUE(diag.message.starts_with("[cpu] error: ")) << diag.str();
    EXPECT_NE(diag.message.find("missing_name"), std::string::npos);
    EXPECT_TRUE(diag.notes.at(0).starts_with("command: " + compiler.path()));
    EXPECT_NE(kept_source(diag).find("return missing_name;"), std::string::npos);
  }
}

TEST_P(EachCompiler, a_function_that_does_not_exist_is_an_error) {
  const auto result =
      system_compiler(GetParam())
          .compile(std::vector<Source>{
              {"calls", "void nobody_defines_this(void); void calls(void) { nobody_defines_this(); }"}});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.diag().str().find("nobody_defines_this"), std::string::npos) << result.diag().str();
  kept_source(result.diag());
}

TEST_P(EachCompiler, kernels_compute) {
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> draw(-2, 2);
  std::vector<Source> sources;
  for (int k = 0; k < 7; ++k) {
    const std::string name = "scale" + std::to_string(k), factor = std::to_string(k);
    sources.push_back({name, "void " + name + "(f32* restrict y, const f32* restrict x, long n) {\n" +
                                 std::string(static_cast<size_t>(k) * 50, ' ') +
                                 "for (long i = 0; i < n; ++i) y[i] = twice(x[i]) * " + factor + ".0f;\n}"});
  }
  sources.push_back({"sine", "#include <math.h>\ndouble sine(double x) { return sin(x); }"});
  for (const int jobs : {1, 3, 64}) {
    CompileOptions options;
    options.jobs = jobs;
    options.prelude = "typedef float f32;\nstatic inline f32 twice(f32 x) { return x + x; }";
    const auto library = system_compiler(GetParam()).compile(sources, options).value();
    for (const int n : {1, 15, 16, 17, 1003}) {
      std::vector<float> x(static_cast<size_t>(n)), y(static_cast<size_t>(n) + 1, -77.0F);
      for (float& value : x) value = draw(random);
      for (int k = 0; k < 7; ++k) {
        function<void(float*, const float*, long)>(*library, "scale" + std::to_string(k))(y.data(), x.data(), n);
        for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] * 2 * static_cast<float>(k));
        ASSERT_EQ(y.back(), -77.0F);
      }
    }
    EXPECT_NEAR(function<double(double)>(*library, "sine")(0.5), 0.479425538604203, 1e-15);
    const auto missing = library->symbol("scale7");
    ASSERT_FALSE(missing.ok());
    EXPECT_TRUE(missing.diag().message.starts_with("[cpu] no kernel \"scale7\"")) << missing.diag().str();
  }
}

TEST_P(EachCompiler, code_is_for_the_level_that_was_asked_for) {
  const std::vector<Source> sources = {
      {"width",
       "int width(void) {\n#if defined(__AMX_TILE__) || defined(__AMXTILE__)\nreturn 3;\n"
       "#elif defined(__AVX512F__)\nreturn 2;\n#elif defined(__AVX2__)\nreturn 1;\n"
       "#else\nreturn 0;\n#endif\n}"}};
  const ScratchDir dir;
  const auto cache = std::make_shared<ObjectCache>(dir.path(), 1 << 20);  // one for all: the level is in the key
  for (int level = 0; level <= static_cast<int>(cpu().level); ++level) {
    const CpuFeatures features = cpu().as_if(static_cast<Level>(level)).value();
    const Compiler compiler = Compiler::find(search_for(GetParam()), features, cache).value();
    const auto library = compiler.compile(sources).value();
    EXPECT_EQ(function<int()>(*library, "width")(), static_cast<int>(compiler.target().level));
  }
}

TEST(Compile, names_are_checked_before_anything_runs) {
  const Compiler compiler = system_compiler();
  const auto message = [&](std::vector<Source> sources) { return compiler.compile(sources).diag().str(); };
  EXPECT_EQ(message({}), "[cpu] no kernels to compile");
  EXPECT_EQ(message({{"a-b", ""}}), "[cpu] the kernel name \"a-b\" is not a C identifier");
  EXPECT_EQ(message({{"1a", ""}}), "[cpu] the kernel name \"1a\" is not a C identifier");
  EXPECT_EQ(message({{"", ""}}), "[cpu] the kernel name \"\" is not a C identifier");
  EXPECT_EQ(message({{"x", "int x;"}, {"y", ""}, {"x", ""}}), "[cpu] two kernels are called \"x\"");
}

// The script hangs in a grandchild; when that is not killed, too, its sleep would hold the test's folder.
TEST(Compile, a_hanging_compiler_is_killed) {
  const ScratchDir dir;
  const Compiler compiler = system_compiler(fake_compiler(
      dir / "cc", "case \"$*\" in *-fsyntax-only*) exit 0;; esac\nsleep 1000 & echo $! > " + (dir / "pid") + "; wait"));
  CompileOptions options;
  options.limit = milliseconds(500);
  const auto result = compiler.compile(std::vector<Source>{{"f", "int f;"}}, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diag().message, "[cpu] the C compiler did not end within 0.5 s and was killed");
  EXPECT_EQ(kept_source(result.diag()), "#line 1 \"f\"\nint f;\n");
  const std::string pid = text_of(dir / "pid");
  ASSERT_FALSE(pid.empty());
  // Gone, or dead and not yet collected by whoever inherits orphans here; a busy machine takes a while to kill it.
  const auto is_gone = [](const std::string& stat) { return stat.empty() || stat.find(") Z ") != std::string::npos; };
  const std::string file = "/proc/" + pid.substr(0, pid.find('\n')) + "/stat";
  for (int k = 0; k < 100 && !is_gone(text_of(file)); ++k) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(is_gone(text_of(file))) << text_of(file);
}

TEST(Compile, a_killed_or_silent_compiler_is_an_error) {
  const ScratchDir dir;
  const std::string accept = "case \"$*\" in *-fsyntax-only*) exit 0;; esac\n";
  const auto message = [&](const std::string& body) {
    const auto result =
        system_compiler(fake_compiler(dir / "cc", accept + body)).compile(std::vector<Source>{{"f", "int f;"}});
    if (result.ok()) return std::string("compiled");
    kept_source(result.diag());
    return result.diag().message;
  };
  EXPECT_EQ(message("kill -9 $$"), "[cpu] the C compiler was killed by signal 9 (Killed)");
  EXPECT_EQ(message("exit 4"), "[cpu] the C compiler exited with status 4");
  EXPECT_EQ(message("echo strange; echo more; exit 4"), "[cpu] strange");
  EXPECT_TRUE(message("exit 0").starts_with("[cpu] cannot read ")) << message("exit 0");  // nothing was written
  EXPECT_TRUE(message("for a; do last=$o; [ \"$p\" = -o ] && echo junk > \"$a\"; p=$a; done")
                  .starts_with("[cpu] cannot load "));
}

TEST(Compile, a_second_time_needs_no_compiler) {
  const ScratchDir dir;
  const auto cache = std::make_shared<ObjectCache>(dir / "cache", 1 << 20);
  const Compiler real = system_compiler();
  const std::string count = "echo x >> " + (dir / "count") + "\nexec " + real.path() + " \"$@\"";
  const Compiler counting = system_compiler(fake_compiler(dir / "cc", count), cache);
  const auto runs = [&] { return text_of(dir / "count").size() / 2; };
  std::vector<Source> sources = {{"one", "int one(void) { return 1; }"}, {"two", "int two(void) { return 2; }"}};
  CompileOptions options;
  options.jobs = 1;
  const auto value = [&](const std::string& name) {
    return function<int()>(*counting.compile(sources, options).value(), name)();
  };
  const size_t asked = runs();
  EXPECT_EQ(value("one"), 1);
  EXPECT_EQ(runs(), asked + 2);  // a file and a link
  std::ranges::reverse(sources);
  options.jobs = 2;
  EXPECT_EQ(value("two"), 2);
  EXPECT_EQ(runs(), asked + 2);  // order and jobs do not matter
  sources[0].text = "int two(void) { return 22; }";
  EXPECT_EQ(value("two"), 22);
  EXPECT_EQ(value("one"), 1);
  EXPECT_EQ(runs(), asked + 5);  // two files and a link
  options.prelude = "/* other */";
  EXPECT_EQ(value("two"), 22);
  options.flags = {"-DUNUSED"};
  EXPECT_EQ(value("two"), 22);
  EXPECT_EQ(runs(), asked + 11);
  // Damaged, or whole and not a library: made again, and nobody notices.
  for (const auto& entry : fs::directory_iterator(dir / "cache")) fs::resize_file(entry.path(), 100);
  EXPECT_EQ(value("one"), 1);
  EXPECT_EQ(runs(), asked + 14);
  EXPECT_EQ(value("one"), 1);
  EXPECT_EQ(runs(), asked + 14);
}

TEST(Compile, what_was_compiled_is_linked_into_other_libraries) {
  const ScratchDir dir;
  const Compiler real = system_compiler();
  const std::string count = "echo \"$*\" >> " + (dir / "count") + "\nexec " + real.path() + " \"$@\"";
  const Compiler compiler = system_compiler(fake_compiler(dir / "cc", count));
  CompileOptions options;
  options.jobs = 1;
  options.reuse = true;
  const auto compiled = [&] {
    const std::string text = text_of(dir / "count");
    size_t files = 0;
    for (size_t at = text.find("kernels-"); at != std::string::npos; at = text.find("kernels-", at + 1)) ++files;
    return files / 2;  // the C file and its object
  };
  const Source sources[] = {
      {"one", "static int table[3] = {1, 2, 3}; int one(int k) { return table[k]; }"},
      {"two", "int two(int k) { return 2 + k; }"},
      {"three", "int three(int k) { return 3 * k; } int more(int k) { return 30 * k; }", {"more"}}};
  const auto both = compiler.compile(std::span(sources, 2), options).value();
  EXPECT_EQ(compiled(), 1U);
  const auto two = compiler.compile(std::span(sources + 1, 1), options).value();
  EXPECT_EQ(compiled(), 1U);
  const auto others = Compiler(compiler).compile(std::span(sources + 1, 2), options).value();
  EXPECT_EQ(compiled(), 2U);
  EXPECT_EQ(function<int(int)>(*both, "one")(2), 3);
  EXPECT_EQ(function<int(int)>(*two, "two")(5), 7);
  EXPECT_EQ(function<int(int)>(*others, "two")(6), 8);
  EXPECT_EQ(function<int(int)>(*others, "three")(6), 18);
  EXPECT_EQ(function<int(int)>(*others, "more")(6), 180);
  // What is in the same object stays there.
  EXPECT_FALSE(two->symbol("one").ok());
  EXPECT_LT(two->object().size(), both->object().size());
  // All three, from two objects.
  const auto all = compiler.compile(sources, options).value();
  EXPECT_EQ(compiled(), 2U);
  EXPECT_EQ(function<int(int)>(*all, "one")(0) + function<int(int)>(*all, "three")(1), 4);
  // What is to be kept does not depend on what was compiled before.
  options.reuse = false;
  const auto alone = system_compiler(real.path()).compile(sources, options).value();
  EXPECT_EQ(compiler.compile(sources, options).value()->object(), alone->object());
  EXPECT_EQ(compiled(), 3U);
}

}  // namespace
}  // namespace lumen::cpu
