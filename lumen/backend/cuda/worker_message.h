// Messages between this process and its worker: numbers and texts in a row, over a socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::cuda {

class MessageWriter {
 public:
  void number(uint64_t value);
  void text(std::string_view value);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What is cut off, or is no number where one is read, is an error.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
  Expected<uint64_t> number();
  // Of the bytes it was made of.
  Expected<std::string_view> text();
  // How many things follow, each of at least one number.
  Expected<size_t> count();

 private:
  std::string_view rest_;
};

// A whole message, or an error: nobody reads it any more.
Expected<void> send_message(int socket, std::string_view bytes);

enum class Received : uint8_t { whole, late, closed };
// Waits for the next message, so many seconds at most (negative: for ever).
Received receive_message(int socket, double seconds, std::string& bytes);

}  // namespace lumen::cuda
