#include "kernels/cuda/graph.h"

#include <deque>
#include <optional>

#include "kernels/core/status.h"
#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

/// The capture of a stream. Ends also after an error.
class Capture {
 public:
  explicit Capture(StreamOfDevice stream) : stream_(stream) {
    make_current(stream.ordinal);
    check(cudaGetLastError(), "an earlier call");
    const cudaError_t error =
        cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal);
    ignore(error);
    is_open_ = error == cudaSuccess;
  }
  ~Capture() {
    end();
    if (graph_ != nullptr) ignore(cudaGraphDestroy(graph_));
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// False if the stream cannot be captured.
  bool is_open() const { return is_open_; }
  void end() {
    if (!is_open_) return;
    is_open_ = false;
    make_current(stream_.ordinal);
    ignore(cudaStreamEndCapture(stream_.handle, &graph_));
  }
  /// Returns nothing if a call was not captured, or if there is no memory for so many nodes: the
  /// caller then uses a loop.
  std::optional<StreamGraph> instantiate() const {
    if (graph_ == nullptr) return std::nullopt;
    make_current(stream_.ordinal);
    cudaGraphExec_t executable = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&executable, graph_, 0);
    if (error != cudaSuccess && !is_sticky(error)) {
      ignore(error);
      return std::nullopt;
    }
    check(error, "cudaGraphInstantiate");
    return std::optional<StreamGraph>(std::in_place, executable, stream_);
  }

 private:
  StreamOfDevice stream_;
  cudaGraph_t graph_ = nullptr;
  bool is_open_ = false;
};

}  // namespace

StreamGraph::~StreamGraph() {
  if (graph_ != nullptr) ignore(cudaGraphExecDestroy(graph_));
}

void StreamGraph::upload() const {
  make_current(stream_.ordinal);
  check(cudaGraphUpload(graph_, stream_.handle), "cudaGraphUpload");
}

void StreamGraph::launch() const {
  make_current(stream_.ordinal);
  check(cudaGraphLaunch(graph_, stream_.handle), "cudaGraphLaunch");
}

std::unique_ptr<GraphKernel> GraphKernel::capture(Kernel& kernel, std::int64_t launches,
                                                  std::span<const StreamOfDevice> streams) {
  std::deque<Capture> captures;
  for (const StreamOfDevice& stream : streams) {
    if (!captures.emplace_back(stream).is_open()) return nullptr;
  }
  try {
    for (std::int64_t i = 0; i < launches; ++i) kernel.launch();
  } catch (const DeviceError&) {
    return nullptr;  // launches outside a graph report all other errors
  }
  for (Capture& capture : captures) capture.end();
  std::vector<StreamGraph> graphs;
  for (const Capture& capture : captures) {
    std::optional<StreamGraph> graph = capture.instantiate();
    if (!graph) return nullptr;
    graphs.push_back(std::move(*graph));
  }
  auto all = std::make_unique<GraphKernel>(std::move(graphs), kernel.implementation());
  all->upload();
  return all;
}

void GraphKernel::upload() const {
  for (const StreamGraph& graph : graphs_) graph.upload();
}

}  // namespace assay::cuda
