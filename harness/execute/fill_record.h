#pragma once

#include "harness/measure/sampler.h"
#include "harness/oracle/precision.h"
#include "harness/oracle/verdict.h"
#include "harness/records/record.h"
#include "kernels/ops/op.h"

namespace assay {

/// The correctness columns of a record.
void fill_verdict(Record& record, const OpInstance& op, const oracle::Verdict& verdict);

void fill_precision(Record& record, const oracle::Precision& precision);

/// The time columns, and the rates that follow from them and the op's work.
void fill_times(Record& record, const OpInstance& op, const measure::Measurement& measurement);

}  // namespace assay
