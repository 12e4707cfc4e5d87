#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "harness/records/paired.h"
#include "kernels/device/device_info.h"

namespace assay::cli {

/// How much the times of equal programs differ for lying at other addresses alone, as `assay ab
/// --aa` found it on one machine. Kept in the file of --spread.
struct LayoutSpread {
  double spread = 0;  // 0.03: 3%
  std::string recorded_at;
};

/// The largest ratio, as a part above 1 in either direction, of a case that was confirmed to be
/// slower or whose whole interval lies beyond the margin on the faster side: what chance alone does
/// to the largest of many cases must not widen a margin. Nothing where no case has times.
std::optional<double> spread_of(std::span<const PairedCase> cases);

/// The machine that a spread is of: the host and its processors, not the order of its devices.
std::string machine_of(const std::string& host, std::span<const DeviceInfo> devices);

/// Throws UsageError where the file is not there, is none of these, or is of another machine.
LayoutSpread read_spread(const std::filesystem::path& path, const std::string& machine);

std::string spread_text(const LayoutSpread& spread, const std::string& machine);

/// How such a file begins.
inline constexpr const char* spread_begin = "{\n  \"layout_spread\":";

}  // namespace assay::cli
