#pragma once

#include "kernels/device/backend_traits.h"

namespace assay::sim {

/// Simulated devices. Their limits are small because their figures have no meaning.
inline const BackendTraits& traits() {
  static const BackendTraits traits{
      .kind = "sim",
      .has_matrix_units = true,
      .only_on_request = true,
      .limits = {.array_bytes = 1 << 20, .matrix_extents = {128}, .exceed_caches = false},
      .uuid_prefixes = {"SIM-"},
      .when_absent = "simulated devices must be asked for: --sim-devices N",
  };
  return traits;
}

}  // namespace assay::sim
