#include "emulator/libraries/cuda/context.h"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "emulator/runtime/driver_modules.h"
#include "emulator/runtime/work.h"

namespace emulator::driver {
namespace {

std::atomic<bool> is_initialized = false;

/// References to the one context of each device.
struct Contexts {
  std::mutex mutex;
  std::map<CUdevice, int> created, retained;

  static Contexts& all() {
    static Contexts contexts;
    return contexts;
  }
  bool is_live(CUcontext context) {
    const auto device = static_cast<CUdevice>(reinterpret_cast<std::uintptr_t>(context)) - 1;
    if (context == nullptr || gpu_of(device) < 0) return false;
    const std::lock_guard lock(mutex);
    const auto count = [&](const std::map<CUdevice, int>& counts) {
      const auto found = counts.find(device);
      return found == counts.end() ? 0 : found->second;
    };
    return count(created) + count(retained) > 0 || has_primary_context(device);
  }
};

std::vector<CUcontext>& stack() {
  thread_local std::vector<CUcontext> contexts;
  return contexts;
}

CUcontext context_of(CUdevice device) {
  return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
}

CUdevice device_of(CUcontext context) {
  return static_cast<CUdevice>(reinterpret_cast<std::uintptr_t>(context)) - 1;
}

/// The current context; null: none. A thread that only uses the runtime has the primary one.
CUcontext current() {
  if (!stack().empty()) return stack().back();
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || !has_primary_context(device)) return nullptr;
  return context_of(device);
}

CUresult select(CUcontext context) {
  if (context == nullptr) return CUDA_SUCCESS;
  return result_of(cudaSetDevice(device_of(context)));
}

CUresult create(CUcontext* context, CUdevice device) {
  if (const CUresult e = check_initialized(); e != CUDA_SUCCESS) return e;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (gpu_of(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (const CUresult e = select(context_of(device)); e != CUDA_SUCCESS) return e;
  Contexts& all = Contexts::all();
  const std::lock_guard lock(all.mutex);
  ++all.created[device];
  *context = context_of(device);
  stack().push_back(*context);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult result_of(cudaError_t error) {
  switch (error) {
    // Numbers of the runtime alone.
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorMissingConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(error);
  }
}

CUresult check_initialized() {
  return is_initialized || has_runtime_call() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult check_context() {
  if (const CUresult e = check_initialized(); e != CUDA_SUCCESS) return e;
  const CUcontext context = current();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!Contexts::all().is_live(context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return select(context);
}

}  // namespace emulator::driver

using namespace emulator;
using namespace emulator::driver;

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  int count = 0;
  if (const cudaError_t e = cudaGetDeviceCount(&count); e != cudaSuccess) return result_of(e);
  is_initialized = true;
  return CUDA_SUCCESS;
}

#undef cuCtxCreate
CUresult cuCtxCreate(CUcontext* context, unsigned, CUdevice device) {
  return create(context, device);
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  return create(context, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned,
                        CUdevice device) {
  const bool is_plain = parameters == nullptr || (parameters->numExecAffinityParams == 0 &&
                                                  parameters->cigParams == nullptr);
  return is_plain ? create(context, device) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuCtxDestroy(CUcontext context) {
  if (!Contexts::all().is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
  Contexts& all = Contexts::all();
  const std::lock_guard lock(all.mutex);
  int& count = all.created[device_of(context)];
  if (count == 0) return CUDA_ERROR_INVALID_CONTEXT;  // the primary one is not destroyed
  --count;
  if (!stack().empty() && stack().back() == context) stack().pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  if (!Contexts::all().is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
  stack().push_back(context);
  return select(context);
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  if (stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = stack().back();
  stack().pop_back();
  return stack().empty() ? CUDA_SUCCESS : select(stack().back());
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (const CUresult e = check_initialized(); e != CUDA_SUCCESS) return e;
  if (context != nullptr && !Contexts::all().is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context);
  return select(context);
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  if (const CUresult e = check_initialized(); e != CUDA_SUCCESS) return e;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = current();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  if (const CUresult e = check_context(); e != CUDA_SUCCESS) return e;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = device_of(current());
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  return in_context([] { return cudaDeviceSynchronize(); });
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return in_context([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return in_context([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

/// Hints, which change nothing.
CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return in_context([] { return cudaSuccess; });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (context != nullptr && !Contexts::all().is_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
  *version = static_cast<unsigned>(version_of_driver());
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (const CUresult e = check_initialized(); e != CUDA_SUCCESS) return e;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (gpu_of(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  Contexts& all = Contexts::all();
  const std::lock_guard lock(all.mutex);
  ++all.retained[device];
  *context = context_of(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  if (gpu_of(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  Contexts& all = Contexts::all();
  const std::lock_guard lock(all.mutex);
  int& count = all.retained[device];
  if (count == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --count;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (gpu_of(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = 0;
  Contexts& all = Contexts::all();
  const bool is_used = has_primary_context(device);
  const std::lock_guard lock(all.mutex);
  *active = is_used || all.retained[device] > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

/// Nothing profiles (cudaProfiler.h).
CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }

}  // extern "C"
