#include <cstring>
#include <string>

#include "emulator/tests/programs/programs.h"
#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

using programs::count_up;
using programs::fill;
using programs::increase;

constexpr std::size_t bytes = programs::stream_elements * sizeof(int);

/// Arrays of zeros that the host knows of, and two streams.
struct Setting {
  explicit Setting(unsigned flags = cudaStreamNonBlocking)
      : s(new_stream(flags)), t(new_stream(flags)) {
    for (int** array : {&a, &b}) {
      EXPECT_CUDA(cudaMalloc(reinterpret_cast<void**>(array), bytes));
      EXPECT_CUDA(cudaMemset(*array, 0, bytes));
    }
    EXPECT_CUDA(cudaMallocHost(reinterpret_cast<void**>(&pinned), bytes));
    std::memset(pinned, 7, bytes);  // copies of it change something
    EXPECT_CUDA(cudaDeviceSynchronize());
  }
  int* a = nullptr;
  int* b = nullptr;
  int* pinned = nullptr;
  cudaStream_t s, t;
};

/// Runs it with some seeds: the streams' work comes in either order.
void expect_no_report(const std::function<void()>& body) {
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    const std::string errors = on_gpus(1,
                                       [&] {
                                         body();
                                         EXPECT_CUDA(cudaDeviceSynchronize());
                                       },
                                       {{"ASSAY_EMULATOR_SEED", seed}});
    EXPECT_EQ(errors, "");
  }
}

void expect_report(const std::string& text, const std::function<void()>& body) {
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    const std::string errors = on_gpus(1,
                                       [&] {
                                         body();
                                         EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
                                       },
                                       {{"ASSAY_EMULATOR_SEED", seed}});
    EXPECT_NE(errors.find(text), std::string::npos) << errors;
    EXPECT_NE(errors.find("neither an event nor the host orders the two"), std::string::npos)
        << errors;
  }
}

TEST(StreamRaces, OfKernels) {
  expect_report("of another stream", [] {
    const Setting on;
    fill(on.a, 1, on.s);
    increase(on.b, on.a, on.t);
  });
}

TEST(StreamRaces, OfWrites) {
  expect_report("which kernel ", [] {
    const Setting on;
    fill(on.a, 1, on.s);
    fill(on.a, 2, on.t);
  });
}

TEST(StreamRaces, NotOfTheSameValues) {
  expect_no_report([] {
    const Setting on;
    fill(on.a, 1, on.s);
    fill(on.a, 1, on.t);
  });
  expect_no_report([] {
    const Setting on;
    cudaMemcpyAsync(on.a, on.pinned, bytes, cudaMemcpyHostToDevice, on.s);
    cudaMemcpyAsync(on.a, on.pinned, bytes, cudaMemcpyHostToDevice, on.t);
  });
}

TEST(StreamRaces, NotOfReadsAndOfAtomics) {
  expect_no_report([] {
    const Setting on;
    increase(on.b, on.a, on.s);
    cudaMemcpyAsync(on.pinned, on.a, bytes, cudaMemcpyDeviceToHost, on.t);
    EXPECT_CUDA(cudaDeviceSynchronize());
    count_up(on.a, on.s);
    count_up(on.a, on.t);
  });
}

TEST(StreamRaces, NotOfOtherMemory) {
  expect_no_report([] {
    const Setting on;
    fill(on.a, 1, on.s);
    fill(on.b, 1, on.t);
  });
}

TEST(StreamRaces, NotBehindAnEvent) {
  expect_no_report([] {
    const Setting on;
    const cudaEvent_t event = new_event();
    fill(on.a, 1, on.s);
    cudaEventRecord(event, on.s);
    cudaStreamWaitEvent(on.t, event, 0);
    increase(on.b, on.a, on.t);
    // By way of another stream.
    const cudaStream_t last = new_stream();
    cudaEventRecord(event, on.t);
    cudaStreamWaitEvent(last, event, 0);
    fill(on.a, 3, last);
  });
}

TEST(StreamRaces, BehindAnEventThatWasRecordedTooEarly) {
  expect_report("of another stream", [] {
    const Setting on;
    const cudaEvent_t event = new_event();
    cudaEventRecord(event, on.s);
    fill(on.a, 1, on.s);
    cudaStreamWaitEvent(on.t, event, 0);
    increase(on.b, on.a, on.t);
  });
}

