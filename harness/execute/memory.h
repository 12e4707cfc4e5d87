#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay {

/// Host memory that the checks of a case take: the inputs and the right outputs of each rank. Where
/// the device's memory is the host's, untouched device tensors count too. A reference's own state
/// comes on top.
double host_bytes(const OpInstance& op, bool device_is_host);

/// Size of all tensors of all ranks.
double tensor_bytes(const OpInstance& op);

/// Memory that is free without swapping: MemAvailable of /proc/meminfo. Empty where unknown.
std::optional<double> available_host_bytes();

/// Reason not to begin the case; empty if memory suffices. A machine without memory swaps, or kills
/// arbitrary processes.
std::optional<std::string> too_little_memory(double needed_bytes,
                                             std::optional<double> available_bytes);

/// Reason not to begin a case that takes `needed_bytes` now. Workers keep freed memory for the
/// next trial; where that is what lacks, it goes back to the system first.
std::optional<std::string> too_little_memory_now(double needed_bytes);

/// Reason why a case that found no memory on a device had none to find: the tensors of a rank and
/// what a process takes besides fit into all of its memory, and not into what others had left when
/// this process opened it. Empty if they did not hold it, or if that is not known.
std::optional<std::string> held_by_others(const OpInstance& op, const DeviceInfo& device);

}  // namespace assay
