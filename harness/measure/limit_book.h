#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/records/limit.h"
#include "harness/records/record.h"
#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay::measure {

/// Measured limits, and the rating of other figures by them.
class LimitBook {
 public:
  void add(const Limit& limit) { limits_.push_back(limit); }
  /// Those of this kind with a value, one of each case.
  std::vector<const Limit*> all(const std::string& device, LimitKind kind) const;
  /// The best of them; null for none.
  const Limit* best(const std::string& device, LimitKind kind) const;

  /// The limit that needs the most time for a launch of the op.
  struct Bound {
    const Limit* limit = nullptr;
    double amount = 0;  // that the launch needs of it
  };
  std::optional<Bound> bound(const OpInstance& op, const DeviceInfo& device) const;

  /// Fills `limit` of a timed record, and `fraction_of_limit` unless it was measured in turns with
  /// the limit. A figure beyond its limit means that one of the two measurements is wrong, and
  /// `reason` says so. So far beyond it that no doubt about the limit can explain it, the launches
  /// were not the work that was verified: a right row fails, without times.
  void rate(const OpInstance& op, const DeviceInfo& device, Record& record) const;

 private:
  std::vector<Limit> limits_;
};

}  // namespace assay::measure
