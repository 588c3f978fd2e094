// Memory that is not the host's, with copies and runs that are done when they are waited for, in the order in which
// they were asked for: as a GPU's.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "lumen/backend/reference/executable.h"
#include "lumen/runtime/session.h"

namespace lumen::tests {

// The host's, but only through read and write, which count.
class FarMemory : public Memory {
 public:
  bool is_host() const override { return false; }
  Expected<std::byte*> allocate(int64_t bytes) override { return host_memory()->allocate(bytes); }
  void release(std::byte* data) override {
    catch_up();
    host_memory()->release(data);
  }
  Expected<void> write(void* there, const void* here, int64_t bytes) override {
    ++writes;
    const auto* const from = static_cast<const std::byte*>(here);
    later([=, copy = std::vector<std::byte>(from, from + bytes)] {
      host_memory()->write(there, copy.data(), bytes).value();
    });
    return {};
  }
  Expected<void> read(void* here, const void* there, int64_t bytes) override {
    ++reads;
    catch_up();
    return host_memory()->read(here, there, bytes);
  }
  Expected<void> repeat(void* there, int64_t period, int64_t bytes) override {
    later([=] { host_memory()->repeat(there, period, bytes).value(); });
    return {};
  }

  // Asks for something; its number, from 0.
  size_t later(std::function<void()> work) {
    asked_.push_back(std::move(work));
    return done_ + asked_.size() - 1;
  }
  void catch_up_to(size_t number) {
    while (done_ <= number) {
      asked_.front()();
      asked_.pop_front();
      ++done_;
    }
  }
  void catch_up() {
    if (!asked_.empty()) catch_up_to(done_ + asked_.size() - 1);
  }

  int reads = 0, writes = 0;

 private:
  std::deque<std::function<void()>> asked_;
  size_t done_ = 0;
};

// The reference, with its tensors there.
class FarExecutable : public Executable {
 public:
  FarExecutable(std::shared_ptr<const Graph> graph, std::shared_ptr<FarMemory> memory)
      : inner_(reference_executable(std::move(graph))), far_(std::move(memory)), memory_(far_) {}
  Expected<void> prepare(std::span<const int64_t> dims) override {
    EXPECT_TRUE(runs_.empty());
    return inner_->prepare(dims);
  }
  const std::shared_ptr<Memory>& memory() const override { return memory_; }
  Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    LUMEN_TRY(start(inputs, outputs));
    return finish();
  }
  Expected<void> start(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    EXPECT_LE(runs_.size(), 1u);
    auto result = std::make_shared<Expected<void>>();
    const std::vector<const void*> in(inputs.begin(), inputs.end());
    const std::vector<void*> out(outputs.begin(), outputs.end());
    const size_t number = far_->later([=, this] { *result = inner_->run(in, out); });
    runs_.emplace_back(number, result);
    places = in;
    places.insert(places.end(), out.begin(), out.end());
    ++starts;
    return {};
  }
  Expected<void> finish() override {
    const auto [number, result] = runs_.front();
    runs_.pop_front();
    far_->catch_up_to(number);
    return std::move(*result);
  }

  int starts = 0;
  std::vector<const void*> places;  // of inputs and outputs, of the last run

 private:
  std::unique_ptr<Executable> inner_;
  std::shared_ptr<FarMemory> far_;
  std::shared_ptr<Memory> memory_;
  std::deque<std::pair<size_t, std::shared_ptr<Expected<void>>>> runs_;  // that are under way
};

}  // namespace lumen::tests
