#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

class Kernel;

/// Sets of kernels that take turns, launch by launch. Those of a set are launched together, each on
/// its stream; all sets do the same, each with tensors of its own.
using LaunchSets = std::vector<std::vector<Kernel*>>;

/// Kernels on one or more streams that are launched and timed together.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  /// Launches `launches` sets, in turns from `first_set` on. Returns the seconds of device time of
  /// each stream, from the common start to its own end. Cold: begins with the caches of the
  /// streams' devices flushed.
  virtual std::vector<double> time_s(std::int64_t launches, bool cold, std::size_t first_set) = 0;
  /// True if the last launches were enqueued as graphs.
  virtual bool was_graph() const = 0;
  /// True if a part of the last launches may have waited for the host, in the times.
  virtual bool was_void() const { return false; }
  /// Core clock of the first stream's device during the last launches; empty if unknown.
  virtual std::optional<double> clock_hz() const { return std::nullopt; }
};

}  // namespace assay
