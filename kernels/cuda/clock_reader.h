#pragma once

#include <cuda_runtime_api.h>

#include <optional>

namespace assay::cuda {

/// Cycles of a multiprocessor at a tick of the GPU's timer.
struct ClockReading {
  unsigned long long cycles = 0;
  unsigned long long ns = 0;  // 0: the timer did not tick
  unsigned multiprocessor = 0;
};

/// Clock between two readings. Empty unless both are of one multiprocessor, whose counters are its
/// own, and at least min_clock_ns apart.
std::optional<double> clock_hz(const ClockReading& begin, const ClockReading& end);
/// A reading is late by up to some 50 ns: of 10 us, that is 1%.
inline constexpr unsigned long long min_clock_ns = 10'000;

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
