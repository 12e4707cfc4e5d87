#pragma once

#include <sys/types.h>

#include <vector>

namespace assay::remote {

/// Lets a child process stand still, with all that it has started: a process that shares its memory
/// could work for it meanwhile, or wake it.
class Standstill {
 public:
  /// Returns when all threads of the child stand still. False if it has ended, or is no child of
  /// this process. Throws DeviceError(internal) if something wakes it again.
  bool begin(pid_t child);
  /// Lets all go on.
  void end();

 private:
  std::vector<pid_t> stopped_;  // the child first
};

}  // namespace assay::remote
