#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/records/paired.h"
#include "kernels/device/device_info.h"

namespace assay::cli {

/// How much the times of equal programs differ for lying at other addresses alone, as `assay ab
/// --aa` found it on one machine. Kept in $XDG_STATE_HOME/assay/layout-spread.json (by default
/// ~/.local/state/assay).
struct LayoutSpread {
  double spread = 0;  // 0.03: 3%
  std::string recorded_at;
};

/// The largest ratio, as a part above 1 in either direction, of a case that was confirmed to be
/// slower or whose whole interval lies beyond the margin on the faster side: what chance alone does
/// to the largest of many cases must not widen a margin. Nothing where no case has times.
std::optional<double> spread_of(std::span<const PairedCase> cases);

/// What is recorded for this host and all of these devices together; nothing when it is not.
std::optional<LayoutSpread> recorded_spread(const std::string& host,
                                            std::span<const DeviceInfo> devices);

/// Records it, unless more is recorded already: which case lies badly changes from build to build
/// and from input to input, so one comparison alone may find little. Returns a sentence for a
/// person: what stands there now, or why nothing does.
std::string record_spread(const std::string& host, std::span<const DeviceInfo> devices,
                          const LayoutSpread& spread);

}  // namespace assay::cli
