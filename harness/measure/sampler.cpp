#include "harness/measure/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "harness/statistics/order_statistics.h"

namespace assay::measure {
namespace {

/// Share of the cap that warm-up may take.
constexpr double warm_up_share = 0.25;
constexpr int warm_up_block = 5;
constexpr double warm_up_agreement = 0.02;
/// Samples beyond the cap that may find how many launches last long enough: the first ones, which
/// also load code, would make later ones too short.
constexpr int late_samples = 2;

double relative_spread(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low > 0 ? *high / *low - 1 : 0;
}

/// Finds the launches per sample and ends the warm-up: runs blocks until two in a row agree.
class WarmUp {
 public:
  WarmUp(Meter& meter, const Policy& policy) : meter_(meter), policy_(policy) {}

  std::int64_t launches_per_sample() {
    const double end_s = meter_.now_s() + policy_.cap_s * warm_up_share;
    // Long enough that max_samples of them fill min_time_s.
    const double wanted_s =
        std::max(policy_.sample_s, policy_.min_time_s / static_cast<double>(policy_.max_samples));
    std::int64_t launches = 1;
    double previous_s = 0;
    int late = 0;
    for (;;) {
      const double block_s = block_median_s(launches, late == 0 ? warm_up_block : 1);
      const bool long_enough = block_s * static_cast<double>(launches) >= wanted_s;
      const bool settled =
          previous_s > 0 && std::abs(block_s / previous_s - 1) <= warm_up_agreement;
      const bool at_most = launches == policy_.max_launches;
      const bool may_end = long_enough || at_most;
      const bool is_over = meter_.now_s() >= end_s && (may_end || late++ == late_samples);
      if (is_over || (may_end && settled)) {
        return std::max(launches, enough(block_s, wanted_s));
      }
      if (!long_enough) launches = std::max(launches, enough(block_s, wanted_s));
      previous_s = block_s;
    }
  }

 private:
  std::int64_t enough(double launch_s, double wanted_s) const {
    // A time below the clock's resolution takes many launches.
    const double launches = launch_s > 0 ? std::ceil(wanted_s / launch_s) : 1000;
    const auto most = static_cast<double>(policy_.max_launches);
    const auto whole = static_cast<std::int64_t>(std::clamp(launches, 1.0, most));
    const std::int64_t turns = policy_.turns;
    if (whole < turns) return whole;
    return std::min((whole + turns - 1) / turns * turns, policy_.max_launches);
  }

  double block_median_s(std::int64_t launches, int samples) {
    std::vector<double> block;
    const double begin_s = meter_.now_s();
    for (int i = 0; i < samples; ++i) {
      block.push_back(meter_.time_s(launches) / static_cast<double>(launches));
      if (meter_.now_s() - begin_s > policy_.cap_s * warm_up_share) break;  // one is long enough
    }
    return statistics::median(block);
  }

  Meter& meter_;
  const Policy& policy_;
};

/// Number of samples without launches: one disturbance must not move their median.
constexpr int empty_samples = 11;

double empty_sample_s(Meter& meter) {
  std::vector<double> seconds;
  for (int i = 0; i < empty_samples; ++i) seconds.push_back(meter.time_s(0));
  return statistics::median(seconds);
}

/// Samples in consecutive windows of time, for the stop rule.
class Windows {
 public:
  explicit Windows(const Policy& policy) : policy_(policy) {}

  void add(double time_s, double launch_s) {
    if (!open_.empty() && time_s >= open_until_s_) {
      closed_medians_.push_back(statistics::median(open_));
      open_.clear();
    }
    if (open_.empty()) open_until_s_ = time_s + policy_.min_time_s / policy_.min_blocks;
    open_.push_back(launch_s);
  }

  bool last_agree() const {
    if (std::ssize(closed_medians_) < policy_.min_blocks) return false;
    return relative_spread({closed_medians_.end() - policy_.min_blocks, closed_medians_.end()}) <=
           policy_.block_agreement;
  }

