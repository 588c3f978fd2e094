// Small programs that the bytes choose give the same on the engine and on a naive one.
#include <cstdio>
#include <cstdlib>

#include "tests/support/random_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lumen::egraph::naive;
  const auto draw_again = [&] {
    size_t at = 0;
    return draw_rules([&](uint64_t n) { return (at < size ? data[at++] : 0) % n; });
  };
  if (const auto failure = check_rules(draw_again)) {
    std::fprintf(stderr, "%s\n", failure->c_str());
    std::abort();
  }
  return 0;
}
