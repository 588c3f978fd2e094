// Trace: what ran when, on which thread, as a file that Perfetto and chrome://tracing open.
//
//   Trace trace;
//   { const TraceScope scope(&trace, "build", "compile"); … }   // an event of that length; a null trace takes none
//   LUMEN_TRY(trace.write("trace.json"));
//
// Events of a thread lie beside or inside each other, as scopes do. Several threads may add at once.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lumen/base/clock.h"
#include "lumen/base/expected.h"

namespace lumen {

struct TraceEvent {
  std::string name;
  std::string category;  // "compile", "tune", "kernel", …
  double start = 0;      // of seconds_now()
  double seconds = 0;
  std::thread::id thread = std::this_thread::get_id();
  // Shown beside the event.
  std::vector<std::pair<std::string, std::string>> texts = {};
  std::vector<std::pair<std::string, double>> numbers = {};
};

class Trace {
 public:
  void add(TraceEvent event);

  // {"traceEvents": [...]}: complete events in microseconds since the first, sorted by thread and time, and the names
  // of the threads. The one that made the trace is "main".
  std::string json() const;
  Expected<void> write(const std::string& path) const;

 private:
  const std::thread::id main_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  std::vector<TraceEvent> events_;
};

class TraceScope {
 public:
  TraceScope(Trace* trace, std::string name, std::string category) : trace_(trace) {
    if (trace == nullptr) return;
    event_.name = std::move(name);
    event_.category = std::move(category);
    event_.start = seconds_now();
  }
  ~TraceScope() {
    if (trace_ == nullptr) return;
    event_.seconds = seconds_now() - event_.start;
    trace_->add(std::move(event_));
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* trace_;
  TraceEvent event_;
};

}  // namespace lumen
