#include "lumen/backend/cpu/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "lumen/backend/cpu/work_dir.h"

namespace lumen::cpu {
namespace {

std::string last_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

Expected<std::shared_ptr<Library>> Library::open(const std::string& path) {
  Expected<std::string> object = read_file(path);
  if (!object.ok()) return error(fmt::format("[cpu] cannot load {}: {}", path, object.diag().message));
  return open(path, std::move(*object));
}

Expected<std::shared_ptr<Library>> Library::load(std::string object) {
  const WorkDir work = LUMEN_TRY(WorkDir::make());
  LUMEN_TRY(write_file(work.file("kernels.so"), object));
  return open(work.file("kernels.so"), std::move(object));
}

Expected<std::shared_ptr<Library>> Library::open(const std::string& path, std::string object) {
  void* handle = dlopen(path.c_str(), RTLD_LOCAL | RTLD_NOW);
  if (handle == nullptr) return error(fmt::format("[cpu] cannot load {}: {}", path, last_error()));
  return std::shared_ptr<Library>(new Library(handle, std::move(object)));
}

Library::~Library() { dlclose(handle_); }

Expected<void*> Library::symbol(const std::string& name) const {
  void* address = dlsym(handle_, name.c_str());
  if (address == nullptr) return error(fmt::format("[cpu] no kernel \"{}\": {}", name, last_error()));
  return address;
}

}  // namespace lumen::cpu
