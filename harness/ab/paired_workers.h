#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/supervise/lane.h"

namespace assay::ab {

enum class Side : std::size_t { base, cand };
constexpr Side other(Side side) { return side == Side::base ? Side::cand : Side::base; }
constexpr std::string_view name(Side side) { return side == Side::base ? "base" : "cand"; }

/// One value for each side.
template <class T>
struct Both {
  T base;
  T cand;
  T& operator[](Side side) { return side == Side::base ? base : cand; }
  const T& operator[](Side side) const { return side == Side::base ? base : cand; }
};

/// One worker of each side on one lane. They start with the first trial and end with the object.
class PairedWorkers {
 public:
  /// `uuids` are those of the lane's devices, where known. A worker that finds other devices gets
  /// no trials.
  PairedWorkers(const std::vector<DeviceId>& lane, const std::vector<std::string>& uuids,
                const Both<WorkerCommand>& commands, double timeout_s);

  /// Verifies the trial on both sides, one after the other. Then times `first` and the other side
  /// back to back, each while the other side's worker is stopped; if that one does not stop, the
  /// times count as contended. Skips a side whose lane has given up. Returns nothing when
  /// interrupted.
  std::optional<Both<Result>> measure(const PlannedTrial& trial, Side first,
                                      const std::function<bool()>& interrupted);

 private:
  /// Works until the lane waits for its turn or has a result, stored in `result`. False when
  /// interrupted.
  bool work(Side side, std::optional<Result>& result, const std::function<bool()>& interrupted);

  Both<Lane> lanes_;
};

}  // namespace assay::ab
