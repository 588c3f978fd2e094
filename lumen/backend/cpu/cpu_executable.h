// Programs on the processor: kernels compiled with the system's compiler, run on a thread pool.
#pragma once

#include <memory>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/thread_pool.h"
#include "lumen/backend/executable.h"
#include "lumen/backend/program.h"

namespace lumen::cpu {

// The pool that programs share unless they are given another; it lives while one of them does.
std::shared_ptr<ThreadPool> shared_pool();

// Compiles the kernels of a program; the names of their steps are unique in it.
Expected<std::unique_ptr<Executable>> make_executable(Program program, const Compiler& compiler,
                                                      std::shared_ptr<ThreadPool> pool = shared_pool());

}  // namespace lumen::cpu
