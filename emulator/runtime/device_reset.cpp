#include <sys/mman.h>

#include <vector>

#include "emulator/runtime/functions.h"
#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

template <class Handle, class Object>
void remove_of_device(Handles<Handle, Object>& handles, int device) {
  std::vector<Handle> found;
  for (const auto& [handle, object] : handles.all())
    if (object->device == device) found.push_back(handle);
  for (const Handle handle : found) handles.remove(handle);
}

/// Ends what the device has, but for memory that streams have allocated: that is documented to
/// stay.
void release_memory(Process& p, int device) {
  std::erase_if(p.allocations, [&](const auto& entry) {
    if (entry.second == device) p.memory.release(entry.first);
    return entry.second == device;
  });
  std::erase_if(p.managed_memories, [&](const auto& entry) {
    if (entry.second.device != device) return false;
    p.advice.forget(entry.first, entry.second.bytes);
    p.memory.release(entry.first);
    return true;
  });
  std::erase_if(p.pinned, [&](const auto& entry) {
    const auto& [address, pinned] = entry;
    if (pinned.device != device) return false;
    void* const memory = reinterpret_cast<void*>(address);
    p.memory.remove_host(memory);
    if (!pinned.is_registered) munmap(memory, whole_pages(pinned.bytes));
    return true;
  });
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaDeviceReset() {
  return call(Wants::safety, [](Process& p, Lock& lock) {
    const int device = current_device();
    wait_for_device(p, lock, device);
    if (sticky_error() != cudaSuccess) return cudaSuccess;
    release_memory(p, device);
    remove_of_device(p.streams, device);
    remove_of_device(p.events, device);
    p.legacy_streams.erase(device);
    p.all_work.erase(device);
    std::erase_if(p.limits, [&](const auto& entry) { return entry.first.first == device; });
    std::erase_if(p.peers, [&](const auto& pair) {
      if (pair.first != device) return false;
      p.memory.enable_peer(p.devices.gpu(device), p.devices.gpu(pair.second), false);
      return true;
    });
    p.cache_configs.erase(device);
    p.device_flags.erase(device);
    p.pools.current.erase(device);
    reset_variables(p, p.devices.gpu(device));
    return cudaSuccess;
  });
}
