#pragma once

namespace emulator {

/// Says that a call of CUDA is not emulated, once for each. Returns cudaErrorNotSupported, as the
/// call does. Declares nothing of CUDA: the calls that use it have other parameters here.
int missing_call(const char* name);

}  // namespace emulator
