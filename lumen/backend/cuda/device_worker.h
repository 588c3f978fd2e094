// The worker's side of trials: what `lumen device-worker` does.
#pragma once

#include "lumen/base/expected.h"

namespace lumen::cuda {

// Answers what comes over kWorkerSocket until the other side goes, or nothing has come for a while; the status to exit
// with. An error when nobody is there who asks.
Expected<int> run_device_worker();

}  // namespace lumen::cuda
