#include <thrust/version.h>

#include <cub/version.cuh>

#include "kernels/cuda/kernels.h"

namespace assay::cuda {
namespace {

std::string text(const char* library, int major, int minor, int subminor) {
  return std::string(library) + " " + std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(subminor);
}

}  // namespace

std::string cub_version_text() {
  return text("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
}

std::string thrust_version_text() {
  return text("Thrust", THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION, THRUST_SUBMINOR_VERSION);
}

}  // namespace assay::cuda
