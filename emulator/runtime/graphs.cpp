#include <algorithm>
#include <random>
#include <utility>

#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

/// Runs the nodes of one launch, any whose predecessors are done.
class GraphRun {
 public:
  GraphRun(const std::vector<Node>& nodes, std::uint64_t seed)
      : nodes_(nodes), is_done_(nodes.size()), random_(seed) {}

  Progress operator()() {
    bool is_waiting = false;
    for (std::size_t node : ready()) {
      const Progress progress = nodes_[node].step();
      if (progress == Progress::done) {
        is_done_[node] = true;
        ++done_;
      }
      is_waiting = progress == Progress::waits;
      if (!is_waiting) break;
    }
    if (done_ == nodes_.size()) return Progress::done;
    return is_waiting ? Progress::waits : Progress::again;
  }

 private:
  /// Nodes that may run now, in an order drawn from the seed.
  std::vector<std::size_t> ready() {
    std::vector<std::size_t> found;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const bool is_free = std::ranges::all_of(
          nodes_[node].after, [&](std::size_t before) { return bool{is_done_[before]}; });
      if (!is_done_[node] && is_free) found.push_back(node);
    }
    std::ranges::shuffle(found, random_);
    return found;
  }

  std::vector<Node> nodes_;
  std::vector<bool> is_done_;
  std::size_t done_ = 0;
  std::mt19937_64 random_;
};

/// Whether all nodes of a capture lead to those that `front` stands behind.
bool is_joined(const Capture& capture, const CaptureFront& front) {
  std::set<std::size_t> reached = front.nodes;
  for (std::size_t node = capture.nodes.size(); node-- > 0;) {
    if (!reached.contains(node)) return false;
    reached.insert(capture.nodes[node].after.begin(), capture.nodes[node].after.end());
  }
  return true;
}

/// Takes all streams out of a capture.
void leave(Process& p, const std::shared_ptr<Capture>& capture) {
  for (const auto& [handle, stream] : p.streams.all()) {
    if (stream->front.capture == capture) stream->front = {};
  }
  capture->has_ended = true;
  p.captures.erase(capture);
}

/// Enqueues work of a graph behind the stream's and the graph's own earlier work.
cudaError_t submit_graph(cudaGraphExec_t handle, cudaStream_t stream_handle, bool runs) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.executable_graphs.find(handle);
    const auto stream = find_stream(p, stream_handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    WorkStep step = [] { return Progress::done; };
    if (runs && !graph->nodes.empty()) step = GraphRun(graph->nodes, p.scheduler.random()());
    TicketPointer ticket;
    const cudaError_t error = submit(
        p, *stream, {runs ? "cudaGraphLaunch" : "cudaGraphUpload", std::move(step), {graph->last}},
        &ticket);
    if (ticket != nullptr) graph->last = std::move(ticket);
    return error;
  });
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
      return cudaErrorInvalidValue;
    }
    if (stream->is_legacy) return cudaErrorStreamCaptureUnsupported;
    if (stream->front.capture != nullptr) return cudaErrorIllegalState;
    stream->front = {
        std::make_shared<Capture>(Capture{mode, std::this_thread::get_id(), stream->queue.get()}),
        {}};
    p.captures.insert(stream->front.capture);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (graph == nullptr) return cudaErrorInvalidValue;
    *graph = nullptr;
    const CaptureFront front = stream->front;
    if (front.capture == nullptr) return cudaErrorIllegalState;
    Capture& capture = *front.capture;
    if (capture.origin != stream->queue.get()) {
      return invalidate(capture, cudaErrorStreamCaptureUnmatched);
    }
    if (capture.mode != cudaStreamCaptureModeRelaxed &&
        capture.thread != std::this_thread::get_id()) {
      return invalidate(capture, cudaErrorStreamCaptureWrongThread);
    }
    leave(p, front.capture);
    if (capture.is_invalid) return cudaErrorStreamCaptureInvalidated;
    if (!is_joined(capture, front)) return cudaErrorStreamCaptureUnjoined;
    *graph = p.graphs.add(std::make_shared<Graph>(Graph{std::move(capture.nodes)}));
    return cudaSuccess;
  });
}

/// Exchanges the mode of the calling thread.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call(Wants::devices, [&](Process&, Lock&) {
    if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal ||
        *mode > cudaStreamCaptureModeRelaxed) {
      return cudaErrorInvalidValue;
    }
    std::swap(*mode, thread_capture_mode());
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (status == nullptr) return cudaErrorInvalidValue;
    const auto& capture = stream->front.capture;
    *status = capture == nullptr    ? cudaStreamCaptureStatusNone
              : capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
    if (!stream->is_legacy) return cudaSuccess;
    // Unlike all other uses of the default stream, this one does not invalidate.
    for (const auto& [other_handle, other] : p.streams.all()) {
      if (other->device == stream->device && other->is_blocking &&
          other->front.capture != nullptr) {
        return cudaErrorStreamCaptureImplicit;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* handle, cudaGraph_t graph_handle,
                                 unsigned long long flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(graph_handle);
    if (handle == nullptr || graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *handle =
        p.executable_graphs.add(std::make_shared<ExecutableGraph>(ExecutableGraph{graph->nodes}));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream) {
  return submit_graph(graph, stream, false);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return submit_graph(graph, stream, true);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(Wants::context, [&](Process& p, Lock&) {
    return p.graphs.remove(graph) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return call(Wants::context, [&](Process& p, Lock&) {
    return p.executable_graphs.remove(graph) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
