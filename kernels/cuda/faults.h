#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "kernels/device/device.h"
#include "kernels/ops/op.h"

// Faults on a real GPU, for `assay selftest --device cuda:0`: what supervision and oracles must
// survive and see there.
namespace assay::cuda {

/// Names one of `fault_names` that every launch of this process is to have.
inline constexpr const char* fault_variable = "ASSAY_CUDA_FAULT";

inline constexpr std::array<std::string_view, 5> fault_names{
    "past_end",         // a kernel writes right behind the output
    "flipped_bit",      // one bit of the output in the GPU's memory
    "trap",             // a kernel that traps: the context is lost
    "endless",          // a kernel that never ends
    "huge_allocation",  // more memory than there is
};

/// The kernel with the fault that the environment names; itself where it names none. Throws
/// DeviceError for one that is not known: a run that was to have a fault must not be without.
std::unique_ptr<Kernel> with_fault(std::unique_ptr<Kernel> right, const OpInstance& op,
                                   const Binding& binding);

/// Throws DeviceError where the environment names one.
void refuse_fault(const char* where);

}  // namespace assay::cuda
