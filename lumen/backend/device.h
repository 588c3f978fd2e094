// Device: where programs are built and run. The search knows a Device and its Target, and nothing else of a machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/backend/executable.h"
#include "lumen/backend/program.h"
#include "lumen/kernel/target.h"

namespace lumen {

// The machine code of a program's kernels.
class Code {
 public:
  virtual ~Code() = default;
  // The bytes that a Device like the one that made it makes it from again.
  virtual const std::string& object() const = 0;
};

struct Binary {
  Program program;
  std::shared_ptr<const Code> code;  // null when no kernel has text
};

// How an error begins that says that a kernel must never be run again: it does not end, or takes what it runs on with
// it (Executable::try_out).
inline constexpr std::string_view kTrialFault = "[trial]";

class Device {
 public:
  virtual ~Device() = default;

  virtual const std::string& name() const = 0;  // "cpu", "cuda:0"
  virtual const Target& target() const = 0;
  // Of the hardware: equal exactly when times that were measured on one hold for the other.
  virtual std::string fingerprint() const = 0;
  // What times depend on beside the hardware: "threads=2".
  virtual std::string setting() const = 0;
  virtual std::string compiler_version() const = 0;
  // What this machine must have to run code of this Device: "avx512", "sm_90".
  virtual std::vector<std::string> needs() const = 0;

  // The kernels of all programs are compiled together; steps of the same name are the same code.
  virtual Expected<std::vector<Binary>> build(std::vector<Program> programs) const = 0;
  // The same, sooner where kernels have been built to be tried before: for what is timed and dropped. The bytes of the
  // code may depend on what that was.
  virtual Expected<std::vector<Binary>> build_to_try(std::vector<Program> programs) const {
    return build(std::move(programs));
  }
  // The distinct kernels of calls that will be one launch, for each such launch.
  virtual std::vector<std::vector<uint32_t>> launched_together(const Program&) const { return {}; }
  // From the object of a Code.
  virtual Expected<std::shared_ptr<const Code>> load_code(std::string object) const = 0;
  virtual Expected<std::unique_ptr<Executable>> load(Binary binary) const = 0;
  // An error when nothing can run on it any more in this process, because of what did.
  virtual Expected<void> usable() const { return {}; }
};

}  // namespace lumen
