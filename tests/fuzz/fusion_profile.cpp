// Any bytes are a fusion profile or an error; a profile prints to a text that reads back to it, and knows every shape.
#include "lumen/search/fusion_profile.h"

#include <cmath>
#include <cstdint>

#include "lumen/base/check.h"
#include "lumen/search/fusion_lookup.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lumen::search;
  constexpr std::string_view kKnown[] = {"gelu", "swiglu"};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = parse_fusion_profile(text, "fuzz.json", kKnown);
  if (!profile.ok()) return 0;
  const std::string printed = print_fusion_profile(*profile);
  const auto again = parse_fusion_profile(printed, "printed.json", kKnown);
  CHECK(again.ok(), again.ok() ? "" : again.diag().str() + "\nin\n" + printed);
  CHECK(print_fusion_profile(*again) == printed, "another profile:\n" + printed);
  for (const auto& [name, shapes] : profile->patterns) {
    if (shapes.empty() || shapes.size() > 100) continue;
    const FusionShape other(shapes.begin()->first.size(), 7);
    const auto found = look_up(*profile, name, other);
    CHECK(found && std::isfinite(found->times.fused) && found->times.fused > 0, "no time for " + shape_text(other));
  }
  return 0;
}
