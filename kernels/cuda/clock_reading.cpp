#include "kernels/cuda/clock_reading.h"

namespace assay::cuda {

std::optional<double> clock_hz(const ClockReading& begin, const ClockReading& end) {
  const bool are_comparable = begin.ns != 0 && end.ns != 0 && end.cycles > begin.cycles &&
                              begin.multiprocessor == end.multiprocessor;
  if (!are_comparable || end.ns < begin.ns + min_clock_ns) return std::nullopt;
  constexpr double ns_per_s = 1e9;
  return static_cast<double>(end.cycles - begin.cycles) / static_cast<double>(end.ns - begin.ns) *
         ns_per_s;
}

}  // namespace assay::cuda
