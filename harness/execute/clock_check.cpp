#include "harness/execute/clock_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "harness/execute/verify_launch.h"
#include "harness/statistics/order_statistics.h"
#include "kernels/core/clock.h"

namespace assay {
namespace {

/// Share of the seen time that may be missing from what is told.
constexpr double missing_share = 0.05;
/// Clocks of devices run this much apart, and tell of steps this long, at most.
constexpr double finer_share = 0.02;
constexpr double clock_step_s = 1e-6;
/// Time of a message and its answer, at most: what takes longer is not explained by it.
constexpr double max_empty_s = 200e-6;
/// Times of long series, one after the other. A late message costs milliseconds where others use
/// the cores, whatever it is about: it is a small share of long work, while that of a changed clock
/// stays.
constexpr std::array long_series_s{0.05, 0.2};
/// A disturbance must strike each of so many.
constexpr int long_series = 5;
/// Time of a short series: long beside a message, and still without a change of processes.
constexpr double short_series_s = 0.003;
constexpr std::size_t min_short_series = 25;
constexpr std::size_t max_short_series = 1000;
/// So many take longer than any series here, whatever a launch does.
constexpr std::int64_t max_launches_of_series = std::int64_t{1} << 32;
/// Time after which fewer are enough, and after which no more are taken.
constexpr double enough_s = 0.2;
constexpr double too_long_s = 5;
/// Work beside which that of a message is small. Less shows nothing.
constexpr double min_work_s = 5 * max_empty_s;
/// Samples whose work is known, at least.
constexpr std::size_t min_samples_of_work = 8;
/// One in so many samples is faster than the one that is compared.
constexpr std::size_t fast_one_in = 10;
/// Samples may be this much faster than their work, or than launches in a series, which has a
/// message too; and, on a machine that others use, than the work of either, where caches are
/// shared. A clock that hides half is found there too.
constexpr double faster_if_alone = 0.1;
constexpr double faster_if_contended = 0.3;
/// Share of the time that threads of kernels of others may wait for a core where nobody else uses
/// one: for each other, and for the judge.
constexpr double own_waits = 0.05;

double fast_of(std::vector<double>& times_s) {
  const auto fast = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / fast_one_in);
  std::ranges::nth_element(times_s, fast);
  return *fast;
}

int cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

double of_launch(double seconds, std::int64_t launches) {
  return seconds / static_cast<double>(launches);
}

}  // namespace

ClockCheck::ClockCheck(Trial& trial, const Checks& checks, bool is_foreign)
    : ClockCheck(trial, checks, is_foreign, Cores{}) {}

std::optional<double> ClockCheck::untold_share() const {
  double reported_s = 0;
  double seen_s = 0;
  for (const Reading& reading : readings_) {
    reported_s += reading.reported_s;
    seen_s += reading.seen_s;
  }
  if (!(seen_s > 0)) return std::nullopt;
  return std::max(0.0, 1 - reported_s / seen_s);
}

void ClockCheck::accuse(const std::string& why) const {
  throw WrongResult{Check::clock, "", "its clock tells of " + why};
}

/// Without the judge's own, in which a test may serve kernels: its work is not theirs.
std::vector<pid_t> ClockCheck::kernel_processes() const {
  std::vector<pid_t> all = trial_.processes();
  std::erase(all, getpid());
  return all;
}

void ClockCheck::begin() {
  if (!is_foreign_ || !checks_.on(Check::clock)) return;
  Moment moment;
  moment.lost = cores_.lost();
  moment.waited_s = cores_.waited_s(kernel_processes());
  moment.worked_s = worked_s();  // last: reading takes time, which is the judge's
  begin_ = std::move(moment);
}

/// Since `begin`, if that was called.
void ClockCheck::measure_work(Reading& reading) {
  const std::optional<Moment> before = std::exchange(begin_, std::nullopt);
  if (!before) return;
  const std::map<std::string, double> after_s = worked_s();
  if (after_s.empty()) return;
  reading.work_s = measure::least_time_s(before->worked_s, after_s, cores()) - max_empty_s;
  reading.judge_waited_s = measure::waited_between_s(before->lost, cores_.lost());
  reading.kernels_waited_s =
      measure::longest_between_s(before->waited_s, cores_.waited_s(kernel_processes()));
}

