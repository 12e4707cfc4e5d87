#pragma once

#include "harness/execute/checks.h"
#include "harness/execute/trial.h"

// Checks of kernels that nobody vouches for, in a process of their own.
namespace assay {

/// Throws WrongResult if work goes on after its stream has ended: a launch that returns, or ends on
/// its stream, before it is done. Leaves the output overwritten.
void check_late_writes(Trial& trial, const Checks& checks);

/// Compares the time that the other process tells of its launches with that which this one sees
/// pass. Throws WrongResult if less is told: somebody has changed the clock there.
void check_clock(Trial& trial, const Checks& checks);

}  // namespace assay
