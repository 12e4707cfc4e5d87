#include "harness/execute/fill_record.h"

#include <cmath>

namespace assay {

void fill_verdict(Record& record, const OpInstance& op, const oracle::Verdict& verdict) {
  record.elements = verdict.elements;
  record.mismatches = verdict.mismatches;
  record.max_ulp = verdict.max_ulp;
  record.max_abs_error = verdict.max_abs_error;
  record.max_bound_ratio = verdict.max_bound_ratio;
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
  record.worst_ratio = precision.worst_ratio;
}

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
  const statistics::Summary& t = m.launch_s;
  record.time_min_s = t.min;
  record.time_q1_s = t.q1;
  record.time_median_s = t.median;
  record.time_q3_s = t.q3;
  if (t.interval) {
    record.time_ci_low_s = t.interval->low;
    record.time_ci_high_s = t.interval->high;
  }
  if (t.median <= 0) return;
  record.noise = (t.q3 - t.q1) / t.median;
  if (op.op->collective) {
    // Defined as in nccl-tests; one rank moves nothing over a bus.
    const double ranks = op.signature.ranks;
    record.algbw_bytes_per_s = op.signature.bytes / t.median;
    if (ranks > 1) record.busbw_bytes_per_s = *record.algbw_bytes_per_s * 2 * (ranks - 1) / ranks;
  } else {
    record.bandwidth_bytes_per_s = op.signature.bytes / t.median;
    if (op.signature.flops > 0) record.flops_per_s = op.signature.flops / t.median;
  }
}

}  // namespace assay
