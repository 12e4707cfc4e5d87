#pragma once

#include <stdexcept>
#include <string>

namespace assay {

/// Reasons why a device failed a request. Each maps to one status of a record.
enum class Failure {
  not_here,       // known not to exist on this device or host: status `skip`
  unsupported,    // a library is missing, or refuses: status `skip`, but something must pass
  out_of_memory,  // status `oom`
  device_lost,    // the device is gone, for a fresh process too: status `device_lost`
  internal,       // any other library error, and a poisoned context: status `error`
};

/// Exception of backends. The text names the call that failed and, if known, the remedy.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(Failure failure, const std::string& what)
      : std::runtime_error(what), failure_(failure) {}
  Failure failure() const { return failure_; }

 private:
  Failure failure_;
};

/// Wrong input from the user. The text is one line with the valid choices. Exits with code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parameters that are valid, but not together. Products of axes leave such cases out.
class NotApplicable : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace assay
