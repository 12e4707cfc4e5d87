#pragma once

#include "harness/placement/devices.h"

namespace assay::placement {

/// Makes a device the current one of its kind during the guard's lifetime. Then restores the
/// previous one, however the scope is left.
class DeviceGuard {
 public:
  explicit DeviceGuard(const Place& place)
      : devices_(place.devices()), before_(devices_.current(place.id().backend)) {
    devices_.make_current(place.id());
  }
  ~DeviceGuard() { devices_.make_current(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  Devices& devices_;
  DeviceId before_;
};

}  // namespace assay::placement
