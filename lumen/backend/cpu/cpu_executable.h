// Programs on the processor: kernels compiled with the system's compiler, run on a thread pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/thread_pool.h"
#include "lumen/backend/executable.h"
#include "lumen/backend/program.h"

namespace lumen::cpu {

// The pool that programs share unless they are given another; it lives while one of them does.
std::shared_ptr<ThreadPool> shared_pool();

// A program and the code of its kernels.
struct Binary {
  Program program;
  std::shared_ptr<Library> library;  // null when there is no code
  CpuFeatures target;                // what the code may use
};

// The kernels of all programs are compiled together; steps of the same name are the same code. `flags` come after the
// compiler's own.
Expected<std::vector<Binary>> build(std::vector<Program> programs, const Compiler& compiler,
                                    const std::vector<std::string>& flags = {});

Expected<std::unique_ptr<Executable>> make_executable(Binary binary, std::shared_ptr<ThreadPool> pool = shared_pool());

}  // namespace lumen::cpu
