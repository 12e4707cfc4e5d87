#pragma once

#include "cli/selection_options.h"
#include "harness/run_info.h"

namespace assay::cli {

/// What is known of a run before it starts: who, where, with what, on which devices.
RunInfo describe_run(const SelectionOptions& options, const std::vector<DeviceId>& devices,
                     const protocol::Hello& machine);

}  // namespace assay::cli
