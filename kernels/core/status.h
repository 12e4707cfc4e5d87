#pragma once

#include <stdexcept>
#include <string>

namespace assay {

/// Why a device could not do what was asked. Each maps to one status of a record.
enum class Failure {
  not_here,       // the device or the host has no such thing, and is known not to: status `skip`
  unsupported,    // a library is missing, or refuses: status `skip`, but something must pass
  out_of_memory,  // status `oom`
  device_lost,    // the device is gone, also for a fresh process: status `device_lost`
  internal,       // anything else that a library reported, a poisoned context too: status `error`
};

/// What a backend throws. The text names the call that failed and, where known, the way out.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(Failure failure, const std::string& what)
      : std::runtime_error(what), failure_(failure) {}
  Failure failure() const { return failure_; }

 private:
  Failure failure_;
};

/// Wrong input from the user: one line that names the valid choices. Ends the program with exit 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parameters that are valid, but not together: products of axes leave such cases out.
class NotApplicable : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace assay
