#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/energy.h"
#include "harness/records/record.h"
#include "harness/statistics/order_statistics.h"
#include "kernels/device/device.h"

namespace assay::measure {

/// Interface to the timed work and its clocks. Tests use a Meter without real time.
class Meter {
 public:
  virtual ~Meter() = default;
  /// Seconds that `launches` launches took, by the device's own clock. For 0 launches: the cost of
  /// reading it.
  virtual double time_s(std::int64_t launches) = 0;
  /// Seconds of each way in the last time_s; empty for other work than a copy both ways.
  virtual std::vector<double> way_times_s() const { return {}; }
  /// Seconds of each rank in the last time_s; empty unless each has a clock of its own.
  virtual std::vector<double> rank_times_s() const { return {}; }
  /// Core clock in the last time_s, read on the device; empty if unknown.
  virtual std::optional<double> core_clock_hz() const { return std::nullopt; }
  /// Seconds of a launch of the yardstick: other work, which is timed in turns with this one.
  /// Empty: there is none.
  virtual std::optional<double> yardstick_s() { return std::nullopt; }
  /// The state of the device, now.
  virtual DeviceCondition condition() { return {}; }
  /// A steady clock of the host, for the limits on the whole measurement.
  virtual double now_s() = 0;
};

/// Criteria for ending a measurement (DESIGN: correct intervals need stationary samples, so time
/// and separated blocks are required as well as many samples).
struct Policy {
  double sample_s = 20e-6;          // launches are batched until a sample lasts this long,
  std::int64_t max_samples = 1000;  // or longer, so that no more samples than these fit min_time_s
  std::int64_t max_launches = 1'000'000'000;  // limit for a sample
  std::int64_t turns = 1;  // as many launches as this, or more, are a multiple of it
  std::int64_t min_samples = 10;
  double min_time_s = 0.3;
  int min_blocks = 3;                 // consecutive windows of min_time_s / min_blocks
  double block_agreement = 0.01;      // relative spread of the last min_blocks medians
  double half_width = 0.01;           // half of the 95% interval, relative to the median
  double autocorrelation = 0.2;       // above it the interval is that of `parts` of the samples
  std::int64_t parts = 10;            // consecutive, each counts by its median
  double condition_s = 0.01;          // largest age of a sample's device state
  double cap_s = 2.0;                 // limit for warm-up and samples together, yardstick left out
  std::int64_t interval_samples = 6;  // judging launches ends no series of fewer samples
  double late_caps = 4;               // before so many times cap_s
  std::int64_t block = 0;             // not 0: fixed number of samples, to compare blocks
};

/// Times of the yardstick over those of the work beside it.
struct YardstickTurns {
  std::int64_t turns = 0;
  statistics::Summary per_launch;
};

struct Measurement {
  std::vector<Sample> samples;
  std::string stop_reason;  // "converged", "time_cap", "block"
  // Clock: the samples' median; throttled and power_capped: any; else at the end.
  DeviceCondition condition;
  std::optional<double> core_clock_hz;  // the samples' median, read on the device
  statistics::Summary launch_s;         // seconds per launch; interval of the stop rule
  std::int64_t launches_per_sample = 1;
  double empty_sample_s = 0;     // median time of samples without launches: the cost of
                                 // reading the clock in each
  double between_samples_s = 0;  // median time between samples
  std::optional<YardstickTurns> yardstick;
  Energy energy;                      // of samples and the time between them
  std::vector<double> rank_launch_s;  // median of each rank; empty if ranks are not timed
};

/// Warms up until block medians stop drifting, and samples until the policy is met. Every sample is
/// kept and counts.
///
/// A launch of the yardstick comes before each turn of samples, which lasts as long. Both sides of
/// a ratio so are one stretch of time: a disturbance is as likely to hit one as the other, and the
/// median of the ratios stays where it is.
Measurement sample(Meter& meter, const Policy& policy);

}  // namespace assay::measure
