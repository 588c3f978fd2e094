// Programs on the processor: kernels compiled with the system's compiler, run on a thread pool.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/matrix_library.h"
#include "lumen/backend/device.h"
#include "lumen/base/thread_pool.h"

namespace lumen::cpu {

// The pool that programs share unless they are given another; it lives while one of them does.
std::shared_ptr<ThreadPool> shared_pool();

class CpuCode : public Code {
 public:
  explicit CpuCode(std::shared_ptr<Library> library) : library_(std::move(library)) {}
  const std::string& object() const override { return library_->object(); }
  const Library& library() const { return *library_; }

 private:
  std::shared_ptr<Library> library_;
};

// With the functions of its steps; nothing for what only a library computes.
std::optional<Source> source_of(const KernelText& kernel);

// The kernels of all programs are compiled together; steps of the same name are the same code. `flags` come after the
// compiler's own. `reuse` is the compiler's.
Expected<std::vector<Binary>> build(std::vector<Program> programs, const Compiler& compiler,
                                    const std::vector<std::string>& flags = {}, bool reuse = false);

// `matrices` is for programs that need it; an error where it is missed.
Expected<std::unique_ptr<Executable>> make_executable(Binary binary, std::shared_ptr<ThreadPool> pool,
                                                      std::shared_ptr<const MatrixLibrary> matrices);
// With the pool and the library of the process.
Expected<std::unique_ptr<Executable>> make_executable(Binary binary);

}  // namespace lumen::cpu
