#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/runtime/streams.h"

// Managed memory. The host and all GPUs see the same bytes at the same address, so that nothing has
// to move; advice and prefetches are checked and remembered.
namespace emulator {
namespace {

/// Whether all of the range is managed memory of one allocation or variable.
bool is_managed(Process& p, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto allocation = p.memory.find(address);
  return allocation && allocation->owner == managed && bytes != 0 &&
         bytes <= allocation->bytes - (address - allocation->begin);
}

/// The one NUMA node of the emulated host is 0. Nothing: there is no such place.
std::optional<Location> location_of(const Process& p, const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      if (!p.devices.is_ordinal(location.id)) return std::nullopt;
      return Location{cudaMemLocationTypeDevice, location.id};
    case cudaMemLocationTypeHost:
      return Location{cudaMemLocationTypeHost, 0};
    case cudaMemLocationTypeHostNuma:
      if (location.id != 0) return std::nullopt;
      return Location{cudaMemLocationTypeHostNuma, 0};
    case cudaMemLocationTypeHostNumaCurrent:
      return Location{cudaMemLocationTypeHostNuma, 0};
    default:
      return std::nullopt;
  }
}

/// A device ordinal or cudaCpuDeviceId, as calls before CUDA 13 name a place.
[[maybe_unused]] cudaMemLocation location_of_device(int device) {
  cudaMemLocation location{};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

cudaError_t advise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                   const cudaMemLocation& place) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (!is_managed(p, pointer, bytes)) return cudaErrorInvalidValue;
    const auto location = location_of(p, place);
    const bool names_a_place = advice == cudaMemAdviseSetPreferredLocation ||
                               advice == cudaMemAdviseSetAccessedBy ||
                               advice == cudaMemAdviseUnsetAccessedBy;
    if (names_a_place && !location) {
      return place.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                     : cudaErrorInvalidValue;
    }
    const bool is_access = names_a_place && advice != cudaMemAdviseSetPreferredLocation;
    if (is_access && location->type == cudaMemLocationTypeHostNuma) return cudaErrorInvalidValue;
    std::function<void(Advice&)> change;
    switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
        change = [&](Advice& a) { a.is_read_mostly = advice == cudaMemAdviseSetReadMostly; };
        break;
      case cudaMemAdviseSetPreferredLocation:
        change = [&](Advice& a) { a.preferred = *location; };
        break;
      case cudaMemAdviseUnsetPreferredLocation:
        change = [](Advice& a) { a.preferred = {}; };
        break;
      case cudaMemAdviseSetAccessedBy:
        change = [&](Advice& a) { a.accessed_by.insert(*location); };
        break;
      case cudaMemAdviseUnsetAccessedBy:
        change = [&](Advice& a) { a.accessed_by.erase(*location); };
        break;
      default:
        return cudaErrorInvalidValue;
    }
    p.advice.change(reinterpret_cast<std::uintptr_t>(pointer), bytes, change);
    return cudaSuccess;
  });
}

cudaError_t prefetch(const void* pointer, std::size_t bytes, const cudaMemLocation& place,
                     unsigned flags, cudaStream_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (!is_managed(p, pointer, bytes) || flags != 0) return cudaErrorInvalidValue;
    const auto location = location_of(p, place);
    if (!location) {
      return place.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                     : cudaErrorInvalidValue;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const cudaError_t error = submit(p, *stream, {"cudaMemPrefetchAsync", [&p, address, bytes] {
                                                    p.memory.view(address, bytes, Access::copy,
                                                                  host, "cudaMemPrefetchAsync");
                                                    return Progress::done;
                                                  }});
    if (error == cudaSuccess)
      p.advice.change(address, bytes, [&](Advice& a) { a.prefetched = *location; });
    return error;
  });
}

/// The place that all parts have, or none.
Location common_place(const std::vector<Advice>& parts, Location Advice::*place) {
  const Location& first = parts.front().*place;
  const bool is_common =
      std::ranges::all_of(parts, [&](const Advice& part) { return part.*place == first; });
  return is_common ? first : Location{};
}

/// As a device ordinal or cudaCpuDeviceId.
int device_at(const Location& location) {
  if (location.type == cudaMemLocationTypeDevice) return location.id;
  return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}