void ClockCheck::add(std::int64_t launches, double reported_s, double seen_s) {
  if (!checks_.on(Check::clock)) return;
  Reading reading{launches, reported_s, seen_s};
  measure_work(reading);
  if (reported_s > (1 + finer_share) * seen_s + clock_step_s) {
    accuse(fmt::format("{:.3g} s for {} launches, during which only {:.3g} s passed", reported_s,
                       launches, seen_s));
  }
  if (!(reported_s >= 0) || !std::isfinite(reported_s)) {
    accuse(fmt::format("{:.3g} s for {} launches: it has gone backwards, or is none", reported_s,
                       launches));
  }
  if (launches == 0) {
    empty_s_.push_back(seen_s);
  } else {
    readings_.push_back(reading);
  }
}

/// In turns with the sets, as samples are: the same one again would be in the caches.
ClockCheck::Reading ClockCheck::read(std::int64_t launches) {
  if (launches > max_launches_of_series) {
    accuse(fmt::format("{} launches in less than {} s", launches / 2, long_series_s.back()));
  }
  const std::size_t first_set = next_set_;
  next_set_ = (next_set_ + static_cast<std::size_t>(launches)) % trial_.sets();
  trial_.pause();
  begin();
  const double begin_s = system_call_s();
  const double reported_s = trial_.time_s(launches, false, first_set);
  Reading reading{launches, reported_s, system_call_s() - begin_s};
  trial_.pause();
  measure_work(reading);
  return reading;
}

/// Number of launches, `fewest` or twice that and so on, which surely take this long: a single late
/// message would make a short series look long.
std::int64_t ClockCheck::launches_of(double least_s, std::int64_t fewest) {
  const auto are_too_few = [&](std::int64_t launches) {
    constexpr int tries = 3;
    for (int i = 0; i < tries; ++i) {
      if (read(launches).seen_s < least_s) return true;
    }
    return false;
  };
  while (are_too_few(fewest)) fewest *= 2;
  return fewest;
}

/// Launches take no less time than their work, whoever else used the cores and however late a
/// message came. Nothing but the samples themselves shows that: no later series needs to be alike.
void ClockCheck::demand_work() {
  std::vector<double> shares;
  double reported_s = 0;
  double least_s = 0;
  const std::int64_t launches = readings_.back().launches;
  for (const Reading& reading : readings_) {
    if (reading.launches != launches || !reading.work_s) continue;
    const double work_s = *reading.work_s - reading.judge_waited_s;
    shares.push_back(work_s > min_work_s ? reading.reported_s / work_s : 1);
    reported_s += reading.reported_s;
    least_s += std::max(0.0, work_s);
  }
  // Reading a message takes longer where others use the caches, or a hypervisor takes the core: one
  // sample shows nothing. Waiting counts as told: most samples may hide behind it.
  if (shares.size() < min_samples_of_work) return;
  const auto low = shares.begin() + std::ssize(shares) / 4;
  std::ranges::nth_element(shares, low);
  if (*low >= 1 - faster_if_alone) return;
  if (*low >= 1 - faster_if_contended && (is_contended() || had_to_wait())) {
    allows_for_contention_ = true;
    return;
  }
  accuse(fmt::format("{:.3g} s for {} samples of {} launches, in which {:.3g} s of work were done",
                     reported_s, shares.size(), launches, least_s));
}

/// Some long series must be told as long as it is seen.
void ClockCheck::demand_long_series() {
  std::int64_t launches = readings_.back().launches;
  Reading last;
  for (const double least_s : long_series_s) {
    launches = launches_of(least_s, launches);
    for (int i = 0; i < long_series; ++i) {
      last = read(launches);
      if (last.reported_s >= (1 - missing_share) * last.seen_s) return;
    }
  }
  accuse(fmt::format("{:.3g} s for {} launches, during which {:.3g} s passed", last.reported_s,
                     last.launches, last.seen_s));
}

bool ClockCheck::is_contended() const {
  return measure::is_contended(lost_before_, cores_.lost(), system_call_s() - begin_s_)
      .value_or(false);
}

/// True if others took cores from the kernels in the samples: the judge, which mostly sleeps, may
/// lose none to them. Waits after the samples say nothing of these.
bool ClockCheck::had_to_wait() const {
  double waited_s = 0;
  double seen_s = 0;
  for (const Reading& reading : readings_) {
    waited_s += reading.kernels_waited_s;
    seen_s += reading.seen_s;
  }
  return waited_s > own_waits * seen_s;
}

