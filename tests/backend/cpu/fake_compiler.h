// A C compiler of a test's own: a shell script.
#pragma once

#include <sys/stat.h>

#include <fstream>
#include <string>

namespace lumen::cpu {

// Writes `path`, a script that answers --version like a compiler and otherwise runs `body`; returns the path.
inline std::string fake_compiler(const std::string& path, const std::string& body) {
  std::ofstream(path) << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'fake 1.0'; exit 0; fi\n" << body << "\n";
  chmod(path.c_str(), 0755);
  return path;
}

}  // namespace lumen::cpu
