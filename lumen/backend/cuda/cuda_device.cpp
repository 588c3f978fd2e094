#include "lumen/backend/cuda/cuda_device.h"

#include <fmt/format.h>

#include <map>
#include <thread>

#include "lumen/backend/cuda/cuda_executable.h"
#include "lumen/backend/cuda/joint_texts.h"
#include "lumen/base/clock.h"

namespace lumen::cuda {

namespace {

Expected<DeviceInfo> info_of(const Driver& driver, int number) {
  DeviceInfo info;
  info.number = number;
  DeviceNumber device = 0;
  LUMEN_TRY(driver.check(driver.device_get(&device, number), "cuDeviceGet"));
  char name[256] = {};
  LUMEN_TRY(driver.check(driver.device_name(name, sizeof name, device), "cuDeviceGetName"));
  info.name = name;
  size_t bytes = 0;
  LUMEN_TRY(driver.check(driver.device_memory(&bytes, device), "cuDeviceTotalMem"));
  info.memory_bytes = static_cast<int64_t>(bytes);
  const auto attribute = [&](Attribute which) -> Expected<int> {
    int value = 0;
    LUMEN_TRY(driver.check(driver.device_attribute(&value, static_cast<int>(which), device), "cuDeviceGetAttribute"));
    return value;
  };
  info.sm = LUMEN_TRY(attribute(Attribute::major)) * 10 + LUMEN_TRY(attribute(Attribute::minor));
  info.multiprocessors = LUMEN_TRY(attribute(Attribute::multiprocessors));
  info.l2_bytes = LUMEN_TRY(attribute(Attribute::l2_bytes));
  info.shared_bytes = LUMEN_TRY(attribute(Attribute::shared_bytes_optin));
  return info;
}

Expected<std::vector<DeviceInfo>> all_devices(const Driver& driver) {
  int count = 0;
  LUMEN_TRY(driver.check(driver.device_count(&count), "cuDeviceGetCount"));
  std::vector<DeviceInfo> found;
  for (int k = 0; k < count; ++k) found.push_back(LUMEN_TRY(info_of(driver, k)));
  return found;
}

const char* const kSweep = R"C(
extern "C" __global__ void lumen_sweep(const uint4* data, long long count, unsigned* sink) {
  unsigned all = 0;
  for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < count; k += (long long)gridDim.x * blockDim.x) {
    const uint4 each = data[k];
    all |= each.x | each.y | each.z | each.w;
  }
  if (all != 0) *sink = all;
}
)C";

const char* const kClock = R"C(
extern "C" __global__ void lumen_clock(unsigned long long* at) { *at = lumen_nanoseconds(); }
)C";

}  // namespace

Expected<std::vector<DeviceInfo>> devices(const LibrarySearch& search) {
  const std::shared_ptr<const Driver> driver = LUMEN_TRY(load_driver(search.driver));
  return all_devices(*driver);
}

std::string libraries_text(const LibrarySearch& search) {
  const Expected<std::shared_ptr<const RuntimeCompiler>> compiler = load_compiler(search.compiler);
  return fmt::format("{}, {}cuBLASLt, {}nvJitLink", compiler.ok() ? (*compiler)->version_text : "no NVRTC",
                     MatrixLibrary::load(search.matrices).ok() ? "" : "no ",
                     Linker::load(search.linker).ok() ? "" : "no ");
}

CudaDevice::CudaDevice(std::shared_ptr<const Driver> driver, KernelCompiler compiler, DeviceInfo info)
    : driver_(std::move(driver)), compiler_(std::move(compiler)), info_(std::move(info)) {
  name_ = fmt::format("cuda:{}", info_.number);
  target_.cuda = true;
  target_.sm = info_.sm;
  target_.multiprocessors = info_.multiprocessors;
  target_.shared_bytes = info_.shared_bytes;
  target_.l3_bytes = info_.l2_bytes;
}

Expected<std::shared_ptr<CudaDevice>> CudaDevice::open(int number, int64_t most_memory, const LibrarySearch& search) {
  std::shared_ptr<const Driver> driver = LUMEN_TRY(load_driver(search.driver));
  const std::vector<DeviceInfo> found = LUMEN_TRY(all_devices(*driver));
  if (number < 0 || static_cast<size_t>(number) >= found.size()) {
    return error(fmt::format("[cuda] there is no GPU number {}: this machine has {}", number, found.size()));
  }
  const DeviceInfo& info = found[static_cast<size_t>(number)];
  const std::shared_ptr<const RuntimeCompiler> nvrtc = LUMEN_TRY(load_compiler(search.compiler));
  std::shared_ptr<const Linker> linker;  // a large library, for what the compiler does not know
  if (!nvrtc->knows(info.sm)) {
    if (Expected<std::shared_ptr<const Linker>> loaded = Linker::load(search.linker); loaded.ok()) linker = *loaded;
  }
  KernelCompiler compiler(nvrtc, cpu::ObjectCache::from_flags(), std::move(linker));
  std::shared_ptr<CudaDevice> device(new CudaDevice(std::move(driver), std::move(compiler), info));
  if (Expected<std::shared_ptr<const MatrixLibrary>> matrices = MatrixLibrary::load(search.matrices); matrices.ok()) {
    device->matrices_ = std::move(*matrices);
    device->target_.library = true;
  }
  const Driver& calls = *device->driver_;
  DeviceNumber handle = 0;
  LUMEN_TRY(calls.check(calls.device_get(&handle, number), "cuDeviceGet"));
  LUMEN_TRY(calls.check(calls.context_retain(&device->context_, handle), "cuDevicePrimaryCtxRetain"));
  LUMEN_TRY(device->enter());
  LUMEN_TRY(calls.check(calls.stream_create(&device->stream_, kNonBlocking), "cuStreamCreate"));
  device->cuda_memory_ =
      std::make_shared<CudaMemory>(device->driver_, device->context_, device->stream_, device->info_.name, most_memory);
  device->memory_ = device->cuda_memory_;
  WorkerHello hello;
  hello.device = static_cast<uint64_t>(number);
  hello.driver = search.driver;
  device->trials_ = std::make_shared<KernelTrials>(search.worker, std::move(hello));
  device->cuda_memory_->on_full([trials = device->trials_] { return trials->rest(); });
  device->self_ = device;
  return device;
}

