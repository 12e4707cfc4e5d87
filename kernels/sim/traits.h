#pragma once

#include "kernels/device/backend_traits.h"

namespace assay::sim {

/// Simulated devices. Small limits: nobody needs their figures.
inline const BackendTraits& traits() {
  static const BackendTraits traits{
      .kind = "sim",
      .has_matrix_unit_dtypes = true,
      .only_on_request = true,
      .limits = {.array_bytes = 1 << 20, .matrix_extents = {128}, .exceed_caches = false},
      .uuid_prefixes = {"SIM-"},
      .when_absent = "simulated devices must be asked for: --sim-devices N",
  };
  return traits;
}

}  // namespace assay::sim
