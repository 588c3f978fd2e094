// Compilers turn loops over the functions into vector code and accept both texts without a warning; comments tell the
// truth.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "lumen/codegen/scalar.h"
#include "tests/codegen/compiled.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

bool is_there(const std::string& program) { return run_command("command -v " + program).status == 0; }

// One loop per function, each on a line of its own; `line_of` gets the name of the function on each such line.
std::string loops(std::map<int, std::string>& line_of) {
  std::string text = scalar_prelude(Syntax::c);
  const auto add = [&](const std::string& name, std::string_view type, std::string_view out, int arity) {
    text += fmt::format("void loop_{0}(const {1}* restrict x, const {1}* restrict y, {2}* restrict out, long n) {{\n",
                        name, type, out);
    line_of[static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1] = name;
    text += fmt::format("for (long k = 0; k < n; ++k) out[k] = lumen_{}(x[k]{});\n(void)y;\n}}\n", name,
                        arity == 2 ? ", y[k]" : "");
  };
  for (const ScalarFunction& function : scalar_functions()) {
    if (!function.vectorises) continue;
    const bool compares = function.name == "lt" || function.name == "eq";
    for (const auto& [suffix, type] : {std::pair{"f32", "float"}, std::pair{"f64", "double"}}) {
      add(fmt::format("{}_{}", function.name, suffix), type, compares ? "uint8_t" : type, function.arity);
    }
  }
  for (const DTypeInfo& row : all_dtypes()) {
    // The loops of f32 and f64 become calls of memcpy.
    if (row.cls != DTypeClass::floating || is_packed(row.dtype) || row.dtype == f32 || row.dtype == f64) continue;
    add(fmt::format("load_{}", row.name), storage_type(row.dtype), compute_type(row.dtype), 1);
    add(fmt::format("store_{}", row.name), compute_type(row.dtype), storage_type(row.dtype), 1);
  }
  return text;
}

// Vectors of 16 bytes are too short for a sine's table; gcc 12 rounds to f16 by scalar instructions there.
#if defined(__aarch64__)
const std::set<std::string> kScalarByGcc = {"sin_f32", "sin_f64", "store_f16"}, kScalarByClang = {"sin_f64"};
#else
const std::set<std::string> kScalarByGcc, kScalarByClang;
#endif

void expect_vector_loops(const std::string& compiler, const std::string& flags, const std::string& pattern,
                         const std::set<std::string>& but) {
  if (!is_there(compiler)) GTEST_SKIP() << compiler << " not found";
  std::map<int, std::string> line_of;
  const CompiledText compiled(loops(line_of), LUMEN_NATIVE " -Wall -Wextra -Werror " + flags, compiler);
  std::set<int> lines;
  const std::regex expression(pattern);
  const std::string& messages = compiled.messages();
  for (std::sregex_iterator at(messages.begin(), messages.end(), expression), end; at != end; ++at) {
    lines.insert(std::stoi((*at)[1]));
  }
  EXPECT_GT(line_of.size(), 20u);
  for (const auto& [line, name] : line_of) {
    EXPECT_TRUE(lines.contains(line) || but.contains(name)) << name << " stays scalar";
  }
}

TEST(Vectorise, gcc_vectorises_every_float_function) {
  expect_vector_loops("gcc", "-fopt-info-vec-optimized", R"(k\.c:(\d+):\d+: optimized: loop vectorized)", kScalarByGcc);
}

TEST(Vectorise, clang_vectorises_every_float_function) {
  expect_vector_loops("clang", "-Rpass=loop-vectorize", R"(k\.c:(\d+):\d+: remark: vectorized loop)", kScalarByClang);
}

TEST(Prelude, comments_state_the_errors_of_the_table) {
  const std::string text = scalar_prelude(Syntax::c);
  for (const ScalarFunction& function : scalar_functions()) {
    if (function.ulp_f32 <= 0.5) continue;
    for (const auto& [ulp, head] :
         {std::pair{function.ulp_f32, "float lumen_{}_f32("}, std::pair{function.ulp_f64, "double lumen_{}_f64("}}) {
      const std::string expected =
          fmt::format("// Error: {} ulp.\nLUMEN_FN ", ulp) + fmt::format(fmt::runtime(head), function.name);
      EXPECT_NE(text.find(expected), std::string::npos) << expected;
    }
  }
}

TEST(Prelude, compiles_for_cuda) {
  if (!is_there("nvcc")) GTEST_SKIP() << "nvcc not found: the CUDA text is not compiled here";
  const lumen::tests::ScratchDir dir;
  std::string text = scalar_prelude(Syntax::cuda);
  for (const ScalarFunction& function : scalar_functions()) {
    for (const auto& [suffix, type] : {std::pair{"f32", "float"}, std::pair{"f64", "double"}}) {
      text += fmt::format("__global__ void {1}_{2}(const {0}* x, {0}* out) {{ out[0] = lumen_{1}_{2}(x[0]{3}); }}\n",
                          type, function.name, suffix, function.arity == 2 ? ", x[1]" : "");
    }
  }
  FILE* const file = std::fopen((dir / "k.cu").c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(text.c_str(), file);
  std::fclose(file);
  const CommandResult result =
      run_command(fmt::format("cd {} && nvcc -Werror all-warnings -cubin -arch=sm_90 k.cu -o k.cubin", dir.path()));
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(std::filesystem::exists(dir / "k.cubin"));
}

}  // namespace
}  // namespace lumen
