#pragma once

#include <map>
#include <string>
#include <utility>

#include "harness/records/limit.h"
#include "harness/records/record.h"
#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay::measure {

/// Measured limits, and the rating of other figures by them.
class LimitBook {
 public:
  /// Adds a limit. Keeps the better of two with the same name and device.
  void add(const Limit& limit);
  const Limit* find(const std::string& device, const std::string& limit) const;

  /// Fills `limit` and `fraction_of_limit` of a timed record by the limit that needs the most time
  /// for the launch's demands. A figure beyond its limit means that one of the two measurements is
  /// wrong, and `reason` says so.
  void rate(const OpInstance& op, const DeviceInfo& device, Record& record) const;

 private:
  std::map<std::pair<std::string, std::string>, Limit> limits_;  // by device and name
};

}  // namespace assay::measure
