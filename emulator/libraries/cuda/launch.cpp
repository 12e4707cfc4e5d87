#include <cstddef>
#include <cstring>
#include <vector>

#include "emulator/libraries/cuda/context.h"
#include "emulator/runtime/driver_modules.h"

using namespace emulator;
using namespace emulator::driver;

namespace {

/// A launch as the runtime takes it: attributes have the same numbers and values.
class RuntimeLaunch {
 public:
  explicit RuntimeLaunch(const CUlaunchConfig& config) {
    for (unsigned i = 0; i < config.numAttrs; ++i) {
      cudaLaunchAttribute attribute{};
      static_assert(sizeof attribute.val == sizeof config.attrs->value);
      attribute.id = static_cast<cudaLaunchAttributeID>(config.attrs[i].id);
      std::memcpy(&attribute.val, &config.attrs[i].value, sizeof attribute.val);
      attributes_.push_back(attribute);
    }
    config_.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
    config_.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
    config_.dynamicSmemBytes = config.sharedMemBytes;
    config_.stream = config.hStream;
    config_.attrs = attributes_.data();
    config_.numAttrs = config.numAttrs;
  }
  const cudaLaunchConfig_t* config() const { return &config_; }

 private:
  std::vector<cudaLaunchAttribute> attributes_;
  cudaLaunchConfig_t config_{};
};

/// The addresses of arguments that lie in one buffer, as `extra` gives them. Returns false for an
/// unknown form of it.
bool addresses_in(const void* function, void* const* extra, std::vector<void*>& addresses) {
  std::byte* buffer = nullptr;
  const std::size_t* bytes = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<std::byte*>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = static_cast<const std::size_t*>(extra[1]);
    else
      return false;
  }
  std::vector<ParameterPlace> places;
  if (buffer == nullptr || bytes == nullptr || function_parameters(function, places) != cudaSuccess)
    return false;
  for (const ParameterPlace& place : places) {
    if (place.offset + place.bytes > *bytes) return false;
    addresses.push_back(buffer + place.offset);
  }
  return true;
}

/// Makes `extra`, if there is one, parameters.
bool take_extra(const void* function, void* const* extra, void**& parameters,
                std::vector<void*>& in_buffer) {
  if (extra == nullptr) return true;
  if (parameters != nullptr || !addresses_in(function, extra, in_buffer)) return false;
  in_buffer.push_back(nullptr);
  parameters = in_buffer.data();
  return true;
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return in_context([&] {
    std::vector<void*> in_buffer;
    if (!take_extra(function, extra, parameters, in_buffer)) return cudaErrorInvalidValue;
    return cudaLaunchKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                            parameters, shared_bytes, stream);
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void** parameters) {
  return in_context([&] {
    return cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z},
                                       {block_x, block_y, block_z}, parameters, shared_bytes,
                                       stream);
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  return in_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    std::vector<void*> in_buffer;
    if (!take_extra(function, extra, parameters, in_buffer)) return cudaErrorInvalidValue;
    return cudaLaunchKernelExC(RuntimeLaunch(*config).config(), function, parameters);
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  return in_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    return cudaOccupancyMaxActiveClusters(clusters, function, RuntimeLaunch(*config).config());
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* config) {
  return in_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    return cudaOccupancyMaxPotentialClusterSize(blocks, function, RuntimeLaunch(*config).config());
  });
}

}  // extern "C"
