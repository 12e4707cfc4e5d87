#pragma once

#include "kernels/device/backend_traits.h"
#include "kernels/device/device_id.h"

namespace assay::cpu {

/// The host: one device, whose ranks are threads.
inline const BackendTraits& traits() {
  static const BackendTraits traits{
      .kind = std::string(host_kind),
      .memory = MemorySpace::host,
      .ranks_share_device = true,
      .limits = {.array_bytes = 128 << 20,
                 .matrix_extents = {1024, 2048},
                 .functions_in_caches = true},
  };
  return traits;
}

}  // namespace assay::cpu
