#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>

#include "emulator/runtime/process.h"

// Ways to find a device, and to prepare it.
namespace emulator {
namespace {

bool are_device_flags(unsigned flags) {
  constexpr unsigned others = cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  const bool is_one_schedule = (schedule & (schedule - 1)) == 0;
  return is_one_schedule && (flags & ~(cudaDeviceScheduleMask | others)) == 0;
}

/// "0000:01:00.0", "01:00.0" with or without the function, as digits that any case may write.
/// Returns -1 for what is no PCI bus of function 0.
int bus_of(const char* text) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  int used = 0;
  const std::string id(text);
  const bool has_domain = std::ranges::count(id, ':') == 2;
  const char* format = has_domain ? "%x:%x:%x%n" : "%x:%x%n";
  const int found = has_domain ? std::sscanf(text, format, &domain, &bus, &device, &used)
                               : std::sscanf(text, format, &bus, &device, &used);
  if (found != (has_domain ? 3 : 2)) return -1;
  const std::string rest = id.substr(static_cast<std::size_t>(used));
  if (!rest.empty() && std::sscanf(rest.c_str(), ".%x", &function) != 1) return -1;
  return domain == 0 && device == 0 && function == 0 ? static_cast<int>(bus) : -1;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call(Wants::devices, [&](Process& p, Lock&) {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    const int bus = bus_of(text);
    if (bus < 0) return cudaErrorInvalidValue;
    const auto found =
        std::ranges::find_if(p.devices.visible, [&](int gpu) { return pci_bus(gpu) == bus; });
    if (found == p.devices.visible.end()) return cudaErrorInvalidDevice;
    *device = static_cast<int>(found - p.devices.visible.begin());
    return cudaSuccess;
  });
}

/// All devices are of one model, so that each suits as well as another.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return call(Wants::devices, [&](Process&, Lock&) {
    if (device == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

// How the host waits is not emulated: all flags act alike.
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call(Wants::devices, [&](Process& p, Lock&) {
    if (!are_device_flags(flags)) return cudaErrorInvalidValue;
    p.device_flags[current_device()] = flags;
    return cudaSuccess;
  });
}

/// Memory of the host can always be mapped, whatever the program asked for.
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call(Wants::devices, [&](Process& p, Lock&) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = p.device_flags[current_device()] | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return call(Wants::devices, [&](Process& p, Lock&) {
    if (!p.devices.is_ordinal(device)) return cudaErrorInvalidDevice;
    const bool has_flags = flags == cudaInitDeviceFlagsAreValid;
    if ((!has_flags && flags != 0) || (has_flags && !are_device_flags(device_flags)))
      return cudaErrorInvalidValue;
    if (p.is_lost_at_once && p.devices.gpu(device) == p.lost_gpu)
      return cudaErrorDevicesUnavailable;
    if (!has_context(p, p.devices.gpu(device))) return cudaErrorDevicesUnavailable;
    if (has_flags) p.device_flags[device] = device_flags;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  return call(Wants::devices, [&](Process& p, Lock&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!p.devices.is_ordinal(device) || !p.devices.is_ordinal(peer) || device == peer)
      return cudaErrorInvalidDevice;
    const bool can = p.devices.can_access_peer(device, peer);
    switch (attribute) {
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
        *value = can ? 1 : 0;
        return cudaSuccess;
      case cudaDevP2PAttrPerformanceRank:
        *value = 0;  // all pairs are alike
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}
