#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "emulator/runtime/functions.h"

namespace emulator {

/// Clusters up to this size work on every GPU that has them; larger ones the program has to allow
/// (cudaFuncAttributeNonPortableClusterSizeAllowed). Hopper's and Blackwell's end at 16 blocks.
inline constexpr unsigned max_portable_cluster = 8, max_cluster = 16;

/// Decides on the cluster of a launch, in blocks. `asked`: cudaLaunchAttributeClusterDimension.
/// Zeros: there are no clusters. Returns cudaErrorInvalidClusterSize for one that the grid or the
/// kernel does not permit, and cudaErrorNotSupported below compute capability 9.0.
cudaError_t choose_cluster(const Function& function, const KernelFacts& facts, const GpuModel& gpu,
                           const dim3& grid, const std::optional<dim3>& asked, Dim3& cluster);

/// The cluster that the kernel requires, by its code or by cudaFuncSetAttribute; zeros: none.
Dim3 required_cluster(const Function& function, const KernelFacts& facts);

/// Sets an attribute of the kernel that is about clusters. Returns cudaErrorInvalidValue for
/// others.
cudaError_t set_cluster_attribute(Function& function, const KernelFacts& facts,
                                  cudaFuncAttribute attribute, int value);

}  // namespace emulator
