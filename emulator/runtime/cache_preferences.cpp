#include "emulator/runtime/functions.h"

// How a multiprocessor divides its memory between first-level cache and shared memory, and how wide
// banks of shared memory are: hints, which GPUs of compute capability 7.0 and higher may ignore.
namespace emulator {
namespace {

bool is_cache_config(cudaFuncCache config) {
  return config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
}

bool is_bank_config(cudaSharedMemConfig config) {
  return config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
}

/// Refuses what is no kernel.
cudaError_t set_for_function(const void* symbol, bool is_known) {
  return call(Wants::context, [&](Process& p, Lock&) {
    std::shared_ptr<Function> function;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    return is_known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return set_for_function(function, is_cache_config(config));
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig config) {
  return set_for_function(function, is_bank_config(config));
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (!is_cache_config(config)) return cudaErrorInvalidValue;
    p.cache_configs[current_device()] = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    const auto found = p.cache_configs.find(current_device());
    *config = found == p.cache_configs.end() ? cudaFuncCachePreferNone : found->second;
    return cudaSuccess;
  });
}

/// Banks are 4 bytes wide whatever is set, as on all GPUs but those of compute capability 3.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return call(Wants::context, [&](Process&, Lock&) {
    return is_bank_config(config) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call(Wants::context, [&](Process&, Lock&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

/// No line of the second-level cache persists.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return call(Wants::context, [](Process&, Lock&) { return cudaSuccess; });
}
