#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/statistics/interval.h"
#include "kernels/device/device.h"

namespace assay::measure {

/// Energy of launches. Two sources, which need not agree: a counter of joules, and readings of the
/// power in between, each of which the device may have averaged over a time that it does not tell.
struct Energy {
  std::optional<double> launch_j;                 // by the counter
  std::optional<statistics::Interval> launch_ci;  // 95%, over parts of the series
  std::optional<double> launch_by_power_j;        // by the integral of the power
  std::optional<double> power_w;                  // joules of the counter, else of power, a second
  std::optional<double> resolution_s;             // mean time between updates of the counter
  std::string problem;                            // why `launch_j` is empty
};

/// A series of readings beside work. The energy of everything between the launches counts too.
class EnergySeries {
 public:
  /// Adds a reading at which `launches` launches have ended since the series began.
  void add(double now_s, std::int64_t launches, const DeviceCondition& condition);
  /// Tells nothing by a counter with fewer than `min_updates`, or one that ran backwards.
  Energy result() const;

  /// Fewest updates of a counter: six parts between them have an interval.
  static constexpr std::ptrdiff_t min_updates = 7;

 private:
  /// State at a moment in which the counter had just changed.
  struct Update {
    double now_s;
    std::int64_t launches;
    double joules;
  };

  std::optional<double> counter_j_;
  bool ran_backwards_ = false;
  std::vector<Update> updates_;  // the first reading is none: its change may be long past

  bool has_power_ = true;  // in all readings
  std::int64_t power_readings_ = 0;
  double first_s_ = 0;
  double last_s_ = 0;
  double last_w_ = 0;
  double by_power_j_ = 0;
  std::int64_t first_launches_ = 0;
  std::int64_t last_launches_ = 0;
};

}  // namespace assay::measure
