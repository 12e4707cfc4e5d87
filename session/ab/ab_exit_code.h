#pragma once

#include "harness/ab/comparison.h"
#include "session/process/exit_code.h"

namespace assay {

/// Returns the exit code of a comparison. Only `fail_on_inconclusive` tells one that decided no
/// case from one that found nothing worse.
ExitCode exit_code_of(const ab::Outcome& outcome, bool fail_on_inconclusive);

}  // namespace assay
