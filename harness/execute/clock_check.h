#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/execute/checks.h"
#include "harness/execute/trial.h"
#include "harness/measure/contention.h"
#include "kernels/core/clock.h"

namespace assay {

/// Holds the times that a trial's clock tells of a series of samples against those that pass by the
/// judge's own clock.
class ClockCheck {
 public:
  /// Tells of the cores: the time that others had of them, and the work of processes.
  struct Cores {
    measure::LostTime (*lost)() = measure::lost_time;
    std::map<std::string, double> (*worked_s)(const std::vector<pid_t>&) = measure::worked_s;
    std::map<std::string, double> (*waited_s)(const std::vector<pid_t>&) = measure::waited_s;
  };

  /// `is_foreign`: a process with kernels that nobody vouches for tells the times, and could tell
  /// others of samples than of longer series.
  ClockCheck(Trial& trial, const Checks& checks, bool is_foreign = false);
  ClockCheck(Trial& trial, const Checks& checks, bool is_foreign, Cores cores)
      : trial_(trial),
        checks_(checks),
        is_foreign_(is_foreign),
        cores_(cores),
        lost_before_(cores.lost()),
        begin_s_(system_call_s()) {}

  /// Before a reading, while the processes of kernels of others stand still.
  void begin();

  /// Counts a sample, or a reading without launches. Throws WrongResult for a time that no clock
  /// can tell: a negative one. If `begin` came before it, and these processes stand still again,
  /// the work of a reading is known.
  void add(std::int64_t launches, double reported_s, double seen_s);

  /// Whether samples may be taken again.
  enum class Retakes { left, none };
  enum class Outcome {
    agrees,
    /// The machine is slower than it was: the samples can be held against nothing. Other samples
    /// can, and no clock gains by that. Only while retakes are left.
    slower_now,
  };

  /// Throws WrongResult if the series hides time: more than `missing_share` of what was seen is
  /// neither told nor as much as a reading without launches takes, and longer series hide it too.
  [[nodiscard]] Outcome check_series(Retakes retakes = Retakes::none);

  /// True if only a busy machine explains what the series show: they say less then.
  bool allows_for_contention() const { return allows_for_contention_; }

  /// Share of the seen time that was not told: messages, in which a changed clock would not show.
  /// Empty if nothing was seen.
  std::optional<double> untold_share() const;

 private:
  struct Reading {
    std::int64_t launches = 0;
    double reported_s = 0;
    double seen_s = 0;
    /// Least time of its work, without what a message may have taken.
    std::optional<double> work_s = {};
    /// Time that the judge waited for a core, while threads may have worked on until stopped.
    double judge_waited_s = 0;
    /// Time that the thread of its kernels which waited longest for a core did.
    double kernels_waited_s = 0;
  };
  struct Moment {
    std::map<std::string, double> worked_s;
    std::map<std::string, double> waited_s;
    measure::LostTime lost;
  };
  std::vector<pid_t> kernel_processes() const;
  std::map<std::string, double> worked_s() const { return cores_.worked_s(kernel_processes()); }
  void measure_work(Reading& reading);
  Reading read(std::int64_t launches);
  std::int64_t launches_of(double least_s, std::int64_t fewest);
  void demand_work();
  void demand_long_series();
  Outcome compare_samples(Retakes retakes);
  bool is_contended() const;
  bool had_to_wait() const;
  [[noreturn]] void accuse(const std::string& why) const;

  Trial& trial_;
  const Checks& checks_;
  bool is_foreign_;
  Cores cores_;
  measure::LostTime lost_before_;
  double begin_s_;
  bool allows_for_contention_ = false;
  std::vector<Reading> readings_;
  std::vector<double> empty_s_;
  std::optional<Moment> begin_;
  std::size_t next_set_ = 0;
};

}  // namespace assay
