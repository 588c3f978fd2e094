// Programs on a GPU: a run is one launch of a CUDA graph.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/cuda/cuda_device.h"

namespace lumen::cuda {

// Objects in the GPU's memory, until their last owner goes.
class CudaCode : public Code {
 public:
  static Expected<std::shared_ptr<const CudaCode>> load(std::shared_ptr<const CudaDevice> device,
                                                        const std::vector<std::string>& objects);
  // From the bytes of object().
  static Expected<std::shared_ptr<const CudaCode>> load(std::shared_ptr<const CudaDevice> device,
                                                        const std::string& bytes);
  ~CudaCode() override;
  CudaCode(const CudaCode&) = delete;
  CudaCode& operator=(const CudaCode&) = delete;

  const std::string& object() const override { return object_; }
  // With room for so many bytes of shared memory.
  Expected<Function> function(const std::string& name, int64_t shared) const;
  // The one of the objects that has this function; as long as the code lives.
  Expected<std::string_view> object_with(const std::string& name) const;

 private:
  struct Found {
    Function function = nullptr;
    std::string_view object;  // that has it
  };
  explicit CudaCode(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}
  Expected<Found> find(const std::string& name) const;

  std::shared_ptr<const CudaDevice> device_;
  std::string object_;         // the objects, each after its size in 8 bytes
  std::vector<size_t> sizes_;  // of the objects
  std::vector<Module> modules_;
};

Expected<std::unique_ptr<Executable>> make_executable(Binary binary, std::shared_ptr<const CudaDevice> device);

}  // namespace lumen::cuda
