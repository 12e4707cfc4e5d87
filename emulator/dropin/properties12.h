#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>

namespace emulator {

/// The fields of CUDA 12's cudaDeviceProp in their order, as the documentation of its runtime lists
/// them: those that CUDA 13 has too, under the same name, and those that it has not.
#define EMULATOR_PROPERTIES12(KEPT, GONE)             \
  KEPT(char, name, [256])                             \
  KEPT(cudaUUID_t, uuid, )                            \
  KEPT(char, luid, [8])                               \
  KEPT(unsigned, luidDeviceNodeMask, )                \
  KEPT(std::size_t, totalGlobalMem, )                 \
  KEPT(std::size_t, sharedMemPerBlock, )              \
  KEPT(int, regsPerBlock, )                           \
  KEPT(int, warpSize, )                               \
  KEPT(std::size_t, memPitch, )                       \
  KEPT(int, maxThreadsPerBlock, )                     \
  KEPT(int, maxThreadsDim, [3])                       \
  KEPT(int, maxGridSize, [3])                         \
  GONE(int, clockRate, )                              \
  KEPT(std::size_t, totalConstMem, )                  \
  KEPT(int, major, )                                  \
  KEPT(int, minor, )                                  \
  KEPT(std::size_t, textureAlignment, )               \
  KEPT(std::size_t, texturePitchAlignment, )          \
  GONE(int, deviceOverlap, )                          \
  KEPT(int, multiProcessorCount, )                    \
  GONE(int, kernelExecTimeoutEnabled, )               \
  KEPT(int, integrated, )                             \
  KEPT(int, canMapHostMemory, )                       \
  GONE(int, computeMode, )                            \
  KEPT(int, maxTexture1D, )                           \
  KEPT(int, maxTexture1DMipmap, )                     \
  GONE(int, maxTexture1DLinear, )                     \
  KEPT(int, maxTexture2D, [2])                        \
  KEPT(int, maxTexture2DMipmap, [2])                  \
  KEPT(int, maxTexture2DLinear, [3])                  \
  KEPT(int, maxTexture2DGather, [2])                  \
  KEPT(int, maxTexture3D, [3])                        \
  KEPT(int, maxTexture3DAlt, [3])                     \
  KEPT(int, maxTextureCubemap, )                      \
  KEPT(int, maxTexture1DLayered, [2])                 \
  KEPT(int, maxTexture2DLayered, [3])                 \
  KEPT(int, maxTextureCubemapLayered, [2])            \
  KEPT(int, maxSurface1D, )                           \
  KEPT(int, maxSurface2D, [2])                        \
  KEPT(int, maxSurface3D, [3])                        \
  KEPT(int, maxSurface1DLayered, [2])                 \
  KEPT(int, maxSurface2DLayered, [3])                 \
  KEPT(int, maxSurfaceCubemap, )                      \
  KEPT(int, maxSurfaceCubemapLayered, [2])            \
  KEPT(std::size_t, surfaceAlignment, )               \
  KEPT(int, concurrentKernels, )                      \
  KEPT(int, ECCEnabled, )                             \
  KEPT(int, pciBusID, )                               \
  KEPT(int, pciDeviceID, )                            \
  KEPT(int, pciDomainID, )                            \
  KEPT(int, tccDriver, )                              \
  KEPT(int, asyncEngineCount, )                       \
  KEPT(int, unifiedAddressing, )                      \
  GONE(int, memoryClockRate, )                        \
  KEPT(int, memoryBusWidth, )                         \
  KEPT(int, l2CacheSize, )                            \
  KEPT(int, persistingL2CacheMaxSize, )               \
  KEPT(int, maxThreadsPerMultiProcessor, )            \
  KEPT(int, streamPrioritiesSupported, )              \
  KEPT(int, globalL1CacheSupported, )                 \
  KEPT(int, localL1CacheSupported, )                  \
  KEPT(std::size_t, sharedMemPerMultiprocessor, )     \
  KEPT(int, regsPerMultiprocessor, )                  \
  KEPT(int, managedMemory, )                          \
  KEPT(int, isMultiGpuBoard, )                        \
  KEPT(int, multiGpuBoardGroupID, )                   \
  KEPT(int, hostNativeAtomicSupported, )              \
  GONE(int, singleToDoublePrecisionPerfRatio, )       \
  KEPT(int, pageableMemoryAccess, )                   \
  KEPT(int, concurrentManagedAccess, )                \
  KEPT(int, computePreemptionSupported, )             \
  KEPT(int, canUseHostPointerForRegisteredMem, )      \
  KEPT(int, cooperativeLaunch, )                      \
  GONE(int, cooperativeMultiDeviceLaunch, )           \
  KEPT(std::size_t, sharedMemPerBlockOptin, )         \
  KEPT(int, pageableMemoryAccessUsesHostPageTables, ) \
  KEPT(int, directManagedMemAccessFromHost, )         \
  KEPT(int, maxBlocksPerMultiProcessor, )             \
  KEPT(int, accessPolicyMaxWindowSize, )              \
  KEPT(std::size_t, reservedSharedMemPerBlock, )      \
  KEPT(int, hostRegisterSupported, )                  \
  KEPT(int, sparseCudaArraySupported, )               \
  KEPT(int, hostRegisterReadOnlySupported, )          \
  KEPT(int, timelineSemaphoreInteropSupported, )      \
  KEPT(int, memoryPoolsSupported, )                   \
  KEPT(int, gpuDirectRDMASupported, )                 \
  KEPT(unsigned, gpuDirectRDMAFlushWritesOptions, )   \
  KEPT(int, gpuDirectRDMAWritesOrdering, )            \
  KEPT(unsigned, memoryPoolSupportedHandleTypes, )    \
  KEPT(int, deferredMappingCudaArraySupported, )      \
  KEPT(int, ipcEventSupported, )                      \
  KEPT(int, clusterLaunch, )                          \
  KEPT(int, unifiedFunctionPointers, )

struct DeviceProperties12 {
#define EMULATOR_FIELD(type, name, extent) type name extent;
  EMULATOR_PROPERTIES12(EMULATOR_FIELD, EMULATOR_FIELD)
#undef EMULATOR_FIELD
  int reserved[63];
};
static_assert(sizeof(DeviceProperties12) == 1032);

/// Those that CUDA 13 has no longer are 0.
inline DeviceProperties12 properties12(const cudaDeviceProp& now) {
  DeviceProperties12 made{};
#define EMULATOR_COPY(type, name, extent)                      \
  static_assert(sizeof(made.name) == sizeof(now.name), #name); \
  std::memcpy(&made.name, &now.name, sizeof made.name);
#define EMULATOR_LEAVE(type, name, extent)
  EMULATOR_PROPERTIES12(EMULATOR_COPY, EMULATOR_LEAVE)
#undef EMULATOR_COPY
#undef EMULATOR_LEAVE
  return made;
}

}  // namespace emulator
