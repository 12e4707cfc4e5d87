#include "emulator/runtime/capture.h"

#include <utility>

namespace emulator {

cudaError_t invalidate(Capture& capture, cudaError_t error) {
  capture.is_invalid = true;
  return error;
}

cudaError_t record(CaptureFront& front, Work work) {
  Capture& capture = *front.capture;
  if (capture.is_invalid) return cudaErrorStreamCaptureInvalidated;
  work.after.clear();
  front.nodes = {&capture.graph->add(std::move(work), std::move(front.nodes))};
  return cudaSuccess;
}

cudaStreamCaptureMode& thread_capture_mode() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

cudaError_t refuse_in_capture(const std::set<std::shared_ptr<Capture>>& captures) {
  cudaError_t error = cudaSuccess;
  const cudaStreamCaptureMode own_mode = thread_capture_mode();
  if (own_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (const std::shared_ptr<Capture>& capture : captures) {
    const bool is_own = capture->thread == std::this_thread::get_id();
    const bool prohibits = is_own ? capture->mode != cudaStreamCaptureModeRelaxed
                                  : own_mode == cudaStreamCaptureModeGlobal &&
                                        capture->mode == cudaStreamCaptureModeGlobal;
    if (prohibits) error = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

cudaError_t refuse_if_capturing(const CaptureFront& front) {
  if (front.capture == nullptr) return cudaSuccess;
  if (front.capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  return invalidate(*front.capture, cudaErrorStreamCaptureUnsupported);
}

}  // namespace emulator
