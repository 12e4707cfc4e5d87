#include <cuda_runtime_api.h>

#include <string>
#include <thread>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

constexpr auto thread_local_mode = cudaStreamCaptureModeThreadLocal;

cudaGraphExec_t instantiated(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  return executable;
}

TEST(RuntimeCapture, RecordsInsteadOfRunning) {
  on_gpus(1, [] {
    RecordedWork work;
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, thread_local_mode));
    work.enqueue('a', stream);
    work.enqueue('b', stream);
    cudaStreamCaptureStatus status{};
    EXPECT_CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(work.done(), "");
    cudaGraphExec_t executable = instantiated(graph);
    EXPECT_CUDA(cudaGraphUpload(executable, stream));
    EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    work.enqueue('c', stream);
    EXPECT_CUDA(cudaGraphExecDestroy(executable));  // its launches still run
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(work.done(), "ababc");
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphLaunch(executable, stream));
  });
}

TEST(RuntimeCapture, LaunchesOfOneGraphFollowEachOther) {
  for (int seed = 0; seed < 10; ++seed) {
    on_gpus(1,
            [] {
              RecordedWork work;
              cudaStream_t one = new_stream(), other = new_stream();
              cudaGraph_t graph = nullptr;
              EXPECT_CUDA(cudaStreamBeginCapture(one, thread_local_mode));
              work.enqueue('a', one);
              work.enqueue('b', one);
              EXPECT_CUDA(cudaStreamEndCapture(one, &graph));
              cudaGraphExec_t executable = instantiated(graph);
              EXPECT_CUDA(cudaGraphLaunch(executable, one));
              EXPECT_CUDA(cudaGraphLaunch(executable, other));
              EXPECT_CUDA(cudaDeviceSynchronize());
              EXPECT_EQ(work.done(), "abab");
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

/// Captures a, then b and c without order, then d; returns the order of a launch.
std::string forked_and_joined(int seed) {
  return on_gpus(1,
                 [] {
                   RecordedWork work;
                   cudaStream_t one = new_stream(), other = new_stream();
                   cudaEvent_t fork = new_event(), join = new_event();
                   cudaGraph_t graph = nullptr;
                   EXPECT_CUDA(cudaStreamBeginCapture(one, thread_local_mode));
                   work.enqueue('a', one);
                   EXPECT_CUDA(cudaEventRecord(fork, one));
                   EXPECT_CUDA(cudaStreamWaitEvent(other, fork, 0));
                   work.enqueue('b', one);
                   work.enqueue('c', other);
                   EXPECT_CUDA(cudaEventRecord(join, other));
                   EXPECT_CUDA(cudaStreamWaitEvent(one, join, 0));
                   work.enqueue('d', one);
                   EXPECT_CUDA(cudaStreamEndCapture(one, &graph));
                   EXPECT_CUDA(cudaGraphLaunch(instantiated(graph), one));
                   EXPECT_CUDA(cudaStreamSynchronize(one));
                   std::fputs(work.done().c_str(), stderr);
                 },
                 {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
}

TEST(RuntimeCapture, ForksAndJoinsByEvents) {
  bool has_bc = false, has_cb = false;
  for (int seed = 0; seed < 20; ++seed) {
    const std::string order = forked_and_joined(seed);
    EXPECT_TRUE(order == "abcd" || order == "acbd") << order;
    has_bc = has_bc || order == "abcd";
    has_cb = has_cb || order == "acbd";
  }
  EXPECT_TRUE(has_bc && has_cb);
}

TEST(RuntimeCapture, AForkThatIsNotJoinedIsAnError) {
  on_gpus(1, [] {
    RecordedWork work;
    cudaStream_t one = new_stream(), other = new_stream();
    cudaEvent_t fork = new_event();
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(one, thread_local_mode));
    EXPECT_CUDA(cudaEventRecord(fork, one));
    EXPECT_CUDA(cudaStreamWaitEvent(other, fork, 0));
    work.enqueue('a', other);
    EXPECT_REFUSED(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(one, &graph));
    EXPECT_EQ(graph, nullptr);
    work.enqueue('b', other);  // it captures no more
    EXPECT_CUDA(cudaStreamSynchronize(other));
    EXPECT_EQ(work.done(), "b");
  });
}

/// Expects that a call during a capture returns `error`, and leaves the capture useless.
void expect_invalidates(cudaError_t error, unsigned stream_flags, cudaStreamCaptureMode mode,
                        const std::function<cudaError_t(cudaStream_t)>& forbidden) {
  on_gpus(1, [&] {
    cudaStream_t stream = new_stream(stream_flags);
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, mode));
    EXPECT_EQ(forbidden(stream), error);
    cudaStreamCaptureStatus status{};
    EXPECT_CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
    EXPECT_REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(graph, nullptr);
    EXPECT_CUDA(cudaStreamSynchronize(stream));  // as before the capture
  });
}

TEST(RuntimeCapture, RefusesCallsThatWait) {
  const auto expect_unsupported = [](const std::function<cudaError_t(cudaStream_t)>& forbidden) {
    expect_invalidates(cudaErrorStreamCaptureUnsupported, cudaStreamNonBlocking, thread_local_mode,
                       forbidden);
  };
  expect_unsupported([](cudaStream_t stream) { return cudaStreamSynchronize(stream); });
  expect_unsupported([](cudaStream_t stream) { return cudaStreamQuery(stream); });
  expect_unsupported([](cudaStream_t) { return cudaDeviceSynchronize(); });
  expect_unsupported([](cudaStream_t) { return cudaStreamSynchronize(new_stream()); });
  expect_unsupported([](cudaStream_t) { return cudaEventQuery(new_event()); });
}

TEST(RuntimeCapture, RefusesUnsafeCalls) {
  const auto allocates = [](cudaStream_t) {
    void* memory = nullptr;
    return cudaMalloc(&memory, 8);
  };
  for (const auto mode : {thread_local_mode, cudaStreamCaptureModeGlobal}) {
    expect_invalidates(cudaErrorStreamCaptureUnsupported, cudaStreamNonBlocking, mode, allocates);
  }
  on_gpus(1, [&] {
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT_CUDA(allocates(stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  });
}

TEST(RuntimeCapture, ConcernsOtherThreadsInGlobalModeOnly) {
  const auto allocate_elsewhere = [](cudaStream_t) {
    cudaError_t error = cudaSuccess;
    std::thread([&] {
      void* memory = nullptr;
      error = cudaMalloc(&memory, 8);
    }).join();
    return error;
  };
  expect_invalidates(cudaErrorStreamCaptureUnsupported, cudaStreamNonBlocking,
                     cudaStreamCaptureModeGlobal, allocate_elsewhere);
  on_gpus(1, [&] {
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, thread_local_mode));
    EXPECT_CUDA(allocate_elsewhere(stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  });
}

TEST(RuntimeCapture, OutlivesStreamsThatHaveJoinedIt) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t fork = new_event(), join = new_event();
    cudaGraph_t graph = nullptr;
    RecordedWork work;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaEventRecord(fork, stream));
    EXPECT_CUDA(cudaStreamWaitEvent(other, fork, 0));
    work.enqueue('a', other);
    EXPECT_CUDA(cudaEventRecord(join, other));
    EXPECT_CUDA(cudaStreamWaitEvent(stream, join, 0));
    EXPECT_CUDA(cudaStreamDestroy(other));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_REFUSED(cudaErrorStreamCaptureUnsupported, cudaStreamDestroy(stream));
  });
}

TEST(RuntimeCapture, ForbidsAsMuchAsTheModeOfTheThread) {
  on_gpus(1, [&] {
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    void* memory = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    EXPECT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaMalloc(&memory, 8));
    EXPECT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
    cudaError_t error = cudaErrorUnknown;
    std::thread([&] {
      cudaStreamCaptureMode own = thread_local_mode;
      EXPECT_CUDA(cudaThreadExchangeStreamCaptureMode(&own));
      EXPECT_EQ(own, cudaStreamCaptureModeGlobal);
      error = cudaMalloc(&memory, 8);
    }).join();
    EXPECT_CUDA(error);
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    mode = static_cast<cudaStreamCaptureMode>(9);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaThreadExchangeStreamCaptureMode(&mode));
  });
}

