#include "lumen/backend/cuda/worker_message.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lumen/base/clock.h"

namespace lumen::cuda {

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 32;  // of a message: more is nonsense
constexpr double kLongestWait = 1e9;

// So many bytes, before `end`.
Received receive_bytes(int socket, double end, char* to, size_t count) {
  while (count > 0) {
    const double left = std::min(end - seconds_now(), 1000.0);
    pollfd handle{socket, POLLIN, 0};
    const int ready = left <= 0 ? 0 : poll(&handle, 1, static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && seconds_now() >= end) return Received::late;
    if (ready == 0) continue;
    const ssize_t got = recv(socket, to, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Received::closed;
    to += got;
    count -= static_cast<size_t>(got);
  }
  return Received::whole;
}

Expected<void> send_bytes(int socket, const char* from, size_t count) {
  while (count > 0) {
    const ssize_t sent = send(socket, from, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return error(fmt::format("[cuda] a message could not be sent: {}", strerror(errno)));
    from += sent;
    count -= static_cast<size_t>(sent);
  }
  return {};
}

}  // namespace

void MessageWriter::number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }

void MessageWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

Expected<uint64_t> MessageReader::number() {
  uint64_t value = 0;
  if (rest_.size() < sizeof value) return error("[cuda] a message is cut off");
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

Expected<std::string_view> MessageReader::text() {
  const uint64_t size = LUMEN_TRY(number());
  if (size > rest_.size()) return error("[cuda] a message is cut off");
  const std::string_view found = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return found;
}

Expected<size_t> MessageReader::count() {
  const uint64_t count = LUMEN_TRY(number());
  if (count > rest_.size() / sizeof(uint64_t)) return error("[cuda] a message is cut off");
  return static_cast<size_t>(count);
}

Expected<void> send_message(int socket, std::string_view bytes) {
  const uint64_t size = bytes.size();
  LUMEN_TRY(send_bytes(socket, reinterpret_cast<const char*>(&size), sizeof size));
  return send_bytes(socket, bytes.data(), bytes.size());
}

Received receive_message(int socket, double seconds, std::string& bytes) {
  const double end = seconds_now() + (seconds < 0 ? kLongestWait : seconds);
  uint64_t size = 0;
  const Received head = receive_bytes(socket, end, reinterpret_cast<char*>(&size), sizeof size);
  if (head != Received::whole) return head;
  if (size > kMostBytes) return Received::closed;
  bytes.resize(size);
  return receive_bytes(socket, end, bytes.data(), size);
}

}  // namespace lumen::cuda
