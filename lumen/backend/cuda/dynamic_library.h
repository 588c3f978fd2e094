// Libraries of CUDA that are found when the program runs.
#pragma once

#include <string>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::cuda {

// The first that loads. It stays for as long as the process lives: drivers do not like to be unloaded.
Expected<void*> open_first(const std::vector<std::string>& names, const char* what);

// An error when the library is too old to have it.
Expected<void*> find_symbol(void* opened, const char* symbol);

template <class F>
Expected<void> find_function(void* opened, const char* symbol, F*& function) {
  function = reinterpret_cast<F*>(LUMEN_TRY(find_symbol(opened, symbol)));
  return {};
}

}  // namespace lumen::cuda