TEST(RuntimeCapture, RefusesTheDefaultStreamWhileABlockingStreamCaptures) {
  const auto use_it = [](cudaStream_t) {
    return emulator::enqueue(nullptr, "work", [] { return Step::done; });
  };
  expect_invalidates(cudaErrorStreamCaptureImplicit, cudaStreamDefault, thread_local_mode, use_it);
  on_gpus(1, [&] {
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, thread_local_mode));
    EXPECT_CUDA(use_it(stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_REFUSED(cudaErrorStreamCaptureUnsupported,
                   cudaStreamBeginCapture(nullptr, thread_local_mode));
  });
}

TEST(RuntimeCapture, EventsInsideAndOutsideDoNotMix) {
  const auto waits_for_outside = [](cudaStream_t stream) {
    cudaEvent_t event = new_event();
    EXPECT_CUDA(cudaEventRecord(event, new_stream()));
    return cudaStreamWaitEvent(stream, event, 0);
  };
  expect_invalidates(cudaErrorStreamCaptureIsolation, cudaStreamNonBlocking, thread_local_mode,
                     waits_for_outside);
  const auto asks_inside = [](cudaStream_t stream) {
    cudaEvent_t event = new_event();
    EXPECT_CUDA(cudaEventRecord(event, stream));
    return cudaEventQuery(event);
  };
  expect_invalidates(cudaErrorCapturedEvent, cudaStreamNonBlocking, cudaStreamCaptureModeRelaxed,
                     asks_inside);
  const auto merges = [](cudaStream_t stream) {
    cudaStream_t other = new_stream();
    cudaEvent_t event = new_event();
    EXPECT_CUDA(cudaStreamBeginCapture(other, thread_local_mode));
    EXPECT_CUDA(cudaEventRecord(event, other));
    return cudaStreamWaitEvent(stream, event, 0);
  };
  // The other capture is left open: its stream is not the one whose later use is expected to
  // succeed.
  on_gpus(1, [&] {
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamBeginCapture(stream, thread_local_mode));
    EXPECT_REFUSED(cudaErrorStreamCaptureMerge, merges(stream));
    EXPECT_REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  });
}

