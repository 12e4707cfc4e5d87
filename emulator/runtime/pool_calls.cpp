#include <cstdint>
#include <span>
#include <string>

#include "emulator/runtime/lacking.h"
#include "emulator/runtime/process.h"

// Memory pools and their attributes.
namespace emulator {

cudaMemPool_t default_pool(Process& p, int device) {
  const auto [place, is_new] = p.pools.defaults.try_emplace(device);
  if (is_new) {
    place->second =
        p.pools.all.add(std::make_shared<Pool>(device, 0, GpuSet{1} << p.devices.gpu(device)));
  }
  return place->second;
}

cudaMemPool_t current_pool(Process& p, int device) {
  const auto found = p.pools.current.find(device);
  const bool lives = found != p.pools.current.end() && p.pools.all.find(found->second) != nullptr;
  return lives ? found->second : default_pool(p, device);
}

void trim_pools(Process& p) {
  for (const auto& [handle, pool] : p.pools.all.all()) pool->trim_to_threshold();
}

namespace {

cudaError_t refuse(const std::string& what) {
  say_lacking(what + " is not emulated");
  return cudaErrorNotSupported;
}

/// Calls `body` with the pool of a handle.
template <class Body>
cudaError_t with_pool(cudaMemPool_t handle, const Body& body) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto pool = p.pools.all.find(handle);
    return pool == nullptr ? cudaErrorInvalidValue : body(p, *pool);
  });
}

template <class T>
void store(void* to, T value) {
  *static_cast<T*>(to) = value;
}

