// SourceLocation: a place in the user's C++ source, taken by a default argument at the call.
// std::source_location does the same, but clang before 16 cannot compile it.
#pragma once

namespace lumen {

class SourceLocation {
 public:
  static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return SourceLocation(file, line);
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr SourceLocation(const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

}  // namespace lumen
