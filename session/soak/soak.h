#pragma once

#include "session/soak/soak_job.h"

namespace assay {

/// Keeps the devices of a soak busy, and writes its directory. Returns the exit code.
int soak(SoakJob& job);

}  // namespace assay
