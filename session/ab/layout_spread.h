#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "harness/records/paired.h"
#include "kernels/device/device_info.h"

namespace assay {

/// Difference of the times of equal programs that lie at different addresses, as `assay ab --aa`
/// found it on one machine. Kept in the file of --spread.
struct LayoutSpread {
  double spread = 0;  // 0.03: 3%
  std::string recorded_at;
};

/// Returns the largest ratio, as a part above 1 in either direction, of a case that was confirmed
/// to be slower or whose whole interval lies beyond the margin on the faster side: the effect of
/// chance on the largest of many cases must not widen a margin. Nothing if no case has times.
std::optional<double> spread_of(std::span<const PairedCase> cases);

/// Returns the machine of a spread: the host and its processors, not the order of its devices.
std::string machine_of(const std::string& host, std::span<const DeviceInfo> devices);

/// Throws UsageError if the file is missing, is no spread file, or is of another machine.
LayoutSpread read_spread(const std::filesystem::path& path, const std::string& machine);

std::string spread_text(const LayoutSpread& spread, const std::string& machine);

/// Beginning of a spread file.
inline constexpr const char* spread_begin = "{\n  \"layout_spread\":";

}  // namespace assay
