#pragma once

#include <memory>

#include "kernels/device/backend.h"

namespace assay::cpu {

/// Makes the backend of the one device `cpu`. Ranks of a collective are threads that share it.
std::unique_ptr<Backend> make_backend();

}  // namespace assay::cpu
