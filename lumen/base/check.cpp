#include "lumen/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lumen::detail {

void check_failed(const char* file, int line, const char* condition) {
  check_failed(file, line, condition, static_cast<const char*>(nullptr));
}

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  check_failed(file, line, condition, message.c_str());
}

void check_failed(const char* file, int line, const char* condition, const char* message) {
  // stdio, not fmt: a failed check must not allocate.
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed", file, line, condition);
  if (message != nullptr && *message != '\0') std::fprintf(stderr, ": %s", message);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace lumen::detail
