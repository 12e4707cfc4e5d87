#pragma once

#include "emulator/runtime/graph.h"
#include "emulator/runtime/process.h"

// The work of graph nodes from the parameters that the program gives. All refuse what the call that
// they stand for would refuse.
namespace emulator {

/// `work.node`: the node as it was, or null.
cudaError_t make_kernel_work(Process& process, const cudaKernelNodeParams& parameters, Work& work);
cudaError_t make_copy_work(Process& process, const cudaMemcpy3DParms& parameters, Work& work);
cudaError_t make_memset_work(Process& process, const cudaMemsetParams& parameters, Work& work);
cudaError_t make_host_work(const cudaHostNodeParams& parameters, Work& work);
/// A record of an event, or a wait for one.
cudaError_t make_event_work(Process& process, cudaGraphNodeType type, cudaEvent_t event,
                            Work& work);
Work empty_work();

/// A copy of contiguous bytes as the copy of three dimensions that it is.
cudaMemcpy3DParms parameters_of_copy(void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind);

}  // namespace emulator
