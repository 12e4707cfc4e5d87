#include <chrono>
#include <thread>

#include "harness/execute/steps.h"
#include "kernels/core/clock.h"

namespace assay::steps {
namespace {

constexpr double idle_time_s = 1;

std::optional<double> power_w(const Trial& trial) {
  measure::EnergySeries series;
  const double begin_s = steady_s();
  for (double now_s = begin_s; now_s < begin_s + idle_time_s; now_s = steady_s()) {
    series.add(now_s, 0, trial.condition());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return series.result().power_w;
}

}  // namespace

void measure_idle_power(Work& work) {
  auto& known = work.shop.idle_power_w;
  const auto [power, is_new] = known.try_emplace(lane_text(work.planned));
  if (is_new) power->second = power_w(work.trial);
  work.record().idle_power_w = power->second;
}

}  // namespace assay::steps
