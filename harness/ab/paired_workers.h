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

/// What each side has, by side.
template <class T>
struct Both {
  T base;
  T cand;
  T& operator[](Side side) { return side == Side::base ? base : cand; }
  const T& operator[](Side side) const { return side == Side::base ? base : cand; }
};

/// A worker of each side on one lane, started when the first trial is given and gone with the
/// object.
class PairedWorkers {
 public:
  /// `uuids` of the lane's devices, where they are known: a worker that finds others in their place
  /// is not asked.
  PairedWorkers(const std::vector<DeviceId>& lane, const std::vector<std::string>& uuids,
                const Both<WorkerCommand>& commands, double timeout_s);

  /// Verifies the trial on both sides, one after the other, then times `first` and the other back
  /// to back; the one that does not run is stopped meanwhile (times beside one that does not stop
  /// are contended). A side that its lane has given up is not asked. Nothing when interrupted.
  std::optional<Both<Result>> measure(const PlannedTrial& trial, Side first,
                                      const std::function<bool()>& interrupted);

 private:
  /// Until the lane waits for its turn, or has a result, which is then in `result`.
  bool work(Side side, std::optional<Result>& result, const std::function<bool()>& interrupted);

  Both<Lane> lanes_;
};

}  // namespace assay::ab
