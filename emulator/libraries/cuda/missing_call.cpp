#include "emulator/libraries/cuda/missing_call.h"

#include <cuda.h>
#include <fmt/format.h>

#include "emulator/runtime/lacking.h"

namespace emulator::cuda {

int missing_call(const char* name) {
  say_lacking(fmt::format("{} is not emulated", name));
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace emulator::cuda
