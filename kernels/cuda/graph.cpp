#include "kernels/cuda/graph.h"

#include "kernels/base/status.h"
#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

/// Null after any error: of a launch, of the capture, or none captured.
cudaGraph_t captured(Kernel& kernel, std::int64_t launches, cudaStream_t stream) {
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    ignore(cudaGetLastError());
    return nullptr;
  }
  bool all = true;
  try {
    for (std::int64_t i = 0; i < launches; ++i) kernel.launch();
  } catch (const DeviceError&) {
    all = false;  // a call that no graph can hold; launches outside of one tell of all others
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  ignore(ended);
  if (all && ended == cudaSuccess) return graph;
  if (graph != nullptr) ignore(cudaGraphDestroy(graph));
  return nullptr;
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
