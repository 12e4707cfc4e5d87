#pragma once

#include <span>
#include <string_view>

#include "harness/plan/protocol.h"
#include "harness/records/run_info.h"
#include "session/options/selection_options.h"

namespace assay {

/// Describes a run before it starts: program, host, environment, devices.
RunInfo describe_run(const SelectionOptions& options, const std::vector<DeviceId>& devices,
                     const protocol::Hello& machine);

/// Variables whose values run.json records: those that change a run. Never the whole environment,
/// which holds secrets.
std::span<const std::string_view> recorded_variables();

}  // namespace assay
