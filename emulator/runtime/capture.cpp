#include "emulator/runtime/capture.h"

#include <utility>

#include "emulator/runtime/streams.h"

namespace emulator {

cudaError_t invalidate(Capture& capture, cudaError_t error) {
  capture.is_invalid = true;
  return error;
}

cudaError_t record(CaptureFront& front, std::string name, WorkStep step) {
  Capture& capture = *front.capture;
  if (capture.is_invalid) return cudaErrorStreamCaptureInvalidated;
  capture.nodes.push_back({std::move(name), std::move(step), std::move(front.nodes)});
  front.nodes = {capture.nodes.size() - 1};
  return cudaSuccess;
}

cudaError_t refuse_in_capture(Process& p) {
  cudaError_t error = cudaSuccess;
  for (const std::shared_ptr<Capture>& capture : p.captures) {
    const bool is_own = capture->thread == std::this_thread::get_id();
    const bool prohibits = capture->mode == cudaStreamCaptureModeGlobal ||
                           (is_own && capture->mode == cudaStreamCaptureModeThreadLocal);
    if (prohibits) error = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

cudaError_t refuse_if_capturing(const CaptureFront& front) {
  if (front.capture == nullptr) return cudaSuccess;
  if (front.capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  return invalidate(*front.capture, cudaErrorStreamCaptureUnsupported);
}

cudaError_t refuse_legacy_use(Process& p, int device) {
  cudaError_t error = cudaSuccess;
  for (const auto& [handle, stream] : p.streams.all()) {
    if (stream->device != device || !stream->is_blocking || stream->front.capture == nullptr) {
      continue;
    }
    error = invalidate(*stream->front.capture, cudaErrorStreamCaptureImplicit);
  }
  return error;
}

}  // namespace emulator
