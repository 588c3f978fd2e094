// The CUDA driver and its run-time compiler, found when the program runs: nothing of CUDA is needed to build Lumen, and
// the same program runs where there is none.
//
// Types and constants are those of the driver's interface, which is stable; only what is used is here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lumen/backend/cuda/worker_process.h"
#include "lumen/base/expected.h"

namespace lumen::cuda {

using Result = int;  // 0 is success
using DeviceNumber = int;
using Address = uint64_t;
inline Address address(const void* data) { return reinterpret_cast<Address>(data); }
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using GraphHandle = struct GraphTag*;
using GraphExec = struct GraphExecTag*;

enum class Attribute : int {
  l2_bytes = 38,
  multiprocessors = 16,
  major = 75,
  minor = 76,
  shared_bytes_optin = 97,
};
constexpr int kFunctionSharedBytes = 8;  // the attribute: most dynamic shared memory
constexpr unsigned kNonBlocking = 1;     // a stream beside the default one
constexpr unsigned kEventWithoutTime = 2;
constexpr unsigned kEventExternal = 1;  // recorded within a graph, read outside
constexpr int kCaptureThreadLocal = 1;
constexpr Result kOutOfMemory = 2;
constexpr Result kNotReady = 600;
constexpr const char* kARun = "a run of it";        // what fails when a kernel does, whichever call tells
constexpr int64_t kSharedWithoutAsking = 48 << 10;  // bytes that a block may have without kFunctionSharedBytes

// The driver's own layout.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char room[64];
    int value;
  };
};
struct LaunchConfig {
  unsigned blocks[3];
  unsigned threads[3];
  unsigned shared;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
constexpr int kBeginEarly =
    6;  // the attribute: before the launch before it has ended; the kernel waits for that itself

// One row for each function: its member, its symbol, its parameters.
#define LUMEN_CUDA_DRIVER(ROW)                                                                                  \
  ROW(init, "cuInit", (unsigned))                                                                               \
  ROW(driver_version, "cuDriverGetVersion", (int*))                                                             \
  ROW(device_count, "cuDeviceGetCount", (int*))                                                                 \
  ROW(device_get, "cuDeviceGet", (DeviceNumber*, int))                                                          \
  ROW(device_name, "cuDeviceGetName", (char*, int, DeviceNumber))                                               \
  ROW(device_attribute, "cuDeviceGetAttribute", (int*, int, DeviceNumber))                                      \
  ROW(device_memory, "cuDeviceTotalMem_v2", (size_t*, DeviceNumber))                                            \
  ROW(context_retain, "cuDevicePrimaryCtxRetain", (Context*, DeviceNumber))                                     \
  ROW(context_set, "cuCtxSetCurrent", (Context))                                                                \
  ROW(memory_info, "cuMemGetInfo_v2", (size_t*, size_t*))                                                       \
  ROW(memory_allocate, "cuMemAlloc_v2", (Address*, size_t))                                                     \
  ROW(memory_free, "cuMemFree_v2", (Address))                                                                   \
  ROW(pinned_allocate, "cuMemAllocHost_v2", (void**, size_t))                                                   \
  ROW(pinned_free, "cuMemFreeHost", (void*))                                                                    \
  ROW(copy_to_device, "cuMemcpyHtoDAsync_v2", (Address, const void*, size_t, Stream))                           \
  ROW(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, Address, size_t, Stream))                                   \
  ROW(copy_on_device, "cuMemcpyDtoDAsync_v2", (Address, Address, size_t, Stream))                               \
  ROW(fill, "cuMemsetD8Async", (Address, unsigned char, size_t, Stream))                                        \
  ROW(stream_create, "cuStreamCreate", (Stream*, unsigned))                                                     \
  ROW(stream_wait, "cuStreamSynchronize", (Stream))                                                             \
  ROW(stream_query, "cuStreamQuery", (Stream))                                                                  \
  ROW(capture_begin, "cuStreamBeginCapture_v2", (Stream, int))                                                  \
  ROW(capture_end, "cuStreamEndCapture", (Stream, GraphHandle*))                                                \
  ROW(graph_instantiate, "cuGraphInstantiateWithFlags", (GraphExec*, GraphHandle, unsigned long long))          \
  ROW(graph_launch, "cuGraphLaunch", (GraphExec, Stream))                                                       \
  ROW(graph_exec_destroy, "cuGraphExecDestroy", (GraphExec))                                                    \
  ROW(graph_destroy, "cuGraphDestroy", (GraphHandle))                                                           \
  ROW(event_create, "cuEventCreate", (Event*, unsigned))                                                        \
  ROW(event_destroy, "cuEventDestroy_v2", (Event))                                                              \
  ROW(event_record, "cuEventRecordWithFlags", (Event, Stream, unsigned))                                        \
  ROW(event_wait, "cuEventSynchronize", (Event))                                                                \
  ROW(event_elapsed, "cuEventElapsedTime", (float*, Event, Event))                                              \
  ROW(module_load, "cuModuleLoadData", (Module*, const void*))                                                  \
  ROW(module_unload, "cuModuleUnload", (Module))                                                                \
  ROW(module_function, "cuModuleGetFunction", (Function*, Module, const char*))                                 \
  ROW(function_set, "cuFuncSetAttribute", (Function, int, int))                                                 \
  ROW(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int*, Function, int, size_t))                  \
  ROW(launch, "cuLaunchKernel",                                                                                 \
      (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**)) \
  ROW(launch_with, "cuLaunchKernelEx", (const LaunchConfig*, Function, void**, void**))                         \
  ROW(error_text, "cuGetErrorString", (Result, const char**))