std::optional<int> answer(cudaMemRangeAttribute attribute, const std::vector<Advice>& parts) {
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      return std::ranges::all_of(parts, &Advice::is_read_mostly) ? 1 : 0;
    case cudaMemRangeAttributePreferredLocation:
      return device_at(common_place(parts, &Advice::preferred));
    case cudaMemRangeAttributeLastPrefetchLocation:
      return device_at(common_place(parts, &Advice::prefetched));
    case cudaMemRangeAttributePreferredLocationType:
      return common_place(parts, &Advice::preferred).type;
    case cudaMemRangeAttributePreferredLocationId:
      return common_place(parts, &Advice::preferred).id;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return common_place(parts, &Advice::prefetched).type;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      return common_place(parts, &Advice::prefetched).id;
    default:
      return std::nullopt;
  }
}

/// Devices that all parts are advised to be accessed by.
std::vector<int> accessing_devices(const std::vector<Advice>& parts) {
  std::vector<int> devices;
  for (const Location& location : parts.front().accessed_by) {
    const bool is_everywhere = std::ranges::all_of(
        parts, [&](const Advice& part) { return part.accessed_by.contains(location); });
    if (is_everywhere) devices.push_back(device_at(location));
  }
  return devices;
}

cudaError_t tell(void* data, std::size_t data_bytes, cudaMemRangeAttribute attribute,
                 const std::vector<Advice>& parts) {
  if (data == nullptr || data_bytes == 0 || data_bytes % sizeof(int) != 0)
    return cudaErrorInvalidValue;
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    std::vector<int> devices = accessing_devices(parts);
    devices.resize(data_bytes / sizeof(int), cudaInvalidDeviceId);
    std::memcpy(data, devices.data(), data_bytes);
    return cudaSuccess;
  }
  const auto value = answer(attribute, parts);
  if (!value || data_bytes != sizeof(int)) return cudaErrorInvalidValue;
  std::memcpy(data, &*value, sizeof(int));
  return cudaSuccess;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned flags) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    const bool is_known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
    if (memory == nullptr || bytes == 0 || !is_known) return cudaErrorInvalidValue;
    const std::uintptr_t address = p.memory.allocate_managed(bytes);
    if (address == 0) return cudaErrorMemoryAllocation;
    p.managed_memories[address] = {bytes, current_device()};
    *memory = reinterpret_cast<void*>(address);
    return cudaSuccess;
  });
}

// Which stream uses memory matters on GPUs without concurrent access alone: there are none here.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* memory, std::size_t bytes,
                                     unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const auto allocation = p.memory.find(address);
    const bool is_whole = allocation && allocation->owner == managed &&
                          allocation->begin == address &&
                          (bytes == 0 || bytes == allocation->bytes);
    const bool is_known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost ||
                          (flags == cudaMemAttachSingle && !stream->is_legacy);
    if (!is_whole || !is_known) return cudaErrorInvalidValue;
    return submit(p, *stream, {"cudaStreamAttachMemAsync", [] { return Progress::done; }});
  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return advise(memory, bytes, advice, location);
}

cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return prefetch(memory, bytes, location, flags, stream);
}
#else
cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, cudaMemoryAdvise advice,
                          int device) {
  return advise(memory, bytes, advice, location_of_device(device));
}

cudaError_t cudaMemAdvise_v2(const void* memory, std::size_t bytes, cudaMemoryAdvise advice,
                             cudaMemLocation location) {
  return advise(memory, bytes, advice, location);
}

cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes, int device,
                                 cudaStream_t stream) {
  return prefetch(memory, bytes, location_of_device(device), 0, stream);
}

cudaError_t cudaMemPrefetchAsync_v2(const void* memory, std::size_t bytes, cudaMemLocation location,
                                    unsigned flags, cudaStream_t stream) {
  return prefetch(memory, bytes, location, flags, stream);
}
#endif

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes,
                                      cudaMemRangeAttribute* attributes, std::size_t count,
                                      const void* memory, std::size_t bytes) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (data == nullptr || data_bytes == nullptr || attributes == nullptr || count == 0 ||
        !is_managed(p, memory, bytes)) {
      return cudaErrorInvalidValue;
    }
    const auto parts = p.advice.of(reinterpret_cast<std::uintptr_t>(memory), bytes);
    for (std::size_t i = 0; i < count; ++i) {
      const cudaError_t error = tell(data[i], data_bytes[i], attributes[i], parts);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes,
                                     cudaMemRangeAttribute attribute, const void* memory,
                                     std::size_t bytes) {
  return cudaMemRangeGetAttributes(&data, &data_bytes, &attribute, 1, memory, bytes);
}
