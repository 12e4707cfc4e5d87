#include "kernels/cuda/driver.h"

#include <string>

#include "kernels/core/status.h"

namespace assay::cuda {

const Library& driver() {
  static const Library opened("libcuda.so.1", {});
  return opened;
}

bool has_multicast(int ordinal) {
  constexpr int multicast_supported = 132;
  static const auto device_of = driver().find<int (*)(int* device, int ordinal)>("cuDeviceGet");
  static const auto attribute =
      driver().find<int (*)(int* value, int attribute, int device)>("cuDeviceGetAttribute");
  int device = 0;
  int value = 0;
  return device_of != nullptr && attribute != nullptr && device_of(&device, ordinal) == 0 &&
         attribute(&value, multicast_supported, device) == 0 && value != 0;
}

void record_all_work(cudaStream_t stream, cudaEvent_t event) {
  // Not the current context: kernels of others may have left another one.
  static const auto context_of =
      driver().find<int (*)(cudaStream_t, void** context)>("cuStreamGetCtx");
  static const auto record = driver().find<int (*)(void* context, cudaEvent_t)>("cuCtxRecordEvent");
  if (context_of == nullptr || record == nullptr) {
    throw DeviceError(Failure::not_here,
                      "kernels of others are timed with drivers of CUDA 12.5 and newer, which tell "
                      "of work on every stream");
  }
  void* context = nullptr;
  int result = context_of(stream, &context);
  if (result == 0) result = record(context, event);
  if (result != 0) {
    throw DeviceError(Failure::internal, "cuCtxRecordEvent: error " + std::to_string(result));
  }
}

}  // namespace assay::cuda
