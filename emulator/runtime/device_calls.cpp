#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "emulator/runtime/image_limits.h"
#include "emulator/runtime/limits.h"
#include "emulator/runtime/process.h"

namespace emulator {
namespace {

bool has_ecc(const GpuModel& gpu) { return gpu.product.find("GeForce") == std::string::npos; }

int as_int(std::size_t value) { return static_cast<int>(value); }

/// Of an access policy, as an A100 tells.
constexpr std::size_t access_window_bytes = 134213632;

/// Threads for floats for one for doubles: programming guide, "Arithmetic Instructions".
int single_to_double_ratio(const GpuModel& gpu) {
  if (gpu.minor == 0) return 2;  // 7.0, 8.0, 9.0, 10.0
  return gpu.major == 7 ? 32 : 64;
}

/// Answers as far as kernels of ours, CUB, Thrust and the libraries may ask.
std::optional<int> attribute_of(const GpuModel& gpu, int index, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return max_threads_per_block;
    case cudaDevAttrMaxBlockDimZ:
      return max_block_z;
    case cudaDevAttrMaxGridDimX:
      return max_grid_x;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return max_grid_yz;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return as_int(gpu.shared_bytes_per_block);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return as_int(gpu.shared_bytes_per_block_optin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return as_int(gpu.shared_bytes_per_multiprocessor);
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return gpu.major >= 8 ? 1024 : 0;
    case cudaDevAttrTotalConstantMemory:
      return as_int(constant_memory_bytes);
    case cudaDevAttrWarpSize:
      return as_int(warp_threads);
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return gpu.registers_per_multiprocessor;
    case cudaDevAttrClockRate:
      return gpu.clock_khz;
    case cudaDevAttrMultiProcessorCount:
      return gpu.multiprocessors;
    case cudaDevAttrEccEnabled:
      return has_ecc(gpu) ? 1 : 0;
    case cudaDevAttrPciBusId:
      return pci_bus(index);
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
      return 0;
    case cudaDevAttrMemoryClockRate:
      return gpu.memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return gpu.memory_bus_bits;
    case cudaDevAttrL2CacheSize:
      return as_int(gpu.l2_bytes);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return gpu.threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return gpu.blocks_per_multiprocessor;
    case cudaDevAttrComputeCapabilityMajor:
      return gpu.major;
    case cudaDevAttrComputeCapabilityMinor:
      return gpu.minor;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
    case cudaDevAttrAsyncEngineCount:
      return 2;
    // Not emulated, so not offered.
    case cudaDevAttrIntegrated:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
      return 0;
    case cudaDevAttrClusterLaunch:
      return gpu.major >= 9 ? 1 : 0;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment:
      return as_int(texture_alignment);
    case cudaDevAttrTexturePitchAlignment:
      return as_int(texture_pitch_alignment);
    case cudaDevAttrKernelExecTimeout:
      return gpu.watchdog_s > 0 ? 1 : 0;
    case cudaDevAttrMaxPitch:
      return std::numeric_limits<int>::max();
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
      return 1;
    case cudaDevAttrMultiGpuBoardGroupID:
      return index;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return single_to_double_ratio(gpu);
    case cudaDevAttrMaxPersistingL2CacheSize:
      return as_int(persisting_l2_bytes(gpu));
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return as_int(persisting_l2_bytes(gpu) > 0 ? access_window_bytes : 0);
    case cudaDevAttrMemSyncDomainCount:
      return gpu.major >= 9 ? 4 : 1;
    case cudaDevAttrNumaConfig:
      return cudaDeviceNumaConfigNone;
    case cudaDevAttrNumaId:
      return -1;
    case cudaDevAttrHostNumaId:
      return 0;
    // What a GPU in a PCIe slot of a host with Linux does not have, or what is not emulated.
    case cudaDevAttrTccDriver:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrTimelineSemaphoreInteropSupported:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
    case cudaDevAttrGPUDirectRDMAWritesOrdering:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrIpcEventSupport:
      return 0;
    default:
      return image_limit(attribute);
  }
}

/// How processes share the GPUs.
std::optional<int> sharing_of(const Devices& devices, cudaDeviceAttr attribute) {
  if (attribute == cudaDevAttrMpsEnabled) return devices.is_shared_by_mps ? 1 : 0;
  return devices.exclusive_folder.empty() ? cudaComputeModeDefault
                                          : cudaComputeModeExclusiveProcess;
}

template <std::size_t size>
void copy_text(char (&to)[size], const std::string& text) {
  std::snprintf(to, size, "%s", text.c_str());
}

void describe(const GpuModel& gpu, int index, bool is_mig, cudaDeviceProp& properties) {
  std::memset(&properties, 0, sizeof properties);
  copy_text(properties.name, gpu.product + " (emulated)");
  const auto uuid = uuid_bytes(index, is_mig);
  std::memcpy(properties.uuid.bytes, uuid.data(), uuid.size());
  properties.totalGlobalMem = gpu.memory_bytes;
  properties.sharedMemPerBlock = gpu.shared_bytes_per_block;
  properties.sharedMemPerBlockOptin = gpu.shared_bytes_per_block_optin;
  properties.sharedMemPerMultiprocessor = gpu.shared_bytes_per_multiprocessor;
  properties.reservedSharedMemPerBlock = gpu.major >= 8 ? 1024 : 0;
  properties.regsPerBlock = gpu.registers_per_multiprocessor;
  properties.regsPerMultiprocessor = gpu.registers_per_multiprocessor;
  properties.warpSize = as_int(warp_threads);
  properties.maxThreadsPerBlock = max_threads_per_block;
  const std::array<int, 3> block{max_threads_per_block, max_threads_per_block, max_block_z};
  const std::array<int, 3> grid{max_grid_x, max_grid_yz, max_grid_yz};
  std::ranges::copy(block, properties.maxThreadsDim);
  std::ranges::copy(grid, properties.maxGridSize);
  properties.totalConstMem = constant_memory_bytes;
  properties.major = gpu.major;
  properties.minor = gpu.minor;
  properties.multiProcessorCount = gpu.multiprocessors;
  properties.memPitch = std::numeric_limits<int>::max();
  properties.globalL1CacheSupported = 1;
  properties.localL1CacheSupported = 1;
  properties.clusterLaunch = gpu.major >= 9 ? 1 : 0;
  properties.multiGpuBoardGroupID = index;
  properties.persistingL2CacheMaxSize = as_int(persisting_l2_bytes(gpu));
  properties.accessPolicyMaxWindowSize =
      as_int(persisting_l2_bytes(gpu) > 0 ? access_window_bytes : 0);
#if CUDART_VERSION >= 13000
  properties.deviceNumaId = -1;
#else
  properties.clockRate = gpu.clock_khz;
  properties.memoryClockRate = gpu.memory_clock_khz;
  properties.deviceOverlap = 1;
  properties.kernelExecTimeoutEnabled = gpu.watchdog_s > 0 ? 1 : 0;
  properties.singleToDoublePrecisionPerfRatio = single_to_double_ratio(gpu);
#endif
  describe_image_limits(properties);
  properties.canMapHostMemory = 1;
  properties.concurrentKernels = 1;
  properties.cooperativeLaunch = 1;
  properties.ECCEnabled = has_ecc(gpu) ? 1 : 0;
  properties.pciBusID = pci_bus(index);
  properties.asyncEngineCount = 2;
  properties.unifiedAddressing = 1;
  properties.memoryBusWidth = gpu.memory_bus_bits;
  properties.l2CacheSize = as_int(gpu.l2_bytes);
  properties.maxThreadsPerMultiProcessor = gpu.threads_per_multiprocessor;
  properties.maxBlocksPerMultiProcessor = gpu.blocks_per_multiprocessor;
  properties.streamPrioritiesSupported = 1;
  properties.computePreemptionSupported = 1;
  properties.canUseHostPointerForRegisteredMem = 1;
  properties.hostRegisterSupported = 1;
  properties.managedMemory = 1;
  properties.concurrentManagedAccess = 1;
  properties.memoryPoolsSupported = 1;
  properties.textureAlignment = texture_alignment;
  properties.surfaceAlignment = texture_alignment;
  properties.texturePitchAlignment = texture_pitch_alignment;
}

/// Calls `body` with the physical GPU behind an ordinal.
template <class Body>
cudaError_t with_gpu(int device, const Body& body) {
  return call(Wants::devices, [&](Process& p, Lock&) {
    return p.devices.is_ordinal(device) ? body(p, p.devices.gpu(device)) : cudaErrorInvalidDevice;
  });
}

cudaError_t tell_version(int version, int* to) {
  if (to == nullptr) return last_error() = cudaErrorInvalidValue;
  *to = version;
  return cudaSuccess;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaDriverGetVersion(int* version) { return tell_version(driver_version(), version); }
/// The runtime is the toolkit's. It takes older drivers as those of its own major version take it
/// (CUDA Compatibility, "Minor Version Compatibility").
cudaError_t cudaRuntimeGetVersion(int* version) { return tell_version(CUDART_VERSION, version); }

cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  return call(Wants::devices, [&](Process& p, Lock&) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = as_int(p.devices.visible.size());
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call(Wants::devices, [&](Process&, Lock&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current_device();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return with_gpu(device, [&](Process& p, int gpu) {
    // It creates the context, and sees there that a GPU is lost.
    if (p.is_lost_at_once && gpu == p.lost_gpu) return cudaErrorDevicesUnavailable;
    if (!has_context(p, gpu)) return cudaErrorDevicesUnavailable;
    current_device() = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return with_gpu(device, [&](Process& p, int gpu) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    describe(p.devices.model(gpu), gpu, p.devices.is_mig, *properties);
#if CUDART_VERSION >= 13000
    properties->mpsEnabled = p.devices.is_shared_by_mps ? 1 : 0;
#endif
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return with_gpu(device, [&](Process& p, int gpu) {
    const auto known = attribute == cudaDevAttrComputeMode || attribute == cudaDevAttrMpsEnabled
                           ? sharing_of(p.devices, attribute)
                           : attribute_of(p.devices.model(gpu), gpu, attribute);
    if (value == nullptr || !known) return cudaErrorInvalidValue;
    *value = *known;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return with_gpu(device, [&](Process&, int gpu) {
    if (text == nullptr || length <= 0) return cudaErrorInvalidValue;
    std::array<char, 16> whole;
    const int written = std::snprintf(whole.data(), whole.size(), "0000:%02x:00.0", pci_bus(gpu));
    if (written >= length) return cudaErrorInvalidValue;
    std::memcpy(text, whole.data(), static_cast<std::size_t>(written) + 1);
    return cudaSuccess;
  });
}
