// The backend opens libcuda to see whether there is a driver, and calls nothing of it. Its version
// is the toolkit's: any older one would be too old for the runtime.

#include <cuda_runtime_api.h>

extern "C" {

int cuDriverGetVersion(int* version) {
  if (version == nullptr) return 1;  // CUDA_ERROR_INVALID_VALUE
  *version = CUDART_VERSION;
  return 0;
}

}  // extern "C"
