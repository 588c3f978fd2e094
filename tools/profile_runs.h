// Programs run again and again, with what each kernel took.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/suite/profile.h"
#include "lumen/compile.h"
#include "models/decoder.h"

namespace lumen::tools {

// What this machine, or one of its GPUs, can do at most.
Expected<bench::Limits> limits_for(BackendKind backend, int device = 0);

using NamedProfile = std::pair<std::string, bench::Profile>;

// Each `rounds` times, after one that is not counted. What a GPU's kernels take is beside the time of runs without a
// profile, of which there are as many first.
bench::Profile profile_runs(Session& session, int64_t rounds, const std::function<void()>& run);
bench::Profile profile_session(Session& session, int64_t rounds);
// Reading a prompt of that many tokens at once, then writing a token after it.
std::vector<NamedProfile> profile_decoder(models::Decoder& decoder, int64_t vocabulary, int64_t prompt, int64_t rounds);

}  // namespace lumen::tools