TEST(StreamRaces, NotBehindAHostThatWaited) {
  expect_no_report([] {
    const Setting on;
    const cudaEvent_t event = new_event();
    fill(on.a, 1, on.s);
    EXPECT_CUDA(cudaStreamSynchronize(on.s));
    increase(on.b, on.a, on.t);
    cudaEventRecord(event, on.t);
    EXPECT_CUDA(cudaEventSynchronize(event));
    fill(on.a, 2, on.s);
    while (cudaStreamQuery(on.s) == cudaErrorNotReady) {
    }
    increase(on.b, on.a, on.t);
    cudaEventRecord(event, on.t);
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
    fill(on.a, 3, on.s);
  });
}

TEST(StreamRaces, BehindAHostThatWaitedForAnotherStream) {
  expect_report("of another stream", [] {
    const Setting on;
    fill(on.a, 1, on.s);
    EXPECT_CUDA(cudaStreamSynchronize(on.t));
    increase(on.b, on.a, on.t);
  });
}

TEST(StreamRaces, NotWithTheDefaultStreamOfBlockingOnes) {
  expect_no_report([] {
    const Setting on(cudaStreamDefault);
    fill(on.a, 1, on.s);
    increase(on.b, on.a, nullptr);
    increase(on.a, on.b, on.t);
    EXPECT_CUDA(cudaStreamDestroy(on.t));
    // Its work runs now, and of it the host knows nothing.
    const cudaStream_t other = new_stream();
    for (int i = 0; i < 50; ++i) EXPECT_CUDA(cudaStreamQuery(other));
    increase(on.b, on.a, nullptr);
  });
}

TEST(StreamRaces, WithTheDefaultStreamOfOthers) {
  expect_report("cudaMemcpy", [] {
    const Setting on;
    int value = 0;
    fill(on.a, 1, on.s);
    static_cast<void>(cudaMemcpy(&value, on.a, sizeof value, cudaMemcpyDeviceToHost));
  });
}

TEST(StreamRaces, OfCopiesAndKernels) {
  expect_report("cudaMemcpyAsync", [] {
    const Setting on;
    cudaMemcpyAsync(on.a, on.pinned, bytes, cudaMemcpyHostToDevice, on.s);
    increase(on.b, on.a, on.t);
  });
  expect_report("cudaMemsetAsync", [] {
    const Setting on;
    cudaMemsetAsync(on.a, 1, bytes, on.s);
    increase(on.b, on.a, on.t);
  });
}

TEST(StreamRaces, OfTwoCopies) {
  expect_report("cudaMemcpyAsync: ", [] {
    const Setting on;
    cudaMemcpyAsync(on.a, on.pinned, bytes, cudaMemcpyHostToDevice, on.s);
    cudaMemcpyAsync(on.b, on.a, bytes, cudaMemcpyDeviceToDevice, on.t);
  });
  expect_report("cudaMemcpyAsync: ", [] {  // in pinned memory
    const Setting on;
    cudaMemcpyAsync(on.pinned, on.a, bytes, cudaMemcpyDeviceToHost, on.s);
    cudaMemcpyAsync(on.b, on.pinned, bytes, cudaMemcpyHostToDevice, on.t);
  });
}

TEST(StreamRaces, NotOfNeighbouringBytes) {
  expect_no_report([] {
    const Setting on;
    cudaMemsetAsync(on.a, 1, 6, on.s);
    cudaMemsetAsync(reinterpret_cast<char*>(on.a) + 6, 2, 6, on.t);
  });
}

TEST(StreamRaces, NotWithAKernelThatTheHostHasHeardOf) {
  expect_no_report([] {
    const Setting on;
    volatile int* flag = on.pinned;
    *flag = 0;
    programs::tell_host(on.a, on.pinned, on.s);
    while (*flag == 0) static_cast<void>(cudaStreamQuery(on.t));
    increase(on.b, on.a, on.t);
  });
}

TEST(StreamRaces, NotWithAKernelThatTheOtherOneHasHeardOf) {
  expect_no_report([] {
    const Setting on;
    programs::tell_kernel(on.a, on.a + 100, on.s);
    programs::add_if_kernel_told(on.b, on.a, on.a + 100, on.t);
  });
}

}  // namespace
}  // namespace emulator
