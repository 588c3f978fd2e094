// Compiling as people say about fusion, and the log of what was decided.
#pragma once

#include <string_view>
#include <vector>

#include "lumen/compile.h"
#include "tools/fusion_arguments.h"

namespace lumen::tools {

Expected<FusionPolicy> parse_fusion(std::string_view text);

// Decisions, written where --fusion-log says when this ends. A log that cannot be written is a line on stderr.
class FusionLog {
 public:
  explicit FusionLog(const FusionArguments& arguments) : arguments_(arguments) {}
  ~FusionLog();
  FusionLog(const FusionLog&) = delete;
  FusionLog& operator=(const FusionLog&) = delete;

  // Compiles as the arguments say; this outlives the compilation.
  Expected<void> set(CompileOptions& options);

 private:
  const FusionArguments& arguments_;
  std::vector<search::FusionDecision> decisions_;
  bool compiled_ = false;
};

}  // namespace lumen::tools
