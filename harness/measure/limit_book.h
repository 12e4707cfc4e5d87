#pragma once

#include <map>
#include <string>
#include <utility>

#include "harness/records/limit.h"
#include "harness/records/record.h"
#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay::measure {

/// The limits that were measured, and what they say of other figures.
class LimitBook {
 public:
  /// Of two of one name on one device the better one stays.
  void add(const Limit& limit);
  const Limit* find(const std::string& device, const std::string& limit) const;

  /// Fills `limit` and `fraction_of_limit` of a timed record: of the limits that its launch makes
  /// demands on, the one that takes longest to meet them. A figure beyond its limit is a fault of
  /// the measurement, of the one or of the other, and `reason` says so.
  void rate(const OpInstance& op, const DeviceInfo& device, Record& record) const;

 private:
  std::map<std::pair<std::string, std::string>, Limit> limits_;  // by device and name
};

}  // namespace assay::measure