#define LUMEN_CUDA_COMPILER(ROW)                                                                                     \
  ROW(version, "nvrtcVersion", (int*, int*))                                                                         \
  ROW(create, "nvrtcCreateProgram", (void**, const char*, const char*, int, const char* const*, const char* const*)) \
  ROW(compile, "nvrtcCompileProgram", (void*, int, const char* const*))                                              \
  ROW(destroy, "nvrtcDestroyProgram", (void**))                                                                      \
  ROW(cubin_size, "nvrtcGetCUBINSize", (void*, size_t*))                                                             \
  ROW(cubin, "nvrtcGetCUBIN", (void*, char*))                                                                        \
  ROW(ptx_size, "nvrtcGetPTXSize", (void*, size_t*))                                                                 \
  ROW(ptx, "nvrtcGetPTX", (void*, char*))                                                                            \
  ROW(known_count, "nvrtcGetNumSupportedArchs", (int*))                                                              \
  ROW(known, "nvrtcGetSupportedArchs", (int*))                                                                       \
  ROW(log_size, "nvrtcGetProgramLogSize", (void*, size_t*))                                                          \
  ROW(log, "nvrtcGetProgramLog", (void*, char*))

#define LUMEN_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;

struct Driver {
  LUMEN_CUDA_DRIVER(LUMEN_CUDA_MEMBER)

  // Nothing for success; else an error that names the call and says why it failed.
  Expected<void> check(Result result, const char* call) const;
};

struct RuntimeCompiler {
  LUMEN_CUDA_COMPILER(LUMEN_CUDA_MEMBER)
  std::string version_text;   // "NVRTC 13.0"
  std::vector<int> known_sm;  // what it makes machine code for, from the oldest on: 75, 80, …

  bool knows(int sm) const { return std::ranges::find(known_sm, sm) != known_sm.end(); }
};

#undef LUMEN_CUDA_MEMBER

// Names and paths, tried in order; and the program that tries kernels.
struct LibrarySearch {
  std::vector<std::string> driver, compiler, matrices = {}, linker = {};
  WorkerOptions worker = {};
  // Versions 13 and 12, the plain name, and folders where they are installed.
  static LibrarySearch usual();
};

// Loaded once; an error says what was tried and what is missing: no driver, one that is too old, no device.
Expected<std::shared_ptr<const Driver>> load_driver(const std::vector<std::string>& names);
Expected<std::shared_ptr<const RuntimeCompiler>> load_compiler(const std::vector<std::string>& names);

}  // namespace lumen::cuda
