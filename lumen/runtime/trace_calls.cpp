#include "lumen/runtime/trace_calls.h"

namespace lumen {

void add_calls(Trace& trace, std::span<const CallTime> calls) {
  for (const CallTime& call : calls) {
    trace.add({.name = call.name,
               .category = "kernel",
               .start = call.start,
               .seconds = call.seconds,
               .texts = {{"schedule", call.schedule.empty() ? "interpreted" : call.schedule}},
               .numbers = {{"bytes", call.work.bytes}, {"flops", call.work.flops}}});
    for (const ShareTime& share : call.shares) {
      trace.add({.name = call.name,
                 .category = "share",
                 .start = share.start,
                 .seconds = share.seconds,
                 .thread = share.thread});
    }
  }
}

}  // namespace lumen
