#pragma once

#include <memory>

#include "kernels/device/backend.h"

namespace assay::cuda {

/// Makes the backend of the GPUs that the driver shows to this process: none without a driver.
std::unique_ptr<Backend> make_backend();

}  // namespace assay::cuda
