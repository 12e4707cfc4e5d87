#include "emulator/runtime/host_functions.h"

#include <utility>

#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

bool& inside() {
  thread_local bool is_inside = false;
  return is_inside;
}

}  // namespace

bool is_in_host_function() { return inside(); }

WorkStep host_function_step(cudaHostFn_t function, void* data) {
  return [function, data] {
    inside() = true;
    function(data);
    inside() = false;
    return Progress::done;
  };
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    return submit(p, *stream, {"cudaLaunchHostFunc", host_function_step(function, data)});
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (stream->front.capture != nullptr)
      return invalidate(*stream->front.capture, cudaErrorStreamCaptureUnsupported);
    return submit(p, *stream, {"cudaStreamAddCallback", [handle, callback, data] {
                                 inside() = true;
                                 callback(handle, cudaSuccess, data);
                                 inside() = false;
                                 return Progress::done;
                               }});
  });
}
