#include "lumen/egraph/lang/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace lumen::egraph {

namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

Expected<std::string> read_text(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) text.append(buffer, n);
  if (std::ferror(file.get()) != 0) return error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return text;
}

Expected<void> write_text(const std::string& path, std::string_view text, bool append) {
  File file(std::fopen(path.c_str(), append ? "ab" : "wb"));
  if (file == nullptr) return error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (std::fclose(file.release()) != 0 || !written) {
    return error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return {};
}

}  // namespace lumen::egraph