cudaError_t get_attribute(const Pool& pool, cudaMemPoolAttr attribute, void* value) {
  const Pool::Bytes bytes = pool.bytes();
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      store<int>(value, pool.follows_events ? 1 : 0);
      break;
    case cudaMemPoolReuseAllowOpportunistic:
      store<int>(value, pool.is_opportunistic ? 1 : 0);
      break;
    case cudaMemPoolReuseAllowInternalDependencies:
      store<int>(value, pool.adds_dependencies ? 1 : 0);
      break;
    case cudaMemPoolAttrReleaseThreshold:
      store<std::uint64_t>(value, pool.release_threshold());
      break;
    case cudaMemPoolAttrReservedMemCurrent:
      store<std::uint64_t>(value, bytes.reserved);
      break;
    case cudaMemPoolAttrReservedMemHigh:
      store<std::uint64_t>(value, bytes.max_reserved);
      break;
    case cudaMemPoolAttrUsedMemCurrent:
      store<std::uint64_t>(value, bytes.used);
      break;
    case cudaMemPoolAttrUsedMemHigh:
      store<std::uint64_t>(value, bytes.max_used);
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t set_attribute(Pool& pool, cudaMemPoolAttr attribute, const void* value) {
  const auto number = [&] { return *static_cast<const std::uint64_t*>(value); };
  const auto flag = [&] { return *static_cast<const int*>(value) != 0; };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      pool.follows_events = flag();
      break;
    case cudaMemPoolReuseAllowOpportunistic:
      pool.is_opportunistic = flag();
      break;
    case cudaMemPoolReuseAllowInternalDependencies:
      pool.adds_dependencies = flag();
      break;
    case cudaMemPoolAttrReleaseThreshold:
      pool.set_release_threshold(number());
      break;
    case cudaMemPoolAttrReservedMemHigh:
      if (number() != 0) return cudaErrorInvalidValue;
      pool.reset_max_reserved();
      break;
    case cudaMemPoolAttrUsedMemHigh:
      if (number() != 0) return cudaErrorInvalidValue;
      pool.reset_max_used();
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t set_access(Process& p, const Pool& pool, const cudaMemAccessDesc& access,
                       GpuSet& users) {
  if (access.location.type != cudaMemLocationTypeDevice ||
      !p.devices.is_ordinal(access.location.id)) {
    return cudaErrorInvalidValue;
  }
  const int device = access.location.id;
  const GpuSet bit = GpuSet{1} << p.devices.gpu(device);
  const bool is_own = device == pool.device;
  switch (access.flags) {
    case cudaMemAccessFlagsProtReadWrite:
      if (!is_own && !p.devices.can_access_peer(device, pool.device)) return cudaErrorInvalidDevice;
      users |= bit;
      return cudaSuccess;
    case cudaMemAccessFlagsProtNone:
      if (is_own) return cudaErrorInvalidValue;  // its own device keeps access
      users &= ~bit;
      return cudaSuccess;
    case cudaMemAccessFlagsProtRead:
      return refuse("a memory pool that others may only read");
    default:
      return cudaErrorInvalidValue;
  }
}

/// Calls `body(process)` if the device exists.
template <class Body>
cudaError_t with_device(int device, const Body& body) {
  return call(Wants::context, [&](Process& p, Lock&) {
    return p.devices.is_ordinal(device) ? body(p) : cudaErrorInvalidDevice;
  });
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return with_device(device, [&](Process& p) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = default_pool(p, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return with_device(device, [&](Process& p) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = current_pool(p, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return with_device(device, [&](Process& p) {
    const auto pool = p.pools.all.find(handle);
    if (pool == nullptr || pool->device != device) return cudaErrorInvalidValue;
    p.pools.current[device] = handle;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (handle == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    const cudaMemLocation& location = properties->location;
    if (location.type == cudaMemLocationTypeHost || location.type == cudaMemLocationTypeHostNuma)
      return refuse("a memory pool of the host");
    if (location.type != cudaMemLocationTypeDevice || !p.devices.is_ordinal(location.id))
      return cudaErrorInvalidValue;
    if (properties->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone)
      return refuse("a memory pool that other processes may use");
    *handle = p.pools.all.add(std::make_shared<Pool>(location.id, properties->maxSize,
                                                     GpuSet{1} << p.devices.gpu(location.id)));
    return cudaSuccess;
  });
}

/// What is allocated from it stays until it is freed.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto pool = p.pools.all.find(handle);
    if (pool == nullptr || default_pool(p, pool->device) == handle) return cudaErrorInvalidValue;
    p.pools.all.remove(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, std::size_t bytes_to_keep) {
  return with_pool(handle, [&](Process&, Pool& pool) {
    pool.trim(bytes_to_keep);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Process&, Pool& pool) {
    return value == nullptr ? cudaErrorInvalidValue : set_attribute(pool, attribute, value);
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Process&, const Pool& pool) {
    return value == nullptr ? cudaErrorInvalidValue : get_attribute(pool, attribute, value);
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* accesses,
                                 std::size_t count) {
  return with_pool(handle, [&](Process& p, Pool& pool) {
    if (accesses == nullptr && count != 0) return cudaErrorInvalidValue;
    GpuSet users = pool.users;
    for (const cudaMemAccessDesc& access : std::span(accesses, count)) {
      const cudaError_t error = set_access(p, pool, access, users);
      if (error != cudaSuccess) return error;
    }
    pool.users = users;
    for (const auto& [address, memory] : p.pools.memories)
      if (memory.pool.get() == &pool) p.memory.set_pool_users(address, users);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
  return with_pool(handle, [&](Process& p, const Pool& pool) {
    if (flags == nullptr || location == nullptr || location->type != cudaMemLocationTypeDevice ||
        !p.devices.is_ordinal(location->id)) {
      return cudaErrorInvalidValue;
    }
    const bool may_use = (pool.users >> p.devices.gpu(location->id) & 1) != 0;
    *flags = may_use ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000

namespace {

/// Calls `body(device)` if there are pools of that kind and place.
template <class Body>
cudaError_t with_pools_at(const cudaMemLocation* location, cudaMemAllocationType type,
                          const Body& body) {
  if (location == nullptr) return last_error() = cudaErrorInvalidValue;
  if (type != cudaMemAllocationTypePinned || location->type != cudaMemLocationTypeDevice)
    return last_error() = refuse("a memory pool of the host or of managed memory");
  return body(location->id);
}

}  // namespace

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return with_pools_at(location, type,
                       [&](int device) { return cudaDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return with_pools_at(location, type,
                       [&](int device) { return cudaDeviceGetMemPool(pool, device); });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  return with_pools_at(location, type,
                       [&](int device) { return cudaDeviceSetMemPool(device, pool); });
}

#endif
