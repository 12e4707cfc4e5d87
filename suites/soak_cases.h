#pragma once

#include <vector>

#include "harness/plan/case.h"
#include "kernels/device/backend_traits.h"
#include "suites/limit_cases.h"

namespace assay {

/// Cases that keep a device of this backend busy, in the order in which they take turns: products
/// as large as those that measure its limits, a copy within its memory, and one over its link. None
/// if the backend declares no sizes.
std::vector<Case> soak_cases(const BackendTraits& backend, const Room& room);

}  // namespace assay
