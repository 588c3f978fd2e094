// The worker's side of trials: what `lumen device-worker` does.
#pragma once

namespace lumen::cuda {

// Answers what comes over kWorkerSocket until the other side goes, or nothing has come for a while; the status to exit
// with.
int run_device_worker();

}  // namespace lumen::cuda
