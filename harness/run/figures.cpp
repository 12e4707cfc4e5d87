#include "harness/run/figures.h"

namespace assay {

void fill_verdict(Record& record, const OpInstance& op, const oracle::Verdict& verdict) {
  record.elements = verdict.elements;
  record.mismatches = verdict.mismatches;
  record.max_ulp = verdict.max_ulp;
  record.max_abs_error = verdict.max_abs_error;
  record.max_bound_ratio = verdict.max_bound_ratio;
  if (!verdict.worst.known) return;
  record.worst_index = verdict.worst.index;
  if (op.op->collective) record.worst_rank = verdict.worst.rank;
  record.worst_expected = verdict.expected();
  record.worst_actual = verdict.actual();
}

void fill_times(Record& record, const OpInstance& op, const measure::Measurement& m) {
  record.samples = std::ssize(m.samples);
  record.stop_reason = m.stop_reason;
  record.time_min_s = m.min_s;
  record.time_q1_s = m.q1_s;
  record.time_median_s = m.median_s;
  record.time_q3_s = m.q3_s;
  record.time_ci_low_s = m.ci_low_s;
  record.time_ci_high_s = m.ci_high_s;
  if (m.median_s <= 0) return;
  record.noise = (m.q3_s - m.q1_s) / m.median_s;
  if (op.op->collective) {
    // As nccl-tests define them; one rank moves nothing over a bus.
    const double ranks = op.signature.ranks;
    record.algbw_bytes_per_s = op.signature.bytes / m.median_s;
    if (ranks > 1) record.busbw_bytes_per_s = *record.algbw_bytes_per_s * 2 * (ranks - 1) / ranks;
  } else {
    record.bandwidth_bytes_per_s = op.signature.bytes / m.median_s;
    if (op.signature.flops > 0) record.flops_per_s = op.signature.flops / m.median_s;
  }
}

}  // namespace assay
