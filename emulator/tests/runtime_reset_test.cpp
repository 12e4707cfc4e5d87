#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "emulator/tests/programs/programs.h"
#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

TEST(RuntimeReset, EndsWhatTheDeviceHas) {
  const std::string errors =
      on_gpus(2,
              [] {
                void *memory = nullptr, *other = nullptr, *pinned = nullptr, *managed = nullptr;
                std::size_t before = 0, after = 0, total = 0, stack_bytes = 0;
                EXPECT_CUDA(cudaMemGetInfo(&before, &total));
                EXPECT_CUDA(cudaMalloc(&memory, 1000));
                EXPECT_CUDA(cudaHostAlloc(&pinned, 1000, cudaHostAllocDefault));
                EXPECT_CUDA(cudaMallocManaged(&managed, 1000, cudaMemAttachGlobal));
                EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
                EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
                cudaStream_t stream = new_stream();
                cudaEvent_t event = new_event();
                EXPECT_CUDA(cudaMemsetAsync(memory, 0, 1000, stream));
                EXPECT_CUDA(cudaSetDevice(1));
                EXPECT_CUDA(cudaMalloc(&other, 1000));
                EXPECT_CUDA(cudaSetDevice(0));
                EXPECT_CUDA(cudaDeviceReset());
                EXPECT_CUDA(cudaMemGetInfo(&after, &total));
                EXPECT_EQ(before, after);
                EXPECT_REFUSED(cudaErrorInvalidValue, cudaFree(memory));
                EXPECT_REFUSED(cudaErrorInvalidValue, cudaFree(managed));
                EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeHost(pinned));
                EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
                EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaEventDestroy(event));
                EXPECT_CUDA(cudaDeviceGetLimit(&stack_bytes, cudaLimitStackSize));
                EXPECT_EQ(stack_bytes, 1024U);
                EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
                EXPECT_CUDA(cudaFree(other));  // the other device's stays
                // The device can be used again.
                EXPECT_CUDA(cudaMalloc(&memory, 1000));
                EXPECT_CUDA(cudaMemset(memory, 0, 1000));
                EXPECT_CUDA(cudaDeviceReset());
              },
              {{"ASSAY_EMULATOR_LEAKS", "1"}});
  EXPECT_EQ(errors, "");
}

TEST(RuntimeReset, LeavesMemoryOfPools) {
  on_gpus(1, [] {
    void* memory = nullptr;
    EXPECT_CUDA(cudaMallocAsync(&memory, 100, nullptr));
    EXPECT_CUDA(cudaDeviceReset());
    EXPECT_CUDA(cudaMemset(memory, 0, 100));
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeReset, GivesVariablesTheirInitialValues) {
  on_gpus(1, [] {
    EXPECT_EQ(programs::count_calls(), 8);
    EXPECT_EQ(programs::count_calls(), 9);
    EXPECT_CUDA(cudaDeviceReset());
    EXPECT_EQ(programs::count_calls(), 8);
  });
}

TEST(RuntimeReset, DoesNotMendAContextThatIsLost) {
  on_gpus(1, [] {
    EXPECT_EQ(programs::race_in_managed_memory(), cudaErrorLaunchFailure);
    EXPECT_REFUSED(cudaErrorLaunchFailure, cudaDeviceReset());
  });
}

}  // namespace
}  // namespace emulator
