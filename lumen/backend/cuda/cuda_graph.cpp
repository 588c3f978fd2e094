#include "lumen/backend/cuda/cuda_graph.h"

namespace lumen::cuda {

CudaGraph::~CudaGraph() {
  if (!device_->enter().ok()) return;
  if (exec_ != nullptr) device_->driver().graph_exec_destroy(exec_);
  for (const Event event : marks_) device_->driver().event_destroy(event);
  if (here_ != nullptr) device_->driver().event_destroy(here_);
}

Expected<void> CudaGraph::begin() {
  const Driver& driver = device_->driver();
  return driver.check(driver.capture_begin(device_->stream(), kCaptureThreadLocal), "cuStreamBeginCapture");
}

Expected<void> CudaGraph::mark() {
  const Driver& driver = device_->driver();
  Event event = nullptr;
  LUMEN_TRY(driver.check(driver.event_create(&event, 0), "cuEventCreate"));
  marks_.push_back(event);
  return driver.check(driver.event_record(event, device_->stream(), kEventExternal), "cuEventRecordWithFlags");
}

Expected<void> CudaGraph::end() {
  const Driver& driver = device_->driver();
  GraphHandle graph = nullptr;
  LUMEN_TRY(driver.check(driver.capture_end(device_->stream(), &graph), "cuStreamEndCapture"));
  const Result result = driver.graph_instantiate(&exec_, graph, 0);
  driver.graph_destroy(graph);
  return driver.check(result, "cuGraphInstantiate");
}

Expected<void> CudaGraph::launch() const {
  const Driver& driver = device_->driver();
  return driver.check(driver.graph_launch(exec_, device_->stream()), "cuGraphLaunch");
}

Expected<void> CudaGraph::note_here() {
  const Driver& driver = device_->driver();
  if (here_ == nullptr) LUMEN_TRY(driver.check(driver.event_create(&here_, kEventWithoutTime), "cuEventCreate"));
  return driver.check(driver.event_record(here_, device_->stream(), 0), "cuEventRecordWithFlags");
}

Expected<void> CudaGraph::wait_until_here() const {
  return device_->driver().check(device_->driver().event_wait(here_), "cuEventSynchronize");
}

Expected<double> CudaGraph::seconds(size_t from, size_t to) const {
  const Driver& driver = device_->driver();
  float milliseconds = 0;
  LUMEN_TRY(driver.check(driver.event_elapsed(&milliseconds, marks_[from], marks_[to]), "cuEventElapsedTime"));
  return milliseconds * 1e-3;
}

}  // namespace lumen::cuda
