#include <cstddef>
#include <utility>
#include <vector>

#include "emulator/runtime/graph_calls.h"
#include "emulator/runtime/graph_handles.h"
#include "emulator/runtime/streams.h"

// Captures of streams into graphs.
namespace emulator {
namespace {

/// Whether all nodes of a capture lead to those that `front` stands behind.
bool is_joined(const Capture& capture, const CaptureFront& front) {
  NodeSet reached = front.nodes;
  const auto& nodes = capture.graph->nodes;
  for (std::size_t i = nodes.size(); i-- > capture.first;) {
    if (!reached.contains(nodes[i].get())) return false;
    reached.insert(nodes[i]->after.begin(), nodes[i]->after.end());
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

cudaError_t begin_capture(Process& p, cudaStream_t handle, cudaStreamCaptureMode mode,
                          const std::shared_ptr<Graph>& graph, NodeSet nodes) {
  const auto stream = find_stream(p, handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
    return cudaErrorInvalidValue;
  }
  if (stream->is_legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream->front.capture != nullptr) return cudaErrorIllegalState;
  stream->front = {
      std::make_shared<Capture>(Capture{mode, std::this_thread::get_id(), stream->queue.get(),
                                        graph, graph->nodes.size()}),
      std::move(nodes)};
  p.captures.insert(stream->front.capture);
  return cudaSuccess;
}

cudaError_t tell_capture(Process& p, const Stream& stream, cudaStreamCaptureStatus* status,
                         unsigned long long* id, cudaGraph_t* graph,
                         const cudaGraphNode_t** dependencies, std::size_t* count) {
  const auto& capture = stream.front.capture;
  *status = capture == nullptr    ? cudaStreamCaptureStatusNone
            : capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                  : cudaStreamCaptureStatusActive;
  if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = handle_of(p, capture->graph);
  // "Only valid until the next call that operates on the stream or the end of the capture".
  thread_local std::vector<cudaGraphNode_t> handles;
  handles.clear();
  for (GraphNode* node : stream.front.nodes) handles.push_back(handle_of(p, *node));
  if (dependencies != nullptr) *dependencies = handles.data();
  if (count != nullptr) *count = handles.size();
  return cudaSuccess;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call(Wants::context, [&](Process& p, Lock&) {
    return begin_capture(p, handle, mode, std::make_shared<Graph>(), {});
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph_handle,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* data, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(graph_handle);
    NodeSet nodes;
    if (graph == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = find_nodes(p, *graph, dependencies, data, count, nodes);
    return error == cudaSuccess ? begin_capture(p, handle, mode, graph, std::move(nodes)) : error;
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
    *graph = handle_of(p, capture.graph);
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

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** data, std::size_t* count) {
#else
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** dependencies,
                                        const cudaGraphEdgeData** data, std::size_t* count) {
#endif
  if (data != nullptr) *data = nullptr;  // all edges are ordinary ones
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (status == nullptr) return cudaErrorInvalidValue;
    return tell_capture(p, *stream, status, id, graph, dependencies, count);
  });
}

#if CUDART_VERSION < 13000
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** dependencies, std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, nullptr, count);
}
#endif

namespace {

cudaError_t update_dependencies(cudaStream_t handle, const cudaGraphNode_t* dependencies,
                                const cudaGraphEdgeData* data, std::size_t count, unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const auto& capture = stream->front.capture;
    if (capture == nullptr) return cudaErrorIllegalState;
    if (capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
    if (flags != cudaStreamAddCaptureDependencies && flags != cudaStreamSetCaptureDependencies)
      return cudaErrorInvalidValue;
    NodeSet nodes;
    const cudaError_t error = find_nodes(p, *capture->graph, dependencies, data, count, nodes);
    if (error != cudaSuccess) return error;
    if (flags == cudaStreamSetCaptureDependencies) stream->front.nodes.clear();
    stream->front.nodes.merge(nodes);
    return cudaSuccess;
  });
}

}  // namespace

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* data, std::size_t count,
                                                unsigned flags) {
  return update_dependencies(stream, dependencies, data, count, flags);
}
#else
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                std::size_t count, unsigned flags) {
  return update_dependencies(stream, dependencies, nullptr, count, flags);
}
#endif