 private:
  const Policy& policy_;
  std::vector<double> closed_medians_;
  std::vector<double> open_;
  double open_until_s_ = 0;
};

/// Medians of consecutive parts of equal length, or all values if they are few.
std::vector<double> medians_of_parts(const std::vector<double>& values, std::int64_t parts) {
  const std::int64_t n = std::ssize(values);
  if (n < 2 * parts) return values;
  std::vector<double> medians;
  for (std::int64_t i = 0; i < parts; ++i) {
    medians.push_back(
        statistics::median({values.begin() + i * n / parts, values.begin() + (i + 1) * n / parts}));
  }
  return medians;
}

/// Summary of values in the order in which they were measured. Dependent ones tell less than their
/// number suggests: then each part of them counts as one value.
statistics::Summary summary_of(const std::vector<double>& values, const Policy& policy) {
  statistics::Summary summary = statistics::summarize(values);
  const bool are_dependent = statistics::lag1_autocorrelation(values) > policy.autocorrelation;
  if (!summary.interval || !are_dependent) return summary;
  const auto of_parts = statistics::summarize(medians_of_parts(values, policy.parts)).interval;
  if (!of_parts) return summary;
  summary.interval = {.low = std::min(of_parts->low, summary.median),
                      .high = std::max(of_parts->high, summary.median)};
  return summary;
}

/// Launches the yardstick between turns of samples.
class YardstickRatios {
 public:
  YardstickRatios(Meter& meter, const Policy& policy) : meter_(meter), policy_(policy) {
    measure();  // warms up
    measure();
  }

  void add(const Sample& sample) {
    if (!yardstick_s_) return;
    seconds_ += sample.seconds;
    launches_ += sample.launches;
    if (seconds_ <= 0 || seconds_ < *yardstick_s_) return;
    per_launch_.push_back(*yardstick_s_ / seconds_ * static_cast<double>(launches_));
    seconds_ = 0;
    launches_ = 0;
    measure();
  }

  /// Time spent on the yardstick.
  double spent_s() const { return spent_s_; }

  std::optional<YardstickTurns> summary() const {
    if (per_launch_.empty()) return std::nullopt;
    return YardstickTurns{.turns = std::ssize(per_launch_),
                          .per_launch = summary_of(per_launch_, policy_)};
  }

 private:
  void measure() {
    const double begin_s = meter_.now_s();
    yardstick_s_ = meter_.yardstick_s();
    spent_s_ += meter_.now_s() - begin_s;
  }

  Meter& meter_;
  const Policy& policy_;
  std::optional<double> yardstick_s_;  // of its last launch
  double seconds_ = 0;                 // of the samples since
  std::int64_t launches_ = 0;
  std::vector<double> per_launch_;
  double spent_s_ = 0;
};

/// Reads the state of the device no more often than the policy asks for.
class ConditionReader {
 public:
  ConditionReader(Meter& meter, const Policy& policy) : meter_(meter), policy_(policy) {}
  /// State after `launches` launches have ended.
  const DeviceCondition& at(double now_s, std::int64_t launches) {
    if (now_s >= next_s_) {
      last_ = meter_.condition();
      energy_.add(now_s, launches, last_);
      next_s_ = now_s + policy_.condition_s;
    }
    return last_;
  }
  Energy energy() const { return energy_.result(); }

 private:
  Meter& meter_;
  const Policy& policy_;
  DeviceCondition last_;
  EnergySeries energy_;
  double next_s_ = -std::numeric_limits<double>::infinity();
};

DeviceCondition overall(const std::vector<Sample>& samples, std::optional<bool> power_capped,
                        DeviceCondition at_end) {
  if (power_capped) at_end.power_capped = at_end.power_capped.value_or(false) || *power_capped;
  std::vector<double> clocks_hz;
  for (const Sample& sample : samples) {
    if (sample.clock_hz) clocks_hz.push_back(*sample.clock_hz);
    if (sample.throttled) at_end.throttled = at_end.throttled.value_or(false) || *sample.throttled;
  }
  if (!clocks_hz.empty()) at_end.clock_hz = statistics::median(clocks_hz);
  return at_end;
}

bool narrow(const statistics::Summary& s, const Policy& policy) {
  return s.interval && s.interval->low >= s.median * (1 - policy.half_width) &&
         s.interval->high <= s.median * (1 + policy.half_width);
}

/// Samples of one number of launches, and what else is measured beside them.
class Sampling {
 public:
  Sampling(Meter& meter, const Policy& policy, std::int64_t launches)
      : meter_(meter),
        policy_(policy),
        yardstick_(meter, policy),
        windows_(policy),
        condition_(meter, policy),
        first_s_(own_s()),
        last_s_(first_s_),
        next_check_(policy.min_samples) {
    result_.launches_per_sample = launches;
  }

