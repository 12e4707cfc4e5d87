#include <algorithm>

#include "emulator/runtime/streams.h"

// What a stream can be asked for, and hints that it may be given.
namespace emulator {
namespace {

/// Calls `body` with the stream of a handle.
template <class Body>
cudaError_t with_stream(cudaStream_t handle, const void* result, const Body& body) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return result == nullptr ? cudaErrorInvalidValue : body(*stream);
  });
}

bool is_stream_attribute(cudaLaunchAttributeID attribute) {
  return attribute == cudaLaunchAttributeAccessPolicyWindow ||
         attribute == cudaLaunchAttributeSynchronizationPolicy ||
         attribute == cudaLaunchAttributeMemSyncDomainMap ||
         attribute == cudaLaunchAttributeMemSyncDomain;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream(handle, priority, [&](const Stream& stream) {
    *priority = stream.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return with_stream(handle, flags, [&](const Stream& stream) {
    const bool is_blocking = stream.is_blocking || stream.is_legacy;
    *flags = is_blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return cudaSuccess;
  });
}

/// No two streams of a process have the same.
cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return with_stream(handle, id, [&](const Stream& stream) {
    *id = stream.id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  return with_stream(handle, value, [&](Stream& stream) {
    if (attribute == cudaLaunchAttributePriority) {
      stream.priority = clamped_priority(value->priority);
      return cudaSuccess;
    }
    if (!is_stream_attribute(attribute)) return cudaErrorInvalidValue;
    stream.attributes[attribute] = *value;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  return with_stream(handle, value, [&](const Stream& stream) {
    if (attribute == cudaLaunchAttributePriority) {
      value->priority = stream.priority;
      return cudaSuccess;
    }
    if (!is_stream_attribute(attribute)) return cudaErrorInvalidValue;
    const auto found = stream.attributes.find(attribute);
    *value = found == stream.attributes.end() ? cudaLaunchAttributeValue{} : found->second;
    if (found == stream.attributes.end() && attribute == cudaLaunchAttributeSynchronizationPolicy) {
      value->syncPolicy = cudaSyncPolicyAuto;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto target = find_stream(p, to), source = find_stream(p, from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
    target->attributes = source->attributes;
    target->priority = source->priority;
    return cudaSuccess;
  });
}
