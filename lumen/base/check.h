// CHECK(cond) and CHECK(cond, message): for our own bugs, in every build type.
//
// On failure prints file:line, the condition and the message to stderr and aborts. The message (std::string or
// const char*) is evaluated only then. What a user can cause is an Expected instead (expected.h).
#pragma once

#include <string>

namespace lumen::detail {

[[noreturn]] void check_failed(const char* file, int line, const char* condition);
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* message);
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace lumen::detail

#define CHECK(condition, ...)                                                                   \
  do {                                                                                          \
    if (!(condition)) [[unlikely]]                                                              \
      ::lumen::detail::check_failed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
