#include <cub/version.cuh>

#include "kernels/cuda/kernels.h"

namespace assay::cuda {

std::string cub_version_text() {
  return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) +
         "." + std::to_string(CUB_SUBMINOR_VERSION);
}

}  // namespace assay::cuda