  std::int64_t count() const { return std::ssize(result_.samples); }

  /// Takes a sample and returns the time after it, without that of the yardstick.
  double take() {
    const std::int64_t launches = result_.launches_per_sample;
    const double seconds = meter_.time_s(launches);
    const double now_s = own_s();
    const DeviceCondition& state = condition_.at(now_s, launches * (count() + 1));
    if (state.power_capped) power_capped_ = power_capped_.value_or(false) || *state.power_capped;
    if (const auto clock_hz = meter_.core_clock_hz()) core_clocks_hz_.push_back(*clock_hz);
    Sample& sample = result_.samples.emplace_back(Sample{.seconds = seconds,
                                                         .launches = launches,
                                                         .clock_hz = state.clock_hz,
                                                         .throttled = state.throttled});
    if (const std::vector<double> ways = meter_.way_times_s(); ways.size() == 2) {
      sample.seconds_forth = ways[0];
      sample.seconds_back = ways[1];
    }
    const std::vector<double> ranks_s = meter_.rank_times_s();
    rank_launch_s_.resize(ranks_s.size());
    for (std::size_t rank = 0; rank < ranks_s.size(); ++rank) {
      rank_launch_s_[rank].push_back(ranks_s[rank] / static_cast<double>(launches));
    }
    sampled_s_ += seconds;
    launch_s_.push_back(seconds / static_cast<double>(launches));
    between_s_.push_back(std::max(0.0, now_s - last_s_ - seconds));
    last_s_ = now_s;
    windows_.add(now_s, launch_s_.back());
    yardstick_.add(sample);
    return now_s;
  }

  bool is_over(double seconds) const {
    if (seconds < policy_.cap_s) return false;
    return count() >= policy_.interval_samples || sampled_s_ >= policy_.cap_s ||
           seconds >= policy_.late_caps * policy_.cap_s;
  }

  /// Checks ever more rarely: a check sorts all samples.
  bool has_converged() {
    if (count() < next_check_ || last_s_ - first_s_ < policy_.min_time_s) return false;
    next_check_ = count() + count() / 20 + 1;
    return windows_.last_agree() && narrow(summary_of(launch_s_, policy_), policy_);
  }

  Measurement result() {
    result_.between_samples_s = statistics::median(between_s_);
    result_.launch_s = summary_of(launch_s_, policy_);
    for (const std::vector<double>& of_rank : rank_launch_s_) {
      result_.rank_launch_s.push_back(statistics::median(of_rank));
    }
    result_.yardstick = yardstick_.summary();
    result_.energy = condition_.energy();
    result_.condition = overall(result_.samples, power_capped_, meter_.condition());
    if (!core_clocks_hz_.empty()) result_.core_clock_hz = statistics::median(core_clocks_hz_);
    return std::move(result_);
  }

 private:
  double own_s() { return meter_.now_s() - yardstick_.spent_s(); }

  Meter& meter_;
  const Policy& policy_;
  YardstickRatios yardstick_;
  Windows windows_;
  ConditionReader condition_;
  double first_s_;
  double last_s_;
  double sampled_s_ = 0;
  std::int64_t next_check_;
  std::vector<double> launch_s_;
  std::vector<double> between_s_;
  std::vector<double> core_clocks_hz_;
  std::optional<bool> power_capped_;
  std::vector<std::vector<double>> rank_launch_s_;  // of each rank
  Measurement result_;
};

}  // namespace

Measurement sample(Meter& meter, const Policy& policy) {
  const double begin_s = meter.now_s();
  const double empty_s = empty_sample_s(meter);
  Sampling sampling(meter, policy, WarmUp(meter, policy).launches_per_sample());
  std::string stop_reason;
  while (stop_reason.empty()) {
    const double now_s = sampling.take();
    if (policy.block > 0 && sampling.count() >= policy.block) stop_reason = "block";
    if (sampling.is_over(now_s - begin_s)) stop_reason = "time_cap";
    if (policy.block == 0 && sampling.has_converged()) stop_reason = "converged";
  }
  Measurement result = sampling.result();
  result.empty_sample_s = empty_s;
  result.stop_reason = stop_reason;
  return result;
}

}  // namespace assay::measure
