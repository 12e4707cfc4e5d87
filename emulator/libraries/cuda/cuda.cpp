// The backend opens libcuda to see whether there is a driver, and asks for what the runtime lacks.

#include <cstddef>
#include <cstdint>

#include "emulator/runtime/lacking.h"
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

/// A runtime that is linked into a program starts with this call, and goes on with some that no
/// document describes.
int cuGetProcAddress_v2(const char* /*name*/, void** function, int /*version*/,
                        std::uint64_t /*flags*/, int* status) {
  constexpr int symbol_not_found = 1, error_not_found = 500;
  static const bool told =
      (emulator::say_lacking("the program has a CUDA runtime linked into it, which "
                             "needs NVIDIA's driver: link it with nvcc -cudart shared "
                             "(and --no-compress), and the emulated one takes its place"),
       true);
  static_cast<void>(told);
  if (function != nullptr) *function = nullptr;
  if (status != nullptr) *status = symbol_not_found;
  return error_not_found;
}

}  // extern "C"
