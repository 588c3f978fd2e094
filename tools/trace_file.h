// The file of --trace.
#pragma once

#include <optional>
#include <string>

#include "lumen/base/trace.h"

namespace lumen::tools {

// A trace that is written at the end, whatever the end was. One that cannot be written is a line on stderr: it does not
// make a run fail.
class TraceFile {
 public:
  explicit TraceFile(std::string path);  // empty: none
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  Trace* trace() { return trace_ ? &*trace_ : nullptr; }

 private:
  std::string path_;
  std::optional<Trace> trace_;
};

}  // namespace lumen::tools
