#pragma once

#include <string_view>

#include "kernels/device/device_info.h"

// Modes in which a driver lets others use the device, or measures it otherwise. They are the last
// parts of DeviceInfo::driver: "NVIDIA 580.82.07, CUDA 13.0, MPS".
namespace assay::driver_mode {

inline constexpr std::string_view slice = "MIG";                    // of a device that has others
inline constexpr std::string_view mps = "MPS";                      // processes share a context
inline constexpr std::string_view exclusive = "EXCLUSIVE_PROCESS";  // one process at a time
inline constexpr std::string_view wsl2 = "WSL2";          // the device is that of a Windows host
inline constexpr std::string_view watchdog = "WATCHDOG";  // a display's: it ends long kernels

inline bool is(const DeviceInfo& device, std::string_view mode) {
  std::string_view rest = device.driver;
  while (!rest.empty()) {
    const auto end = rest.find(", ");
    if (rest.substr(0, end) == mode) return true;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 2);
  }
  return false;
}

}  // namespace assay::driver_mode
