// A sequence of work for a GPU, captured once and launched many times, with marks in it whose distance can be read.
#pragma once

#include <memory>
#include <vector>

#include "lumen/backend/cuda/cuda_device.h"

namespace lumen::cuda {

class CudaGraph {
 public:
  explicit CudaGraph(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  // What the device's stream is given in between becomes the graph; nothing of it runs. end() must follow.
  Expected<void> begin();
  Expected<void> mark();
  Expected<void> end();

  Expected<void> launch() const;
  // wait_until_here() waits for what the stream was given before note_here(), but not for what came after it.
  Expected<void> note_here();
  Expected<void> wait_until_here() const;
  size_t marks() const { return marks_.size(); }
  // From one mark to another, in the last launch, which is over.
  Expected<double> seconds(size_t from, size_t to) const;

 private:
  std::shared_ptr<const CudaDevice> device_;
  GraphExec exec_ = nullptr;
  std::vector<Event> marks_;
  Event here_ = nullptr;
};

}  // namespace lumen::cuda
