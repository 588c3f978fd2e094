// Library: a shared library in this process, unloaded with its last owner.
#pragma once

#include <memory>
#include <string>

#include "lumen/base/expected.h"

namespace lumen::cpu {

class Library {
 public:
  // Its symbols are its own (RTLD_LOCAL) and all that it needs is found now (RTLD_NOW). The file may go afterwards.
  static Expected<std::shared_ptr<Library>> open(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // The address of a function that it, or what it is linked with, defines; valid while the Library lives.
  Expected<void*> symbol(const std::string& name) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace lumen::cpu
