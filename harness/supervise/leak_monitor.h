#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Growth of memory and open files of this process, and of each worker with the processes that it
/// started, over many trials. A leak shows
/// as a slope.
class LeakMonitor {
 public:
  /// Call after each trial, with the current workers.
  void sample(std::span<const pid_t> workers);

  /// Growth of one process over the second half of its trials: the first half fills caches.
  struct Slope {
    double bytes_per_1000_trials = 0;
    double files_per_1000_trials = 0;
    std::int64_t trials = 0;  // spanned by the slope
  };
  /// Slope of this process, and the steepest in bytes of the workers that served long enough to
  /// tell.
  Slope parent() const;
  Slope steepest_worker() const;

  /// "parent +12 KiB and +0 file handles, workers ... per 1,000 trials"; empty with fewer trials
  /// than tell anything.
  std::string text() const;

  struct Point {
    std::int64_t trial;
    double bytes;
    double files;
  };
  /// Least squares over the second half of the points.
  static Slope slope(std::span<const Point> points);

 private:
  /// Keeps only every `stride`-th trial, so that the monitor itself does not grow.
  struct Series {
    std::vector<Point> points;
    std::int64_t stride = 1;
  };
  void add(std::span<const pid_t> processes, Series& series);

  std::int64_t trials_ = 0;
  Series parent_;
  std::map<pid_t, Series> workers_;
};

}  // namespace assay
