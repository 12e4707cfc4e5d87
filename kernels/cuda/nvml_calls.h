#pragma once

#include "kernels/cuda/library.h"

// Calls of NVML's documented binary interface: the toolkit may come without nvml.h.
namespace assay::cuda::nvml_calls {

using Return = int;  // 0: success
using Handle = void*;

inline const Library& library() {
  static const Library opened("libnvidia-ml.so.1", library_folders());
  return opened;
}

/// Calls `name` if the library has it. Returns true on success.
template <class... Arguments>
bool ask(const char* name, Arguments... arguments) {
  const auto function = library().find<Return (*)(Arguments...)>(name);
  return function != nullptr && function(arguments...) == 0;
}

}  // namespace assay::cuda::nvml_calls
