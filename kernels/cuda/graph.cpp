#include "kernels/cuda/graph.h"

#include "kernels/core/status.h"
#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

/// Ends the capture even after an error.
cudaGraph_t end_of_capture(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  ignore(cudaStreamEndCapture(stream, &graph));
  return graph;
}

/// Returns null if a call cannot be captured. Launches outside a graph report all other errors.
cudaGraph_t captured(Kernel& kernel, std::int64_t launches, cudaStream_t stream) {
  if (const cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      error != cudaSuccess) {
    ignore(error);
    return nullptr;
  }
  try {
    for (std::int64_t i = 0; i < launches; ++i) kernel.launch();
  } catch (const DeviceError&) {
    if (cudaGraph_t torn = end_of_capture(stream)) ignore(cudaGraphDestroy(torn));
    return nullptr;
  } catch (...) {
    if (cudaGraph_t torn = end_of_capture(stream)) ignore(cudaGraphDestroy(torn));
    throw;
  }
  return end_of_capture(stream);
}

}  // namespace

std::unique_ptr<GraphKernel> GraphKernel::capture(Kernel& kernel, std::int64_t launches,
                                                  const CudaStream& stream) {
  make_current(stream.ordinal());
  check(cudaGetLastError(), "an earlier call");
  cudaGraph_t graph = captured(kernel, launches, stream.handle());
  if (graph == nullptr) return nullptr;
  cudaGraphExec_t executable = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
  ignore(cudaGraphDestroy(graph));
  if (error != cudaSuccess && !is_sticky(error)) {
    ignore(error);  // for example too many nodes for the memory: the caller then uses a loop
    return nullptr;
  }
  check(error, "cudaGraphInstantiate");
  auto whole = std::make_unique<GraphKernel>(executable, stream, kernel.implementation());
  check(cudaGraphUpload(executable, stream.handle()), "cudaGraphUpload");
  return whole;
}

GraphKernel::~GraphKernel() { ignore(cudaGraphExecDestroy(graph_)); }

void GraphKernel::launch() {
  make_current(stream_->ordinal());
  check(cudaGraphLaunch(graph_, stream_->handle()), "cudaGraphLaunch");
}

}  // namespace assay::cuda
