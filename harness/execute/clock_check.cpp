#include "harness/execute/clock_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/execute/verify_launch.h"
#include "harness/statistics/order_statistics.h"
#include "kernels/core/clock.h"

namespace assay {
namespace {

/// Share of the seen time that may be missing from what is told.
constexpr double missing_share = 0.05;
/// Times of longer series, and readings of each: a disturbance must strike all. A late message
/// costs milliseconds where others use the cores, whatever it is about: it is a small share of long
/// work, while that of a changed clock stays. Short work may end before others get the core, as
/// samples do. No length makes a changed clock agree.
struct Work {
  double least_s;
  int readings;
};
constexpr std::array longer{Work{2e-3, 50}, Work{5e-3, 20}, Work{0.05, 5}, Work{0.2, 5},
                            Work{0.8, 5}};
/// Samples beside each reading.
constexpr int samples = 5;
/// Samples of a series may be this much faster than launches in a longer one, which reads other
/// caches.
constexpr double faster_share = 0.1;

}  // namespace

void ClockCheck::accuse(const Reading& last) const {
  throw WrongResult{
      Check::clock, "",
      fmt::format("its clock tells of {:.3g} s for {} launches, during which {:.3g} s passed",
                  last.told_s, last.launches, last.seen_s)};
}

void ClockCheck::add(std::int64_t launches, double told_s, double seen_s) {
  if (!checks_.on(Check::clock)) return;
  const Reading reading{launches, told_s, seen_s};
  if (!(told_s >= 0) || !std::isfinite(told_s)) accuse(reading);
  if (launches == 0) {
    empty_s_.push_back(seen_s);
  } else {
    readings_.push_back(reading);
  }
}

ClockCheck::Reading ClockCheck::read(std::int64_t launches) {
  const double begin_s = system_call_s();
  const double told_s = trial_.time_s(launches);
  return {launches, told_s, system_call_s() - begin_s};
}

/// In turns with samples as they were, series whose length hides no message: both must agree with
/// the judge's clock once.
void ClockCheck::demand_agreement() {
  const std::int64_t launches = readings_.back().launches;
  std::int64_t many = launches;
  Reading last;
  for (const Work& work : longer) {
    while (read(many).seen_s < work.least_s) many *= 2;
    for (int i = 0; i < work.readings; ++i) {
      Reading sample;
      for (int n = 0; n < samples; ++n) {
        const Reading one = read(launches);
        sample.launches += one.launches;
        sample.told_s += one.told_s;
      }
      last = read(many);
      const double seen_launch_s = last.seen_s / static_cast<double>(last.launches);
      const double told_launch_s = sample.told_s / static_cast<double>(sample.launches);
      if (last.told_s >= (1 - missing_share) * last.seen_s &&
          told_launch_s >= (1 - faster_share) * seen_launch_s) {
        return;
      }
    }
  }
  accuse(last);
}

void ClockCheck::check_series() {
  if (!checks_.on(Check::clock)) return;
  if (readings_.empty()) {  // of cold launches
    readings_.push_back(read(1));
    demand_agreement();
    return;
  }
  const double empty_s = empty_s_.empty() ? 0 : statistics::median(empty_s_);
  double told_s = 0;
  double seen_s = 0;
  double explained_s = 0;
  for (const Reading& reading : readings_) {
    told_s += reading.told_s;
    seen_s += reading.seen_s;
    explained_s += std::min(empty_s, reading.seen_s);
  }
  unexplained_share_ = std::max(0.0, seen_s - told_s - explained_s) / seen_s;
  // A longer series of an op in place would work on its own results, which grow without end.
  if (unexplained_share_ > missing_share && !trial_.in_place()) demand_agreement();
}

}  // namespace assay
