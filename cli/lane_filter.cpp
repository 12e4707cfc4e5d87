#include "cli/lane_filter.h"

#include <algorithm>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/device/device_id.h"

namespace assay::cli {

bool is_wanted_lane(const std::string& lane, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return true;
  const std::vector<std::string> members = split_lane(lane);
  return std::ranges::any_of(wanted, [&](const std::string& item) {
    return lane == item || std::ranges::any_of(members, [&](const std::string& device) {
             return device == item || device.starts_with(item + ":");
           });
  });
}

void check_wanted_lanes(const std::vector<std::string>& wanted,
                        const std::vector<std::string>& lanes) {
  for (const std::string& item : wanted) {
    if (std::ranges::none_of(
            lanes, [&](const std::string& lane) { return is_wanted_lane(lane, {item}); })) {
      throw UsageError("--device: " + unknown_name("device", item, lanes));
    }
  }
}

}  // namespace assay::cli
