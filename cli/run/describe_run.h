#pragma once

#include <span>
#include <string_view>

#include "cli/selection_options.h"
#include "harness/records/run_info.h"

namespace assay::cli {

/// What is known of a run before it starts: who, where, with what, on which devices.
RunInfo describe_run(const SelectionOptions& options, const std::vector<DeviceId>& devices,
                     const protocol::Hello& machine);

/// The variables whose values run.json records: those that change what a run does. Never the whole
/// environment, which holds secrets.
std::span<const std::string_view> recorded_variables();

}  // namespace assay::cli
