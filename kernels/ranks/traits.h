#pragma once

#include "kernels/device/backend_traits.h"

namespace assay::ranks {

/// Ranks of a job. They have no limits: the devices behind them do.
inline const BackendTraits& traits() {
  static const BackendTraits traits{
      .kind = "mpi",
      .memory = MemorySpace::remote,
      .single_worker = true,
      .has_matrix_units = true,
      .when_absent = "the ranks of a job are there when mpirun or srun starts assay",
  };
  return traits;
}

}  // namespace assay::ranks
