#pragma once

#include <cstdint>
#include <vector>

namespace assay {

/// Kernels on one or more streams that are launched and timed together.
class TimedWork {
 public:
  virtual ~TimedWork() = default;
  /// Launches each kernel `launches` times. Returns the seconds of device time of each stream, from
  /// the common start to its own end. Cold: begins with the caches of the streams' devices flushed.
  virtual std::vector<double> time_s(std::int64_t launches, bool cold) = 0;
  /// True if the last launches were enqueued as graphs.
  virtual bool was_graph() const = 0;
};

}  // namespace assay
