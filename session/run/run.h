#pragma once

#include "session/run/job.h"

namespace assay {

/// Takes the trials of a job, and writes its directory. Returns the exit code.
int run(Job& job);

}  // namespace assay
