// The system's C compiler, and kernels made with it.
//
//   Compiler compiler = LUMEN_TRY(Compiler::find());
//   auto library = LUMEN_TRY(compiler.compile({{{"add", "void add(float* a, const float* b, long n) {...}"}}}));
//   auto* add = reinterpret_cast<void (*)(float*, const float*, long)>(LUMEN_TRY(library->symbol("add")));
//
// Nothing of it is global, and a Compiler may be used from several threads at once.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/cpu/cpu_features.h"
#include "lumen/backend/cpu/library.h"
#include "lumen/backend/cpu/made_objects.h"
#include "lumen/backend/cpu/object_cache.h"
#include "lumen/base/expected.h"

namespace lumen::cpu {

// Where a compiler is looked for.
struct CompilerSearch {
  std::string cc;    // a path, or a name in `path`; empty for the first of gcc, clang, cc that works
  std::string path;  // folders, with ':' between them
  std::chrono::milliseconds limit{10000};  // for the compiler to say its version

  static CompilerSearch from_flags();  // LUMEN_CC and PATH
};

// One kernel. `text` defines a function called `name` with C linkage, and `others`; the library has these only. Kernels
// share files: whatever else `text` declares at file scope has a name that no other kernel uses (what they share is in
// CompileOptions::prelude).
struct Source {
  std::string name;  // a C identifier, as the others
  std::string text;
  std::vector<std::string> others = {};
};

struct CompileOptions {
  std::string prelude;                      // stands before the kernels in every file
  std::vector<std::string> flags;           // after ours
  bool reuse = false;                       // what was compiled so before is only linked
  int jobs = 0;                             // compilers at once; 0 for one per usable core
  std::chrono::milliseconds limit{120000};  // for one run of the compiler
};

class Compiler {
 public:
  // An error says what was tried. Code is made for `features`, less what the compiler is too old for.
  // `cache` may be null: then nothing is kept.
  static Expected<Compiler> find(const CompilerSearch& search = CompilerSearch::from_flags(),
                                 const CpuFeatures& features = cpu(),
                                 std::shared_ptr<ObjectCache> cache = ObjectCache::from_flags());

  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }           // the first line that --version prints
  const std::vector<std::string>& flags() const { return flags_; }  // for every kernel
  const CpuFeatures& target() const { return target_; }             // what kernels may use

  // One library with all of them: from the cache, or made by a few compilers at once and one link. The sources' order
  // does not matter. An error of the compiler comes with its first error line, `where` naming the kernel (as file) and
  // the place in its text, and with the path of the C file, which is kept. With `reuse` the bytes of the library depend
  // on what this Compiler, or one that it was copied from, has compiled before; such a library is in no cache.
  Expected<std::shared_ptr<Library>> compile(std::span<const Source> sources, const CompileOptions& options = {}) const;

 private:
  Compiler() = default;

  std::string path_;
  std::string version_;
  std::vector<std::string> flags_;
  CpuFeatures target_;
  std::shared_ptr<ObjectCache> cache_;
  std::shared_ptr<MadeObjects> made_ = std::make_shared<MadeObjects>();
};

}  // namespace lumen::cpu
