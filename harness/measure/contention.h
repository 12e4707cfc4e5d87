#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::measure {

/// CPU time that this process wanted and others got, since it began. Empty where the system does
/// not tell.
struct LostTime {
  /// Time that each thread was ready and waited for a core, by its folder in /proc. Linux:
  /// /proc/PID/task/TID/schedstat, second number (Documentation/scheduler/sched-stats).
  std::map<std::string, double> waited_s;
  /// Time that a hypervisor gave this machine's cores to others, summed over cores. Linux:
  /// /proc/stat, `steal`, in steps of 10 ms.
  std::optional<double> stolen_s;
};
LostTime lost_time();

/// Time that threads of this process waited between two readings; those that ended count nothing.
double waited_between_s(const LostTime& before, const LostTime& after);

/// Parse one file each. Empty for text of another form.
std::optional<double> waited_s(const std::string& schedstat);
std::optional<double> stolen_s(const std::string& stat, double ticks_per_s);

/// CPU time of each thread of these processes and of those that they have started, by the thread's
/// folder in /proc. Up to the last tick of the system's clock, or the moment at which a thread gave
/// up its core. Linux: schedstat, first number.
std::map<std::string, double> worked_s(const std::vector<pid_t>& processes);

/// Time that these threads were ready and waited for a core, named alike. Second number.
std::map<std::string, double> waited_s(const std::vector<pid_t>& processes);
/// Longest of the times of a thread between two readings. Threads that one of them has not count
/// nothing.
double longest_between_s(const std::map<std::string, double>& before,
                         const std::map<std::string, double>& after);

/// Shortest time in which the work between two readings can have been done: by the busiest thread,
/// and by all of them on `cores`. It counts no time in which others used the cores.
double least_time_s(const std::map<std::string, double>& before,
                    const std::map<std::string, double>& after, int cores);

/// True if more than 1% of the time between two readings, `wall_s` apart, was lost by waiting and
/// stealing together. Threads that ended count nothing. Empty where the system tells neither.
std::optional<bool> is_contended(const LostTime& before, const LostTime& after, double wall_s);

}  // namespace assay::measure
