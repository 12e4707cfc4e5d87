#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/execute/steps.h"
#include "harness/measure/contention.h"
#include "kernels/core/clock.h"

namespace assay::steps {
namespace {

/// Least length of a block's sample: few samples must each average over more. And of a sample of
/// others' kernels: what the judge sees of it has a message too, which then is a small share.
constexpr double long_sample_s = 1e-3;

/// Counters of energy are updated ten to fifty times a second.
constexpr double energy_time_s = 2;
constexpr double energy_cap_s = 6;

/// A time is as usual up to so many times the median, and is waited for so long.
constexpr double usual_slack = 1.5;
constexpr double max_wait_for_usual_s = 0.1;

/// Limit of the time that voids take from no sample.
constexpr double max_void_s = 10;

class WorkMeter final : public measure::Meter {
 public:
  explicit WorkMeter(Work& work) : work_(work) {}

  double time_s(std::int64_t launches) override {
    return without_voids([&] { return sample_s(launches); });
  }
  /// Times that were taken again, as launches may have waited for the host.
  std::int64_t void_samples() const { return void_samples_; }
  std::vector<double> way_times_s() const override {
    return work_.op().signature.is_mirrored ? rank_times_s_ : std::vector<double>{};
  }
  std::vector<double> rank_times_s() const override {
    return work_.trial.has_clock_of_each_rank() ? rank_times_s_ : std::vector<double>{};
  }
  DeviceCondition condition() override { return work_.trial.condition(); }
  std::optional<double> yardstick_s() override {
    if (work_.yardstick == nullptr) return std::nullopt;
    return without_voids([&] {
      work_.enter(&PhaseSeconds::limits);
      const double seconds = work_.yardstick->time_s(1);
      was_void_ = work_.yardstick->was_void();
      work_.enter(&PhaseSeconds::sampling);
      return seconds;
    });
  }
  std::optional<double> core_clock_hz() const override { return core_clock_hz_; }
  /// Leaves out what voids took, up to a limit: they are not to use up the time of the samples.
  double now_s() override { return steady_s() - std::min(void_s_, max_void_s); }
  std::string_view launched_by() const { return launched_by_; }

  /// Launches as samples did that took `usual_s`, and leaves everything standing still. What takes
  /// longer is not what was timed: a kernel may be right where it suspects that it is looked at.
  void launch_for_judge(std::int64_t launches, double usual_s) {
    const double begin_s = steady_s();
    const auto take = [&] {
      if (work_.rotation) work_.rotation->stay();
      return take_turn(launches).reported_s;
    };
    while (take() > usual_slack * usual_s) {
      if (steady_s() - begin_s > max_wait_for_usual_s) return;
    }
  }

 private:
  struct Timed {
    double reported_s;
    double seen_s;
  };
  /// Takes a time again until no launch in it may have waited for the host. Ends: work
  /// whose blocking lapses again and again is blocked no more (kernels/device/held_work.cpp).
  template <class Take>
  double without_voids(const Take& take) {
    for (;;) {
      const double begin_s = steady_s();
      const double seconds = take();
      if (!was_void_) return seconds;
      ++void_samples_;
      void_s_ += steady_s() - begin_s;
    }
  }
  /// Warm-up and samples alike: nothing tells a launch that is judged, or counts, from another.
  double sample_s(std::int64_t launches) {
    if (launches == 0 || !work_.rotation) return timed(launches, 0).reported_s;
    const double begin_s = system_call_s();
    const Timed sample = take_turn(launches);
    work_.timed_judge->after_sample(work_.rotation->last(), system_call_s() - begin_s);
    work_.rotation->count_sample(sample.seen_s);
    work_.enter(&PhaseSeconds::sampling);
    return sample.reported_s;
  }
  /// Launches on the next sets, and lets nothing go on after it.
  Timed take_turn(std::int64_t launches) {
    work_.enter(&PhaseSeconds::comparison);
    work_.trial.pause();
    work_.timed_judge->before_sample();
    work_.enter(&PhaseSeconds::input);
    const Turns& turns = work_.rotation->next(launches);
    work_.timed_judge->lay_decoys(turns);
    const Timed sample = timed(launches, turns.first);
    work_.enter(&PhaseSeconds::comparison);
    return sample;
  }
  Timed timed(std::int64_t launches, std::size_t first_set) {
    work_.enter(&PhaseSeconds::sampling);
    if (work_.is_cold() && launches > 0) work_.trial.flush_caches();  // not within what is seen
    work_.trial.pause();
    work_.clock_check->begin();
    const double begin_s = system_call_s();
    const double reported_s = work_.trial.time_s(launches, false, first_set);
    const Timed timed{reported_s, system_call_s() - begin_s};
    work_.trial.pause();
    // A process with kernels of others could void what is slow, and tell of any clock.
    const bool is_foreign = work_.options().has_foreign_kernels();
    was_void_ = work_.trial.was_void() && !is_foreign;
    if (was_void_) return timed;
    if (launches > 0) {  // whose judge may launch again
      rank_times_s_ = work_.trial.rank_times_s();
      launched_by_ = work_.trial.launched_by();
      if (!is_foreign) core_clock_hz_ = work_.trial.core_clock_hz();
    }
    work_.clock_check->add(launches, timed.reported_s, timed.seen_s);
    return timed;
  }

  Work& work_;
  // Results of the last sample.
  std::vector<double> rank_times_s_;
  std::string_view launched_by_;
  std::optional<double> core_clock_hz_;
  bool was_void_ = false;
  std::int64_t void_samples_ = 0;
  double void_s_ = 0;
};

measure::Policy policy_of(const Work& work) {
  const EngineOptions& options = work.options();
  const auto sets = static_cast<std::int64_t>(work.trial.sets());
  measure::Policy policy{.turns = sets, .cap_s = options.cap_s, .block = options.block};
  if (options.block > 0 || options.has_foreign_kernels()) policy.sample_s = long_sample_s;
  if (options.energy) {
    policy.min_time_s = energy_time_s;
    policy.cap_s = std::max(policy.cap_s, energy_cap_s);
  }
  if (work.rotation && work.rotation->has_own_inputs()) policy.max_launches = sets;
  // Launches of an in-place op on their own result would grow without end: only the first one
  // after a restore counts. Only the first one after a flush is cold.
  if (work.trial.in_place() || work.is_cold()) policy.max_launches = 1;
  return policy;
}

}  // namespace

void sample(Work& work) {
  work.enter(&PhaseSeconds::sampling);
  work.clock_check.emplace(work.trial, work.options().checks, work.options().has_foreign_kernels());
  WorkMeter meter(work);
  const measure::Policy policy = policy_of(work);
  const measure::LostTime before = measure::lost_time();
  const double begin_s = steady_s();
  work.measurement = measure::sample(meter, policy);
  Record& record = work.record();
  record.contended = measure::is_contended(before, measure::lost_time(), steady_s() - begin_s);
  record.launched_by = meter.launched_by();
  record.void_samples = meter.void_samples();
  record.input_sets = policy.turns;
  work.enter(&PhaseSeconds::comparison);
}

void launch_for_judge(Work& work) {
  const measure::Measurement& measured = work.measurement;
  const auto launches = static_cast<double>(measured.launches_per_sample);
  WorkMeter(work).launch_for_judge(measured.launches_per_sample,
                                   measured.launch_s.median * launches);
}

}  // namespace assay::steps
