#pragma once

#include <functional>
#include <memory>

#include "kernels/device/device.h"

namespace assay {

/// Makes a kernel for one rank.
using PrepareOne = std::function<std::unique_ptr<Kernel>(const OpInstance&, const Binding&)>;

/// Kernel of views by one of dense tensors, as frameworks have for most of their ops: copies the
/// elements of each view together before, and of an output apart after. `device` has the memory,
/// and the op `copy` of `prepare` must take views.
std::unique_ptr<Kernel> through_dense_tensors(Device& device, const PrepareOne& prepare,
                                              const OpInstance& op, const Binding& binding);

}  // namespace assay
