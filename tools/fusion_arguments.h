// What people say about fusion on a command line.
#pragma once

#include <string>

namespace lumen::tools {

struct FusionArguments {
  std::string policy = {};   // empty: LUMEN_FUSION
  std::string profile = {};  // a file; empty: LUMEN_FUSION_PROFILE
  std::string gates = {};    // GATE=N,…
  std::string log = {};      // a file, "-" for stderr; empty: none
};

}  // namespace lumen::tools