/// Samples as they were must tell of about as much time for a launch as the judge sees: in the same
/// samples, or, where a message takes as long as these, in series so long that messages hide
/// little. The fast ones of both are compared, in which nobody else used the cores.
ClockCheck::Outcome ClockCheck::compare_samples(Retakes retakes) {
  // The samples themselves: later ones could be told honestly, or meet a busier machine.
  std::vector<double> all_reported_s;
  std::vector<double> all_seen_s;
  const std::int64_t launches = readings_.back().launches;
  for (const Reading& reading : readings_) {
    if (reading.launches != launches) continue;
    all_reported_s.push_back(of_launch(reading.reported_s, launches));
    all_seen_s.push_back(of_launch(reading.seen_s, launches));
  }
  const double fast_reported_s = fast_of(all_reported_s);
  const double fast_seen_s = fast_of(all_seen_s);
  if (fast_reported_s >= (1 - faster_if_alone) * fast_seen_s) return Outcome::agrees;
  std::int64_t many = launches;
  constexpr double no_time_yet_s = std::numeric_limits<double>::infinity();
  double least_seen_s = no_time_yet_s;
  std::optional<double> least_work_s;  // of a launch, where it is known
  const double begin_s = system_call_s();
  for (std::size_t i = 1; i <= max_short_series; ++i) {
    const Reading series = read(many);
    const bool shows_work = series.work_s.value_or(min_work_s) >= min_work_s;
    if (series.seen_s < short_series_s || (!shows_work && series.seen_s < long_series_s.front())) {
      // Late messages had made shorter series look long.
      many *= 2;
      i = 0;
      least_seen_s = no_time_yet_s;
      least_work_s.reset();
      continue;
    }
    least_seen_s = std::min(least_seen_s, of_launch(series.seen_s, many));
    if (series.work_s) {
      least_work_s =
          std::min(least_work_s.value_or(no_time_yet_s), of_launch(*series.work_s, many));
    }
    const bool agrees = fast_reported_s >= (1 - faster_if_alone) * least_seen_s;
    const double spent_s = system_call_s() - begin_s;
    if (agrees && (i >= min_short_series || spent_s > enough_s)) return Outcome::agrees;
    if (i >= min_short_series && spent_s > too_long_s) break;
  }
  // The judge itself saw a launch and a message take less than now each launch alone.
  if (retakes == Retakes::left && least_seen_s > fast_seen_s) return Outcome::slower_now;
  // Where others use the cores each series may be slower than the samples. Its work is not. Without
  // a process whose work is known there is the series alone.
  const double least_s = least_work_s.value_or(least_seen_s);
  if (fast_reported_s >= (1 - faster_if_contended) * least_s && is_contended()) {
    allows_for_contention_ = true;
    return Outcome::agrees;
  }
  accuse(fmt::format("{:.3g} s for a launch, in samples of {}; one of {} took {:.3g} s or more",
                     fast_reported_s, launches, many, least_seen_s));
}

ClockCheck::Outcome ClockCheck::check_series(Retakes retakes) {
  if (!checks_.on(Check::clock)) return Outcome::agrees;
  if (readings_.empty()) return Outcome::agrees;
  // Enqueueing many small launches takes longer than a GPU takes for them.
  if (!trial_.device().is_host() && !is_foreign_) return Outcome::agrees;
  // The least of them: a process could answer late where nothing is launched.
  const double empty_s =
      empty_s_.empty() ? 0 : std::min(max_empty_s, *std::ranges::min_element(empty_s_));
  double unexplained_s = 0;
  double seen_s = 0;
  for (const Reading& reading : readings_) {
    unexplained_s += reading.seen_s - reading.reported_s - std::min(empty_s, reading.seen_s);
    seen_s += reading.seen_s;
  }
  if (unexplained_s <= missing_share * seen_s) return Outcome::agrees;
  if (is_foreign_) demand_work();
  // A longer series of an op in place would work on its own results, which grow without end.
  if (trial_.in_place()) return Outcome::agrees;
  demand_long_series();
  return is_foreign_ ? compare_samples(retakes) : Outcome::agrees;
}

}  // namespace assay
