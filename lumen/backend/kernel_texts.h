// The texts that programs are compiled from.
#pragma once

#include <map>
#include <span>
#include <string>

#include "lumen/backend/program.h"

namespace lumen {

// By the name of a kernel's first step: kernels of the same name are the same code. What libraries do has no text.
inline std::map<std::string, std::string> kernel_texts(std::span<const Program> programs) {
  std::map<std::string, std::string> texts;
  for (const Program& program : programs) {
    for (const ProgramKernel& kernel : program.kernels) {
      if (!kernel.text.text.empty()) texts.emplace(kernel.text.steps[0].name, kernel.text.text);
    }
  }
  return texts;
}

}  // namespace lumen
