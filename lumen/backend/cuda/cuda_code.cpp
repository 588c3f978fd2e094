#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <string_view>

#include "lumen/backend/cuda/cuda_executable.h"

namespace lumen::cuda {

namespace {

// Whether a word of the object, between bytes that are no letters, is this name: symbols are such words.
bool names(std::string_view object, std::string_view name) {
  const auto inside = [&](size_t at) {
    const unsigned char byte = at < object.size() ? static_cast<unsigned char>(object[at]) : 0;
    return std::isalnum(byte) != 0 || byte == '_';
  };
  for (size_t at = object.find(name); at != std::string_view::npos; at = object.find(name, at + 1)) {
    if ((at == 0 || !inside(at - 1)) && !inside(at + name.size())) return true;
  }
  return false;
}

}  // namespace

Expected<std::shared_ptr<const CudaCode>> CudaCode::load(std::shared_ptr<const CudaDevice> device,
                                                         const std::vector<std::string>& objects) {
  std::shared_ptr<CudaCode> code(new CudaCode(std::move(device)));
  const Driver& driver = code->device_->driver();
  for (const std::string& object : objects) {
    Module module = nullptr;
    LUMEN_TRY(driver.check(driver.module_load(&module, object.data()), "cuModuleLoadData"));
    code->modules_.push_back(module);
    const uint64_t size = object.size();
    code->object_.append(reinterpret_cast<const char*>(&size), sizeof size);
    code->object_ += object;
    code->sizes_.push_back(object.size());
  }
  return std::shared_ptr<const CudaCode>(std::move(code));
}

Expected<std::shared_ptr<const CudaCode>> CudaCode::load(std::shared_ptr<const CudaDevice> device,
                                                         const std::string& bytes) {
  std::vector<std::string> objects;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t size = 0;
    if (bytes.size() - at < sizeof size) return error("[cuda] the code of the program is cut off");
    std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    if (size > bytes.size() - at) return error("[cuda] the code of the program is cut off");
    objects.push_back(bytes.substr(at, size));
    at += size;
  }
  return load(std::move(device), objects);
}

CudaCode::~CudaCode() {
  if (!device_->enter().ok()) return;
  for (const Module module : modules_) device_->driver().module_unload(module);
}

Expected<CudaCode::Found> CudaCode::find(const std::string& name) const {
  size_t at = 0;
  for (size_t k = 0; k < modules_.size(); ++k) {
    at += sizeof(uint64_t);
    const std::string_view object = std::string_view(object_).substr(at, sizes_[k]);
    at += sizes_[k];
    // Not by asking the driver alone: to tools that watch it, a name that is not there is an error of the program.
    Function function = nullptr;
    if (!names(object, name) || device_->driver().module_function(&function, modules_[k], name.c_str()) != 0) continue;
    return Found{function, object};
  }
  return error(fmt::format("[cuda] the code has no kernel \"{}\"", name));
}

Expected<Function> CudaCode::function(const std::string& name, int64_t shared) const {
  const Function function = LUMEN_TRY(find(name)).function;
  if (shared > kSharedWithoutAsking) {
    const Driver& driver = device_->driver();
    LUMEN_TRY(driver.check(driver.function_set(function, kFunctionSharedBytes, static_cast<int>(shared)),
                           fmt::format("{} bytes of shared memory for \"{}\"", shared, name).c_str()));
  }
  return function;
}

Expected<std::string_view> CudaCode::object_with(const std::string& name) const { return LUMEN_TRY(find(name)).object; }

}  // namespace lumen::cuda