TEST(RuntimeCapture, EndsWhereAndInTheThreadInWhichItBegan) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream(), forked = new_stream();
    cudaEvent_t event = new_event();
    cudaGraph_t graph = nullptr;
    EXPECT_REFUSED(cudaErrorIllegalState, cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, thread_local_mode));
    EXPECT_REFUSED(cudaErrorIllegalState, cudaStreamBeginCapture(stream, thread_local_mode));
    EXPECT_CUDA(cudaEventRecord(event, stream));
    EXPECT_CUDA(cudaStreamWaitEvent(forked, event, 0));
    EXPECT_REFUSED(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(forked, &graph));
    EXPECT_REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, thread_local_mode));
    std::thread([&] {
      EXPECT_REFUSED(cudaErrorStreamCaptureWrongThread, cudaStreamEndCapture(stream, &graph));
    }).join();
  });
}

TEST(RuntimeCapture, GraphsFindMemoryThatWasFreed) {
  const std::string errors = on_gpus(1, [] {
    void* memory = nullptr;
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 64));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, thread_local_mode));
    EXPECT_CUDA(cudaMemsetAsync(memory, 1, 64, stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable = instantiated(graph);
    EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_CUDA(cudaFree(memory));  // waits for that launch
    EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
  });
  EXPECT_NE(errors.find("freed"), std::string::npos) << errors;
}

}  // namespace
}  // namespace emulator
