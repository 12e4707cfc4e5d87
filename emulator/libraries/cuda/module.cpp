#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "emulator/libraries/cuda/context.h"
#include "emulator/libraries/cuda/error_log.h"
#include "emulator/runtime/driver_modules.h"

using namespace emulator;
using namespace emulator::driver;

namespace {

CUresult load(CUmodule* module, const void* image, const ErrorLog& log) {
  return in_context([&] {
    if (module == nullptr) return cudaErrorInvalidValue;
    void* handle = nullptr;
    std::string problem;
    const cudaError_t error = load_module(image, &handle, problem);
    log.write(problem);
    if (error == cudaSuccess) *module = static_cast<CUmodule>(handle);
    return error;
  });
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image, {0, nullptr, nullptr});
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  if (count != 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  return load(module, image, {count, options, values});
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}

CUresult cuModuleLoad(CUmodule* module, const char* name) {
  if (const CUresult e = check_context(); e != CUDA_SUCCESS) return e;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(name, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::string image{std::istreambuf_iterator<char>(file), {}};
  image.resize(image.size() + sizeof(std::uint64_t));  // zeros end a text
  return cuModuleLoadData(module, image.data());
}

CUresult cuModuleUnload(CUmodule module) {
  return in_context([&] { return unload_module(module); });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return in_context([&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    const void* handle = nullptr;
    const cudaError_t error = module_function(module, name, &handle);
    if (error == cudaSuccess) *function = static_cast<CUfunction>(const_cast<void*>(handle));
    return error;
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                           const char* name) {
  return in_context([&] {
    std::uintptr_t place = 0;
    const cudaError_t error = module_variable(module, name, &place, bytes);
    if (error == cudaSuccess && address != nullptr) *address = place;
    return error;
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return in_context([&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    cudaFuncAttributes all{};
    if (const cudaError_t e = cudaFuncGetAttributes(&all, function); e != cudaSuccess) return e;
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = all.maxThreadsPerBlock;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = static_cast<int>(all.sharedSizeBytes);
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = static_cast<int>(all.constSizeBytes);
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = static_cast<int>(all.localSizeBytes);
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = all.numRegs;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = all.ptxVersion;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = all.binaryVersion;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = all.maxDynamicSharedSizeBytes;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = all.clusterDimMustBeSet;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        *value = all.requiredClusterWidth;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        *value = all.requiredClusterHeight;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = all.requiredClusterDepth;
        return cudaSuccess;
      case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = all.nonPortableClusterSizeAllowed;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return in_context([&] {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
      return cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, value);
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      return cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, value);
    // Those of clusters have the runtime's numbers.
    if (attribute >= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH &&
        attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
      return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
    return cudaErrorInvalidValue;
  });
}

/// A hint, which changes nothing.
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  return in_context([] { return cudaSuccess; });
}

}  // extern "C"
