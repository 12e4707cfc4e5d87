#pragma once

#include "harness/measure/sampler.h"
#include "harness/oracle/precision.h"
#include "harness/oracle/verdict.h"
#include "harness/records/record.h"
#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay {

/// The correctness columns of a record.
void fill_verdict(Record& record, const OpInstance& op, const oracle::Verdict& verdict);

void fill_precision(Record& record, const oracle::Precision& precision);

/// Joules, or in `reason` why the device does not tell them.
void fill_energy(Record& record, const OpInstance& op, const measure::Energy& energy);

/// Adds to `reason`, once for all devices, what the mode of a device's driver makes of figures.
void add_mode_notes(Record& record, const DeviceInfo& device);

/// The share of the limit, measured in turns with it; nothing if it was not. `launches` of the
/// yardstick need as much of the limit as one of the op.
void fill_share(Record& record, double launches, const measure::Measurement& measurement);

/// The time columns, and the rates that follow from them and the op's work.
void fill_times(Record& record, const OpInstance& op, const measure::Measurement& measurement);

}  // namespace assay
