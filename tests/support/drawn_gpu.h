// A device with the target of a GPU that builds nothing: for what is printed only.
#pragma once

#include "lumen/backend/device.h"
#include "tests/support/gpu_target.h"

namespace lumen::tests {

class DrawnGpu : public Device {
 public:
  explicit DrawnGpu(int sm = gpu_target().sm) { target_.sm = sm; }
  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  std::string fingerprint() const override { return name_; }
  std::string setting() const override { return ""; }
  std::string compiler_version() const override { return ""; }
  std::vector<std::string> needs() const override { return {}; }
  Expected<std::vector<Binary>> build(std::vector<Program>) const override { return error("a drawing"); }
  Expected<std::shared_ptr<const Code>> load_code(std::string) const override { return error("a drawing"); }
  Expected<std::unique_ptr<Executable>> load(Binary) const override { return error("a drawing"); }

 private:
  std::string name_ = "drawing";
  Target target_ = gpu_target();
};

}  // namespace lumen::tests
