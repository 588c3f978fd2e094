// The kernels of a run as events of a trace.
#pragma once

#include <span>

#include "lumen/backend/executable.h"
#include "lumen/base/trace.h"

namespace lumen {

// Every call is an event of category "kernel" of the thread that asks, which ran the program; what each thread did of a
// call is one of category "share" of that thread.
void add_calls(Trace& trace, std::span<const CallTime> calls);

}  // namespace lumen
