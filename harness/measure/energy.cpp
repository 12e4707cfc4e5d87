#include "harness/measure/energy.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/statistics/mean_interval.h"

namespace assay::measure {
namespace {

/// Parts of a long series, each of which counts as one value: neighbours in time are alike.
constexpr std::ptrdiff_t max_parts = 10;

}  // namespace

void EnergySeries::add(double now_s, std::int64_t launches, const DeviceCondition& condition) {
  if (condition.energy_j) {
    if (counter_j_ && *condition.energy_j < *counter_j_) ran_backwards_ = true;
    if (counter_j_ && *condition.energy_j > *counter_j_) {
      updates_.push_back({now_s, launches, *condition.energy_j});
    }
    counter_j_ = condition.energy_j;
  }
  has_power_ = has_power_ && condition.power_w.has_value();
  if (!has_power_) return;
  if (power_readings_++ == 0) {
    first_s_ = now_s;
    first_launches_ = launches;
  } else {
    by_power_j_ += (now_s - last_s_) * (last_w_ + *condition.power_w) / 2;
  }
  last_s_ = now_s;
  last_w_ = *condition.power_w;
  last_launches_ = launches;
}

Energy EnergySeries::result() const {
  Energy energy;
  const std::int64_t by_power = last_launches_ - first_launches_;
  if (has_power_ && last_s_ > first_s_) {
    energy.power_w = by_power_j_ / (last_s_ - first_s_);
    if (by_power > 0) energy.launch_by_power_j = by_power_j_ / static_cast<double>(by_power);
  }
  if (!counter_j_) {
    energy.problem = "no counter of energy that this process can read";
    return energy;
  }
  if (ran_backwards_) {
    energy.problem = "its counter ran backwards";
    return energy;
  }
  const std::ptrdiff_t updates = std::ssize(updates_);
  if (updates < min_updates) {
    energy.problem = fmt::format("{} updates of its counter are too few to tell", updates);
    return energy;
  }
  const Update& first = updates_.front();
  const Update& last = updates_.back();
  energy.power_w = (last.joules - first.joules) / (last.now_s - first.now_s);
  energy.resolution_s = (last.now_s - first.now_s) / static_cast<double>(updates - 1);

  const std::ptrdiff_t parts = std::min(updates - 1, max_parts);
  std::vector<double> launch_j;
  for (std::ptrdiff_t i = 0; i < parts; ++i) {
    const Update& from = updates_[static_cast<std::size_t>(i * (updates - 1) / parts)];
    const Update& to = updates_[static_cast<std::size_t>((i + 1) * (updates - 1) / parts)];
    if (to.launches == from.launches) {
      energy.problem = "a launch takes longer than its counter's updates are apart";
      return energy;
    }
    launch_j.push_back((to.joules - from.joules) /
                       static_cast<double>(to.launches - from.launches));
  }
  energy.launch_j =
      (last.joules - first.joules) / static_cast<double>(last.launches - first.launches);
  if (const auto interval = statistics::mean_with_interval(launch_j).interval) {
    energy.launch_ci = {.low = std::min(interval->low, *energy.launch_j),
                        .high = std::max(interval->high, *energy.launch_j)};
  }
  return energy;
}

}  // namespace assay::measure
