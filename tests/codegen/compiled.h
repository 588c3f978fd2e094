// C text compiled by the system compiler into a shared library, for as long as the object lives.
#pragma once

#include <string>
#include <vector>

// What compilers call the processor of this machine, one of its kind that is some years old, and the first with its
// widest vectors.
#if defined(__x86_64__)
#define LUMEN_NATIVE "-march=native"
#define LUMEN_OLDER "-mavx2 -mfma -mf16c"
#define LUMEN_WIDE LUMEN_NATIVE " -mprefer-vector-width=512"
#else
#define LUMEN_NATIVE "-mcpu=native"
#define LUMEN_OLDER ""
#define LUMEN_WIDE LUMEN_NATIVE
#endif

namespace lumen {

class CompiledText {
 public:
  // A failure to compile or load is a test failure, and then function() gives null.
  CompiledText(const std::string& source, const std::string& flags, const std::string& compiler = "cc");
  ~CompiledText();
  CompiledText(const CompiledText&) = delete;
  CompiledText& operator=(const CompiledText&) = delete;

  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(symbol(name));
  }
  // What the compiler printed.
  const std::string& messages() const { return messages_; }

 private:
  void* symbol(const std::string& name) const;
  void* library_ = nullptr;
  std::string messages_;
};

// The exit status, and what the command printed to either stream.
struct CommandResult {
  int status = -1;
  std::string output;
};
CommandResult run_command(const std::string& command);

// scalar_c_flags(), separated by spaces.
std::string prelude_flags();

// The ways to compile that the stated errors hold for: contracted, not contracted, and without fused multiply-add.
const std::vector<std::string>& flag_sets();

}  // namespace lumen
