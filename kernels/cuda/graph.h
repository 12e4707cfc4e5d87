#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kernels/cuda/stream.h"
#include "kernels/device/device.h"

namespace assay::cuda {

/// Many launches of a kernel, captured once and enqueued by a single call. Their time excludes the
/// host's cost of each launch.
class GraphKernel final : public Kernel {
 public:
  /// Returns null if the kernel cannot be captured.
  static std::unique_ptr<GraphKernel> capture(Kernel& kernel, std::int64_t launches,
                                              const CudaStream& stream);
  /// Owns the graph.
  GraphKernel(cudaGraphExec_t graph, const CudaStream& stream, std::string implementation)
      : graph_(graph), stream_(&stream), implementation_(std::move(implementation)) {}
  ~GraphKernel() override;
  GraphKernel(const GraphKernel&) = delete;
  GraphKernel& operator=(const GraphKernel&) = delete;

  void launch() override;
  std::string implementation() const override { return implementation_; }

 private:
  cudaGraphExec_t graph_;
  const CudaStream* stream_;
  std::string implementation_;
};

}  // namespace assay::cuda
