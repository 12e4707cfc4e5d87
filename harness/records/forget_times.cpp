#include "harness/records/forget_times.h"

namespace assay {

void forget_times(Record& record) {
  record.stop_reason.clear();
  record.limit.clear();
  record.rank_times_s.clear();
  record.second_take.reset();
  record.beyond_limit.reset();
  record.throttled.reset();
  record.power_capped.reset();
  for (auto* count : {&record.samples, &record.launches_per_sample, &record.turns_with_limit,
                      &record.void_samples}) {
    count->reset();
  }
  for (auto* figure : {&record.time_min_s,
                       &record.time_q1_s,
                       &record.time_median_s,
                       &record.time_q3_s,
                       &record.time_ci_low_s,
                       &record.time_ci_high_s,
                       &record.noise,
                       &record.empty_sample_s,
                       &record.between_samples_s,
                       &record.flops_per_s,
                       &record.bandwidth_bytes_per_s,
                       &record.bandwidth_forth_bytes_per_s,
                       &record.bandwidth_back_bytes_per_s,
                       &record.algbw_bytes_per_s,
                       &record.busbw_bytes_per_s,
                       &record.fraction_of_limit,
                       &record.fraction_ci_low,
                       &record.fraction_ci_high,
                       &record.clock_hz,
                       &record.sm_clock_hz,
                       &record.temperature_c,
                       &record.power_w,
                       &record.energy_per_launch_j,
                       &record.energy_ci_low_j,
                       &record.energy_ci_high_j,
                       &record.energy_by_power_per_launch_j,
                       &record.energy_per_flop_j,
                       &record.energy_resolution_s}) {
    figure->reset();
  }
}

}  // namespace assay
