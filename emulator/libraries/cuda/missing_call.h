#pragma once

namespace emulator::cuda {

/// Says that a call of the driver's API is not emulated. Returns CUDA_ERROR_NOT_SUPPORTED, as the
/// call does. Declares nothing of CUDA: the calls that use it have other parameters here.
int missing_call(const char* name);

}  // namespace emulator::cuda
