#pragma once

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

}  // namespace assay::cuda
