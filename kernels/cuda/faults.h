#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "kernels/device/device.h"
#include "kernels/ops/op.h"

// Faults on a real GPU, for `assay selftest --device cuda:0`. Supervision must survive them, and
// oracles must see them.
namespace assay::cuda {

/// Names the fault, one of `fault_names`, that every launch of this process has.
inline constexpr const char* fault_variable = "ASSAY_CUDA_FAULT";

inline constexpr std::array<std::string_view, 5> fault_names{
    "past_end",         // a kernel writes right behind the output
    "flipped_bit",      // flips one bit of the output in the GPU's memory
    "trap",             // a kernel that traps: the context is lost
    "endless",          // a kernel that never ends
    "huge_allocation",  // requests more memory than the GPU has
};

/// Wraps the kernel with the fault that the environment names, or returns it unchanged. Throws
/// DeviceError for an unknown fault: a run that should have one must not go without.
std::unique_ptr<Kernel> with_fault(std::unique_ptr<Kernel> right, const OpInstance& op,
                                   const Binding& binding);

/// Throws DeviceError if the environment names a fault.
void refuse_fault(const char* where);

}  // namespace assay::cuda
