#include "lumen/backend/cpu/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace lumen::cpu {
namespace {

std::string last_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

Expected<std::shared_ptr<Library>> Library::open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_LOCAL | RTLD_NOW);
  if (handle == nullptr) return error(fmt::format("[cpu] cannot load {}: {}", path, last_error()));
  return std::shared_ptr<Library>(new Library(handle));
}

Library::~Library() { dlclose(handle_); }

Expected<void*> Library::symbol(const std::string& name) const {
  void* address = dlsym(handle_, name.c_str());
  if (address == nullptr) return error(fmt::format("[cpu] no kernel \"{}\": {}", name, last_error()));
  return address;
}

}  // namespace lumen::cpu
