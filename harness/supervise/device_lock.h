#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "kernels/core/file_descriptor.h"

namespace assay {

/// Another run holds the device, and the caller does not wait.
struct DeviceBusy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Allows one run at a time on a device: an advisory lock on a file named by the device's UUID. The
/// kernel releases it when the process ends, however it ends. All users of the machine share it.
class DeviceLock {
 public:
  /// Folder of the lock files: the environment's ASSAY_LOCK_DIR, else `assay-locks` in /tmp. Runs
  /// that must not meet need the same folder. Everybody may write in it. It is sticky, so nobody
  /// can remove files of others.
  static std::filesystem::path folder();

  /// Takes the lock or throws DeviceBusy, which names the holder. With `wait`, retries until it is
  /// free or `interrupted` returns true (then DeviceBusy). Throws std::system_error if no lock file
  /// can exist, if others could remove it, or if a link stands there: a gate must not run unlocked.
  DeviceLock(const std::filesystem::path& folder, const std::string& uuid, bool wait,
             const std::function<bool()>& interrupted,
             const std::function<void(const std::string&)>& say_waiting);

 private:
  FileDescriptor file_;
};

}  // namespace assay
