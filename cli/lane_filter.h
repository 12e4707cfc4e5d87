#pragma once

#include <string>
#include <vector>

namespace assay::cli {

/// Returns whether an item of --device names a stored lane: "cuda" is each cuda:N, "cuda:0" also a
/// lane with it. No items name all.
bool is_wanted_lane(const std::string& lane, const std::vector<std::string>& wanted);

/// Throws UsageError for an item that names none of the lanes.
void check_wanted_lanes(const std::vector<std::string>& wanted,
                        const std::vector<std::string>& lanes);

}  // namespace assay::cli
