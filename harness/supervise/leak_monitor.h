#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// How the memory and the open files of this process and of its workers grow over many trials: what
/// leaks shows here, as a slope.
class LeakMonitor {
 public:
  /// To be called after each trial, with the workers that are there.
  void sample(std::span<const pid_t> workers);

  /// Of one process, over the second half of its trials: the first has caches to fill.
  struct Slope {
    double bytes_per_1000_trials = 0;
    double files_per_1000_trials = 0;
    std::int64_t trials = 0;  // behind the slope
  };
  /// Of this process, and the steepest in bytes of the workers that served long enough to tell.
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
  /// Kept sparse: every `stride`-th trial, so that this does not grow either.
  struct Series {
    std::vector<Point> points;
    std::int64_t stride = 1;
  };
  void add(pid_t pid, Series& series);

  std::int64_t trials_ = 0;
  Series parent_;
  std::map<pid_t, Series> workers_;
};

}  // namespace assay
