#pragma once

#include <map>
#include <optional>
#include <string>

namespace assay::measure {

/// CPU time that this process wanted and others had, since it began. Empty where the system does
/// not tell.
struct LostTime {
  /// Each of its threads was ready and waited for a core, by thread id. Linux:
  /// /proc/PID/task/TID/schedstat, second number (Documentation/scheduler/sched-stats).
  std::map<std::string, double> waited_s;
  /// A hypervisor gave cores of this machine to others, all cores together. Linux: /proc/stat,
  /// `steal`, in steps of 10 ms.
  std::optional<double> stolen_s;
};
LostTime lost_time();

/// The parts of it that one file tells. Empty for text of another form.
std::optional<double> waited_s(const std::string& schedstat);
std::optional<double> stolen_s(const std::string& stat, double ticks_per_s);

/// Whether between two readings, `wall_s` apart, more than 1% of that time was lost, in one way or
/// in both together. Of a thread that ended nothing is known, and nothing counts. Empty where
/// neither is told.
std::optional<bool> is_contended(const LostTime& before, const LostTime& after, double wall_s);

}  // namespace assay::measure
