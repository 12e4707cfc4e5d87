#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "kernels/core/file_descriptor.h"

namespace assay {

/// A device that another run holds, and nobody asked to wait.
struct DeviceBusy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One run at a time on a device: an advisory lock on a file named by the device's UUID, which the
/// kernel releases when the process ends, however it ends. Shared by all users of the machine.
class DeviceLock {
 public:
  /// Where the files lie: the environment's ASSAY_LOCK_DIR, else `assay-locks` in /tmp. The folder
  /// must be the same for all runs that shall not meet. Everybody may write in it and, as it is
  /// sticky, remove nothing of others.
  static std::filesystem::path folder();

  /// Takes the lock or throws DeviceBusy, which names the holder. With `wait`, asks again until it
  /// is free or `interrupted` says so (then DeviceBusy). Throws std::system_error when there can be
  /// no lock file, or others could remove it or have put a link there: a gate must not run
  /// unlocked.
  DeviceLock(const std::filesystem::path& folder, const std::string& uuid, bool wait,
             const std::function<bool()>& interrupted,
             const std::function<void(const std::string&)>& say_waiting);

 private:
  FileDescriptor file_;
};

}  // namespace assay
