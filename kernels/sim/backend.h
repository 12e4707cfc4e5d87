#pragma once

#include <memory>

#include "kernels/base/backend.h"

namespace assay::sim {

/// `devices` simulated devices, sim:0 and up. Ranks of a collective are devices, as with GPUs.
std::unique_ptr<Backend> make_backend(int devices);

}  // namespace assay::sim
