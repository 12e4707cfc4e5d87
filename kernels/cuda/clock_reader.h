#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "kernels/cuda/clock_reading.h"

namespace assay::cuda {

/// Reads the clock of the multiprocessors around timed work, by a kernel of one thread before it
/// and another one behind it. Each waits for the timer to tick, which it does every 32 ns on some
/// GPUs, every microsecond on others, and gives up where it ticks more rarely than that.
class ClockReader {
 public:
  /// Works on the current GPU.
  ClockReader();
  ~ClockReader();
  ClockReader(const ClockReader&) = delete;
  ClockReader& operator=(const ClockReader&) = delete;

  void begin(cudaStream_t stream);
  void end(cudaStream_t stream);
  /// Call it after the stream's work is done.
  std::optional<double> clock_hz() const;

 private:
  struct Readings {
    ClockReading begin, end;
  };
  Readings* readings_ = nullptr;  // in pinned memory
};

}  // namespace assay::cuda
