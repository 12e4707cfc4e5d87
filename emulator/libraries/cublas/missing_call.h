#pragma once

namespace emulator::cublas {

/// Says that a call of cuBLAS is not emulated. Returns CUBLAS_STATUS_NOT_SUPPORTED, as the call
/// does. Declares nothing of cuBLAS: the calls that use it have other parameters here.
int missing_call(const char* name);

}  // namespace emulator::cublas
