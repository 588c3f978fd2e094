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
  // The same where the bytes of the library are known, and others follow them in the file.
  static Expected<std::shared_ptr<Library>> open(const std::string& path, std::string object);
  // From the bytes of such a file.
  static Expected<std::shared_ptr<Library>> load(std::string object);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // The address of a function that it, or what it is linked with, defines; valid while the Library lives.
  Expected<void*> symbol(const std::string& name) const;
  // The bytes of its file.
  const std::string& object() const { return object_; }

 private:
  Library(void* handle, std::string object) : handle_(handle), object_(std::move(object)) {}
  void* handle_;
  std::string object_;
};

}  // namespace lumen::cpu
