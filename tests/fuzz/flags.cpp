// Any environment is either parsed or refused with a message; values that are accepted are in range.
#include "lumen/base/flags.h"

#include <cstdint>
#include <string>
#include <vector>

#include "lumen/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> environment(1);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      environment.emplace_back();
    } else {
      environment.back() += static_cast<char>(data[i]);
    }
  }
  const lumen::Expected<lumen::Flags> flags = lumen::parse_flags(environment);
  if (flags) {
    CHECK(flags->debug >= 0 && flags->debug <= 4 && flags->seed >= 0);
  } else {
    CHECK(!flags.diag().str().empty());
  }
  return 0;
}
