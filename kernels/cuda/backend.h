#pragma once

#include <memory>

#include "kernels/device/backend.h"

namespace assay::cuda {

/// The GPUs that the driver shows to this process: none where there is no driver.
std::unique_ptr<Backend> make_backend();

}  // namespace assay::cuda
