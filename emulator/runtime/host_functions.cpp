#include <utility>

#include "emulator/runtime/graph_work.h"
#include "emulator/runtime/in_host_function.h"
#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

WorkStep host_function_step(cudaHostFn_t function, void* data) {
  return [function, data] {
    const InHostFunction in;
    function(data);
    return Progress::done;
  };
}

}  // namespace

cudaError_t make_host_work(const cudaHostNodeParams& parameters, Work& work) {
  if (parameters.fn == nullptr) return cudaErrorInvalidValue;
  work.name = "cudaLaunchHostFunc";
  work.step = host_function_step(parameters.fn, parameters.userData);
  work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeHost, parameters});
  return cudaSuccess;
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    Work work;
    const cudaError_t error = make_host_work({function, data}, work);
    return error == cudaSuccess ? submit(p, *stream, std::move(work)) : error;
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
                                 const InHostFunction in;
                                 callback(handle, cudaSuccess, data);
                                 return Progress::done;
                               }});
  });
}