// The primary context stays: others may use it, and the process ends with it.
CudaDevice::~CudaDevice() = default;

std::string CudaDevice::fingerprint() const {
  return fmt::format("{} sm_{} {} multiprocessors", info_.name, info_.sm, info_.multiprocessors);
}

Expected<std::vector<Binary>> CudaDevice::build(std::vector<Program> programs) const {
  for (Program& program : programs) program = LUMEN_TRY(in_joint_waves(std::move(program)));
  std::map<std::string, std::string> texts;  // kernels of the same name are the same code; what a library does has none
  for (const Program& program : programs) {
    for (const ProgramKernel& kernel : program.kernels) {
      if (!kernel.text.text.empty()) texts.emplace(kernel.text.steps[0].name, kernel.text.text);
    }
    add_joint_texts(program, texts);
  }
  std::shared_ptr<const Code> code;
  if (!texts.empty()) {
    std::vector<std::string> all;
    for (const auto& [name, text] : texts) all.push_back(text);
    const std::vector<std::string> objects = LUMEN_TRY(compiler_.compile(all, info_.sm));
    LUMEN_TRY(enter());
    code = LUMEN_TRY(CudaCode::load(self_.lock(), objects));
  }
  std::vector<Binary> binaries;
  for (Program& program : programs) binaries.push_back({std::move(program), code});
  return binaries;
}

Expected<void> CudaDevice::enter() const {
  if (lost_) return error(fmt::format("[cuda] this process has lost {}", name_));
  return driver_->check(driver_->context_set(context_), "cuCtxSetCurrent");
}

// The kernel still runs: whatever waits for the GPU (to free memory, too) would wait for ever.
Expected<void> CudaDevice::wait_for(double seconds) const {
  constexpr double kBusy = 5e-3;  // seconds of looking without a rest
  const double start = seconds_now();
  for (Result result = kNotReady; (result = driver_->stream_query(stream_)) != 0;) {
    if (result != kNotReady) return driver_->check(result, kARun);
    const double waited = seconds_now() - start;
    if (waited > seconds) {
      lost_ = true;
      cuda_memory_->abandon();
      return error(fmt::format("it had not ended after {:.1f} s", seconds));
    }
    if (waited > kBusy) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return {};
}

// What a kernel that failed leaves behind is told by every call that follows.
Expected<void> CudaDevice::usable() const {
  LUMEN_TRY(enter());
  const Result result = driver_->stream_query(stream_);
  if (result == 0 || result == kNotReady) return {};
  lost_ = true;
  return driver_->check(result, kARun);
}

Expected<void> CudaDevice::make_sweep() const {
  if (sweep_ != nullptr) return {};
  const Function sweep = LUMEN_TRY(own_kernel(kSweep, "lumen_sweep"));
  LUMEN_TRY(driver_->check(driver_->memory_allocate(&swept_, sweep_bytes()), "cuMemAlloc"));
  LUMEN_TRY(driver_->check(driver_->fill(swept_, 0, sweep_bytes(), stream_), "cuMemsetD8Async"));
  sweep_ = sweep;
  return {};
}

Expected<void> CudaDevice::make_clock() const {
  if (clock_ == nullptr) clock_ = LUMEN_TRY(own_kernel(kClock, "lumen_clock"));
  return {};
}

Expected<Function> CudaDevice::own_kernel(const char* text, const char* name) const {
  const std::string texts[] = {text};
  const std::vector<std::string> objects = LUMEN_TRY(compiler_.compile(texts, info_.sm));
  Module module = nullptr;
  LUMEN_TRY(driver_->check(driver_->module_load(&module, objects[0].data()), "cuModuleLoadData"));
  Function function = nullptr;
  LUMEN_TRY(driver_->check(driver_->module_function(&function, module, name), "cuModuleGetFunction"));
  return function;
}

Expected<void> CudaDevice::forget_cache() const {
  auto count = static_cast<long long>(sweep_bytes() / 16);
  Address data = swept_, sink = swept_;
  void* parameters[] = {&data, &count, &sink};
  const auto blocks = static_cast<unsigned>(info_.multiprocessors * 8);
  return driver_->check(driver_->launch(sweep_, blocks, 1, 1, 256, 1, 1, 0, stream_, parameters, nullptr),
                        "the launch of lumen_sweep");
}

Expected<void> CudaDevice::note_time(Address word) const {
  void* parameters[] = {&word};
  return driver_->check(driver_->launch(clock_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr),
                        "the launch of lumen_clock");
}

std::vector<std::vector<uint32_t>> CudaDevice::launched_together(const Program& program) const {
  return joint_kernels(program);
}

Expected<std::shared_ptr<const Code>> CudaDevice::load_code(std::string object) const {
  LUMEN_TRY(enter());
  std::shared_ptr<const CudaCode> code = LUMEN_TRY(CudaCode::load(self_.lock(), object));
  return std::shared_ptr<const Code>(std::move(code));
}

Expected<std::unique_ptr<Executable>> CudaDevice::load(Binary binary) const {
  std::shared_ptr<const CudaDevice> self = self_.lock();
  return make_executable(std::move(binary), std::move(self));
}

}  // namespace lumen::cuda
