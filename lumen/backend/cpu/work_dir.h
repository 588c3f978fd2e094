// A folder for temporary files, removed with its owner unless it is kept.
#pragma once

#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::cpu {

class WorkDir {
 public:
  static Expected<WorkDir> make();
  WorkDir(WorkDir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  WorkDir& operator=(WorkDir&&) = delete;
  ~WorkDir();

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Removes everything but this file, which stays when the WorkDir goes; returns its path.
  std::string keep_only(std::string_view name);

 private:
  explicit WorkDir(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty when there is nothing to remove
};

// Whole files; errors name the path.
Expected<std::string> read_file(const std::string& path);
Expected<> write_file(const std::string& path, std::string_view text);

}  // namespace lumen::cpu
