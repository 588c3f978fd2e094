// What a function throws.
#pragma once

#include <string>

#include "lumen/base/expected.h"

namespace lumen::tests {

// The message, or "" when nothing is thrown.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace lumen::tests
