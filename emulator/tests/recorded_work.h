#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <string>

#include "emulator/runtime/work.h"
#include "emulator/tests/emulated_process.h"

namespace emulator {

/// Enqueues work that notes its letter when it runs.
class RecordedWork {
 public:
  void enqueue(char letter, cudaStream_t stream) {
    EXPECT_CUDA(emulator::enqueue(stream, std::string(1, letter), [this, letter] {
      const std::lock_guard lock(mutex_);
      done_ += letter;
      return Step::done;
    }));
  }
  /// Enqueues work that waits until `gate` opens.
  static void enqueue_gate(const std::atomic<bool>& gate, cudaStream_t stream) {
    EXPECT_CUDA(
        emulator::enqueue(stream, "a gate", [&gate] { return gate ? Step::done : Step::waits; }));
  }
  std::string done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  /// Whether both ran, `first` before `second`.
  bool has_order(char first, char second) const {
    const std::string done = this->done();
    return done.find(first) != std::string::npos && done.find(second) != std::string::npos &&
           done.find(first) < done.find(second);
  }

 private:
  mutable std::mutex mutex_;
  std::string done_;
};

inline cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}

inline cudaEvent_t new_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, flags));
  return event;
}

}  // namespace emulator
