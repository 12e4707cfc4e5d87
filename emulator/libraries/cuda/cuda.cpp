// The backend opens libcuda to see whether there is a driver, and asks for what the runtime lacks.

#include "emulator/runtime/work.h"

extern "C" {

int cuDriverGetVersion(int* version) {
  if (version == nullptr) return 1;  // CUDA_ERROR_INVALID_VALUE
  *version = emulator::version_of_driver();
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  if (device == nullptr) return 1;
  if (emulator::gpu_of(ordinal) < 0) return 101;  // CUDA_ERROR_INVALID_DEVICE
  *device = ordinal;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  constexpr int multicast_supported = 132;  // CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
  const int gpu = emulator::gpu_of(device);
  if (value == nullptr || attribute != multicast_supported) return 1;
  if (gpu < 0) return 101;
  *value = emulator::has_multicast(gpu) ? 1 : 0;
  return 0;
}

}  // extern "C"
