#pragma once

#include "harness/execute/checks.h"
#include "harness/execute/trial.h"

// Checks of kernels that nobody vouches for, in a process of their own.
namespace assay {

/// Throws WrongResult if work goes on after its stream has ended: a launch that returns, or ends on
/// its stream, before it is done. Leaves the output overwritten.
void check_late_writes(Trial& trial, const Checks& checks);

}  // namespace assay
