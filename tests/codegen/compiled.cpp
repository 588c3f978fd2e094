#include "tests/codegen/compiled.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "lumen/codegen/scalar.h"
#include "tests/support/scratch_dir.h"

namespace lumen {

CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> part;
  while (const size_t got = std::fread(part.data(), 1, part.size(), pipe)) result.output.append(part.data(), got);
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

CompiledText::CompiledText(const std::string& source, const std::string& flags, const std::string& compiler) {
  const lumen::tests::ScratchDir dir;
  std::ofstream(dir / "k.c") << source;
  const std::string command =
      fmt::format("cd {} && {} -O3 {} {} -fPIC -shared k.c -o k.so -lm", dir.path(), compiler, prelude_flags(), flags);
  const CommandResult result = run_command(command);
  messages_ = result.output;
  EXPECT_EQ(result.status, 0) << command << "\n" << messages_;
  if (result.status != 0) return;
  library_ = ::dlopen((dir / "k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library_, nullptr) << ::dlerror();
}

CompiledText::~CompiledText() {
  if (library_ != nullptr) ::dlclose(library_);
}

void* CompiledText::symbol(const std::string& name) const {
  void* const found = library_ == nullptr ? nullptr : ::dlsym(library_, name.c_str());
  EXPECT_NE(found, nullptr) << name;
  return found;
}

std::string prelude_flags() { return fmt::format("{}", fmt::join(scalar_c_flags(), " ")); }

const std::vector<std::string>& flag_sets() {
  static const std::vector<std::string> kSets = {LUMEN_WIDE " -ffp-contract=fast", LUMEN_NATIVE " -ffp-contract=off",
                                                 "-ffp-contract=off"};
  return kSets;
}

}  // namespace lumen
