#include "harness/execute/fill_record.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/device/driver_mode.h"

namespace assay {

namespace {

/// The number of six digits at or next above an error: more say nothing of it, and are most of what
/// a row takes in a page. None is understated, and 1 stays the limit of a ratio.
double six_digits_of(double error) {
  if (!std::isfinite(error) || error <= 0) return error;
  const auto rounded = [](double x) {  // stod takes subnormal numbers for errors
    return std::strtod(fmt::format("{:.5e}", x).c_str(), nullptr);
  };
  const double nearest = rounded(error);
  if (nearest >= error) return nearest;
  const double last_digit = std::pow(10, std::floor(std::log10(nearest)) - 5);
  return rounded(nearest + last_digit);
}

std::optional<double> six_digits_of(std::optional<double> error) {
  return error ? std::optional(six_digits_of(*error)) : error;
}

}  // namespace

void fill_verdict(Record& record, const OpInstance& op, const oracle::Verdict& verdict) {
  record.elements = verdict.elements;
  record.mismatches = verdict.mismatches;
  record.max_ulp = six_digits_of(verdict.max_ulp);
  record.max_abs_error = six_digits_of(verdict.max_abs_error);
  record.max_bound_ratio = six_digits_of(verdict.max_bound_ratio);
  if (!verdict.worst.known) return;
  record.worst_index = verdict.worst.index;
  if (op.signature.ranks > 1) record.worst_rank = verdict.worst.rank;
  record.worst_expected = verdict.expected();
  record.worst_actual = verdict.actual();
  record.worst_allowed = verdict.worst.allowed;
}

// Rounds to digits that do not depend on the order in which threads finish.
void fill_precision(Record& record, const oracle::Precision& precision) {
  if (precision.effective_bits) {
    record.effective_bits = std::round(*precision.effective_bits * 100) / 100;
  }
  record.misrounded_fraction = precision.misrounded_fraction;
  record.worst_ratio = six_digits_of(precision.worst_ratio);
}

namespace {

/// Half of the bytes by the median time of one way. Empty if the samples have no such time.
std::optional<double> way_bandwidth(const OpInstance& op, const std::vector<Sample>& samples,
                                    std::optional<double> Sample::*way_s) {
  std::vector<double> launch_s;
  for (const Sample& sample : samples) {
    if (!(sample.*way_s)) return std::nullopt;
    launch_s.push_back(*(sample.*way_s) / static_cast<double>(sample.launches));
  }
  const double median_s = launch_s.empty() ? 0 : statistics::median(launch_s);
  if (median_s <= 0) return std::nullopt;
  return op.signature.bytes / 2 / median_s;
}

}  // namespace

void fill_times(Record& record, const OpInstance& op, const measure::Measurement& m) {
  record.samples = std::ssize(m.samples);
  record.stop_reason = m.stop_reason;
  record.launches_per_sample = m.launches_per_sample;
  record.empty_sample_s = m.empty_sample_s;
  record.between_samples_s = m.between_samples_s;
  record.clock_hz = m.condition.clock_hz;
  record.temperature_c = m.condition.temperature_c;
  record.power_w = m.condition.power_w;
  record.throttled = m.condition.throttled;
  record.power_capped = m.condition.power_capped;
  record.sm_clock_hz = m.core_clock_hz;
  const statistics::Summary& t = m.launch_s;
  record.time_min_s = t.min;
  record.time_q1_s = t.q1;
  record.time_median_s = t.median;
  record.time_q3_s = t.q3;
  if (t.interval) {
    record.time_ci_low_s = t.interval->low;
    record.time_ci_high_s = t.interval->high;
  }
  for (const double rank_s : m.rank_launch_s) {
    record.rank_times_s += fmt::format("{}{:.6g}", record.rank_times_s.empty() ? "" : ";", rank_s);
  }
  if (t.median <= 0) return;
  record.noise = (t.q3 - t.q1) / t.median;
  if (op.op->collective) {
    // Defined as in nccl-tests; one rank moves nothing over a bus.
    record.algbw_bytes_per_s = op.signature.bytes / t.median;
    if (op.signature.ranks > 1) {
      record.busbw_bytes_per_s = *record.algbw_bytes_per_s * op.signature.bus_share;
    }
  } else {
    record.bandwidth_bytes_per_s = op.signature.bytes / t.median;
    record.bandwidth_forth_bytes_per_s = way_bandwidth(op, m.samples, &Sample::seconds_forth);
    record.bandwidth_back_bytes_per_s = way_bandwidth(op, m.samples, &Sample::seconds_back);
    if (op.signature.flops > 0) record.flops_per_s = op.signature.flops / t.median;
  }
}

void fill_energy(Record& record, const OpInstance& op, const measure::Energy& energy) {
  record.energy_by_power_per_launch_j = energy.launch_by_power_j;
  record.energy_resolution_s = energy.resolution_s;
  if (!energy.problem.empty()) {
    record.reason += (record.reason.empty() ? "" : ", ") + ("energy: " + energy.problem);
    return;
  }
  record.energy_per_launch_j = energy.launch_j;
  if (energy.launch_ci) {
    record.energy_ci_low_j = energy.launch_ci->low;
    record.energy_ci_high_j = energy.launch_ci->high;
  }
  if (op.signature.flops > 0) record.energy_per_flop_j = *energy.launch_j / op.signature.flops;
}

void add_mode_notes(Record& record, const DeviceInfo& device) {
  const auto note = [&](std::string_view text) {
    if (record.reason.find(text) != std::string::npos) return;
    record.reason.append(record.reason.empty() ? "" : ", ").append(text);
  };
  if (driver_mode::is(device, driver_mode::wsl2)) {
    note("times: events under WSL2, where Windows hands work to the GPU");
  }
  if (record.energy_per_launch_j && driver_mode::is(device, driver_mode::slice)) {
    note("energy: of the whole GPU, which other slices may use");
  }
}

void fill_share(Record& record, double launches, const measure::Measurement& measurement) {
  if (!measurement.yardstick) return;
  const statistics::Summary& per_launch = measurement.yardstick->per_launch;
  record.fraction_of_limit = launches * per_launch.median;
  record.turns_with_limit = measurement.yardstick->turns;
  if (!per_launch.interval) return;
  record.fraction_ci_low = launches * per_launch.interval->low;
  record.fraction_ci_high = launches * per_launch.interval->high;
}

}  // namespace assay
