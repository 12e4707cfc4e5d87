#include <cuda_runtime_api.h>

#include <string>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

void append(void* text) { *static_cast<std::string*>(text) += 'h'; }

void append_status(cudaStream_t, cudaError_t status, void* text) {
  *static_cast<std::string*>(text) += status == cudaSuccess ? 'c' : 'e';
}

TEST(RuntimeHostFunctions, RunWhereTheStreamComesToThem) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    std::string text;
    char* memory = nullptr;
    EXPECT_CUDA(cudaMallocManaged(reinterpret_cast<void**>(&memory), 1, cudaMemAttachGlobal));
    struct Seen {
      const char* memory;
      char value;
    } seen{memory, 0};
    EXPECT_CUDA(cudaMemsetAsync(memory, 1, 1, stream));
    EXPECT_CUDA(cudaLaunchHostFunc(
        stream,
        [](void* data) {
          auto& s = *static_cast<Seen*>(data);
          s.value = *s.memory;
        },
        &seen));
    EXPECT_CUDA(cudaMemsetAsync(memory, 2, 1, stream));
    EXPECT_CUDA(cudaStreamAddCallback(stream, append_status, &text, 0));
    EXPECT_CUDA(cudaLaunchHostFunc(stream, append, &text));
    EXPECT_EQ(text, "");
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(text, "ch");
    EXPECT_EQ(seen.value, 1);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, nullptr, &text));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaStreamAddCallback(stream, append_status, &text, 1));
  });
}

TEST(RuntimeHostFunctions, BelongToGraphsButCallbacksDoNot) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    std::string text;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaLaunchHostFunc(stream, append, &text));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(text, "hh");
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_REFUSED(cudaErrorStreamCaptureUnsupported,
                   cudaStreamAddCallback(stream, append_status, &text, 0));
    EXPECT_REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  });
}

TEST(RuntimeHostFunctions, MustNotCallCuda) {
  const std::string errors = on_gpus(1, [] {
    cudaError_t error = cudaSuccess;
    EXPECT_CUDA(cudaLaunchHostFunc(
        nullptr,
        [](void* data) {
          void* memory = nullptr;
          *static_cast<cudaError_t*>(data) = cudaMalloc(&memory, 1);
        },
        &error));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(error, cudaErrorNotPermitted);
  });
  EXPECT_NE(errors.find("calls CUDA, which is not permitted"), std::string::npos) << errors;
}

}  // namespace
}  // namespace emulator
