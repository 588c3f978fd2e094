#include "tools/trace_file.h"

#include <fmt/format.h>

#include <cstdio>

namespace lumen::tools {

TraceFile::TraceFile(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) trace_.emplace();
}

TraceFile::~TraceFile() {
  if (!trace_) return;
  const Expected<void> written = trace_->write(path_);
  if (!written.ok()) fmt::print(stderr, "lumen: the trace is lost: {}\n", written.diag().str());
}

}  // namespace lumen::tools
