#pragma once

#include "kernels/cpu/traits.h"
#include "kernels/device/backend_traits.h"

namespace assay::numa {

/// Nodes of the host's memory, each with the cores nearest to it: the device `cpu` in parts.
inline const BackendTraits& traits() {
  static const BackendTraits traits{
      .kind = "numa",
      .memory = MemorySpace::host,
      .ranks_share_device = true,
      .only_on_request = true,
      .limits = cpu::traits().limits,
      .when_absent = "this machine has one node of memory: it is the device cpu",
  };
  return traits;
}

}  // namespace assay::numa
