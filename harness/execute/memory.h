#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/ops/op.h"

namespace assay {

/// What the checks of a case take of the host's memory: the inputs and the right outputs of each
/// rank, and where the device's memory is the host's, the tensors on it that are not touched yet.
/// A reference's own state comes on top.
double host_bytes(const OpInstance& op, bool device_is_host);

/// Without pushing anything out: MemAvailable of /proc/meminfo. Nothing where that is not told.
std::optional<double> available_host_bytes();

/// Why the case is not begun: a machine that runs out of memory swaps, or kills what it likes.
std::optional<std::string> too_little_memory(double needed_bytes,
                                             std::optional<double> available_bytes);

}  // namespace assay
