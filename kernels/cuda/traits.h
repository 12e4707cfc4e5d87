#pragma once

#include "kernels/cuda/faults.h"
#include "kernels/device/backend_traits.h"

namespace assay::cuda {

/// NVIDIA GPUs.
inline const BackendTraits& traits() {
  static const BackendTraits traits{
      .kind = "cuda",
      .has_matrix_units = true,
      .limits = {.array_bytes = 512 << 20, .matrix_extents = {4096, 8192}},
      .uuid_prefixes = {"GPU-", "MIG-"},
      .other_names = {"gpu", "nvidia"},
      .fault_variable = std::string(fault_variable),
  };
  return traits;
}

}  // namespace assay::cuda
