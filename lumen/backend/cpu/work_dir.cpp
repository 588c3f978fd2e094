#include "lumen/backend/cpu/work_dir.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace lumen::cpu {

namespace fs = std::filesystem;

Expected<WorkDir> WorkDir::make() {
  std::error_code failed;
  std::string path = (fs::temp_directory_path(failed) / "lumen-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return error(fmt::format("[cpu] cannot make a temporary folder {}: {}", path, strerror(errno)));
  }
  return WorkDir(std::move(path));
}

WorkDir::~WorkDir() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string WorkDir::keep_only(std::string_view name) {
  std::string kept = file(name);
  std::error_code ignored;
  for (fs::directory_iterator it(path_, ignored), end; !ignored && it != end; it.increment(ignored)) {
    std::error_code gone;
    if (it->path().filename() != name) fs::remove(it->path(), gone);
  }
  path_.clear();
  return kept;
}

Expected<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) return error(fmt::format("[cpu] cannot read {}", path));
  return text;
}

Expected<> write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return error(fmt::format("[cpu] cannot write {} ({} bytes): {}", path, text.size(), strerror(errno)));
  return {};
}

}  // namespace lumen::cpu
