#pragma once

#include "session/ab/ab_options.h"

namespace assay {

/// Compares two builds, and writes the directory of the comparison. Returns the exit code. Throws
/// UsageError, AbsentDevice and DeviceBusy.
int compare_builds(const AbOptions& options);

}  // namespace assay
