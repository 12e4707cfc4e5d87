#pragma once

#include "harness/run/engine.h"
#include "kernels/base/backends.h"

namespace assay {

/// The other end of the protocol: says hello, executes the trials it is sent, leaves at the end of
/// its input. Speaks on the standard input and output that it was started with; whatever a library
/// prints goes to standard error instead. Dies with its parent.
void serve_as_worker(const Backends& backends, const EngineOptions& options);

}  // namespace assay
