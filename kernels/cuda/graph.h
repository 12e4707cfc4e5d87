#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/device.h"

namespace assay::cuda {

/// A stream of a device, owned by others.
struct StreamOfDevice {
  cudaStream_t handle = nullptr;
  int ordinal = 0;
};

/// A graph and the stream on which it is launched.
class StreamGraph {
 public:
  /// Owns the graph.
  StreamGraph(cudaGraphExec_t graph, StreamOfDevice stream) : graph_(graph), stream_(stream) {}
  ~StreamGraph();
  StreamGraph(StreamGraph&& other) noexcept
      : graph_(std::exchange(other.graph_, nullptr)), stream_(other.stream_) {}
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;
  StreamGraph& operator=(StreamGraph&&) = delete;

  void upload() const;
  void launch() const;

 private:
  cudaGraphExec_t graph_;
  StreamOfDevice stream_;
};

/// Many launches of a kernel, captured once and enqueued by a single call for each stream. Their
/// time excludes the host's cost of each launch.
class GraphKernel final : public Kernel {
 public:
  /// `streams` are all those on which the kernel works. Returns null if it cannot be captured.
  static std::unique_ptr<GraphKernel> capture(Kernel& kernel, std::int64_t launches,
                                              std::span<const StreamOfDevice> streams);
  GraphKernel(std::vector<StreamGraph> graphs, std::string implementation)
      : graphs_(std::move(graphs)), implementation_(std::move(implementation)) {}

  void launch() override {
    for (const StreamGraph& graph : graphs_) graph.launch();
  }
  std::string implementation() const override { return implementation_; }

 private:
  void upload() const;

  std::vector<StreamGraph> graphs_;
  std::string implementation_;
};

}  // namespace assay::cuda
