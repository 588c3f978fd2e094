// The processor as a Device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lumen/backend/cpu/cpu_executable.h"

namespace lumen::cpu {

class CpuDevice : public Device {
 public:
  // `flags` come after the compiler's own.
  explicit CpuDevice(Compiler compiler, std::vector<std::string> flags = {},
                     std::shared_ptr<ThreadPool> pool = shared_pool(),
                     std::shared_ptr<const MatrixLibrary> matrices = MatrixLibrary::from_flags());
  // With the compiler that is found.
  static Expected<std::shared_ptr<CpuDevice>> find(std::vector<std::string> flags = {});

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  std::string fingerprint() const override { return compiler_.target().fingerprint(); }
  std::string setting() const override;
  std::string compiler_version() const override { return compiler_.version(); }
  std::vector<std::string> needs() const override;
  Expected<std::vector<Binary>> build(std::vector<Program> programs) const override;
  Expected<std::vector<Binary>> build_to_try(std::vector<Program> programs) const override;
  Expected<std::shared_ptr<const Code>> load_code(std::string object) const override;
  Expected<std::unique_ptr<Executable>> load(Binary binary) const override;

 private:
  std::string name_ = "cpu";
  Compiler compiler_;
  std::vector<std::string> flags_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<const MatrixLibrary> matrices_;
  Target target_;
};

// What a processor has of the words that `needs` uses; the first word of these that it has not, or empty.
std::string first_missing(const std::vector<std::string>& needs, const CpuFeatures& have);
// Runs what was built elsewhere: no compiler is needed.
Expected<std::shared_ptr<const Code>> load_code(std::string object);

}  // namespace lumen::cpu
