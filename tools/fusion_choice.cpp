#include "tools/fusion_choice.h"

#include <fmt/format.h>

#include <cstdio>

#include "tools/files.h"

namespace lumen::tools {

Expected<FusionPolicy> parse_fusion(std::string_view text) {
  if (text == "never") return FusionPolicy::never;
  if (text == "always") return FusionPolicy::always;
  if (text == "profile") return FusionPolicy::profile;
  return error(fmt::format("--fusion {}: not one of profile, always, never", text));
}

Expected<void> FusionLog::set(CompileOptions& options) {
  if (!arguments_.policy.empty()) options.fusion = LUMEN_TRY(parse_fusion(arguments_.policy));
  if (!arguments_.profile.empty()) {
    if (options.fusion != FusionPolicy::profile) {
      return error("--fusion-profile decides for --fusion profile; always and never ask no profile");
    }
    options.fusion_profile = arguments_.profile;
    options.fusion_profile_of_another = true;
  }
  if (!arguments_.gates.empty() && options.fusion != FusionPolicy::profile) {
    return error("--fusion-gates are for --fusion profile; always and never ask none");
  }
  const Expected<search::FusionGates> gates = search::parse_gates(arguments_.gates, options.fusion_gates);
  if (!gates.ok()) return error("--fusion-gates: " + gates.diag().message);
  options.fusion_gates = *gates;
  if (arguments_.log.empty()) return {};
  if (arguments_.log != "-") LUMEN_TRY(check_writable(arguments_.log));
  options.fusion_log = &decisions_;
  compiled_ = true;
  return {};
}

FusionLog::~FusionLog() {
  if (!compiled_) return;
  const std::string text = print_decisions(decisions_);
  if (arguments_.log == "-") {
    fmt::print(stderr, "{}", text);
    return;
  }
  const Expected<void> written = write_text(arguments_.log, text);
  if (!written.ok()) fmt::print(stderr, "lumen: the fusion log is lost: {}\n", written.diag().str());
}

}  // namespace lumen::tools
