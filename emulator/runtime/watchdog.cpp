#include "emulator/runtime/watchdog.h"

#include <string>

#include "emulator/runtime/work.h"

namespace emulator {

double issue_time_s(const GpuModel& gpu, std::uint64_t lane_instructions) {
  constexpr double lanes_per_clock = 4 * 32;
  return static_cast<double>(lane_instructions) /
         (lanes_per_clock * gpu.multiprocessors * gpu.clock_khz * 1e3);
}

void check_watchdog(const GpuModel& gpu, double time_s, const std::string& what) {
  if (gpu.watchdog_s == 0 || time_s <= gpu.watchdog_s) return;
  throw Fault(FaultKind::endless, what + " takes at least " + std::to_string(time_s) +
                                      " s, and the watchdog of the display ends it after " +
                                      std::to_string(gpu.watchdog_s) + " s");
}

}  // namespace emulator
