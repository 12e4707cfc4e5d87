#pragma once

#include <optional>

#include "kernels/device/launch_info.h"

namespace assay {

/// Names the variable of a worker with the hash of its parent's command line.
inline constexpr const char* command_hash_name = "ASSAY_COMMAND_HASH";

/// Describes the launcher, with the hash of the command line. Nothing without a launcher.
std::optional<LaunchInfo> this_launch();

}  // namespace assay
