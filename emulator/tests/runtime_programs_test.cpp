#include <algorithm>

#include "emulator/tests/emulated_process.h"
#include "emulator/tests/programs/programs.h"

namespace emulator {
namespace {

using programs::Result;

TEST(RuntimePrograms, BlocksOfACooperativeLaunchWaitForOneAnother) {
  on_gpus(1, [] {
    int holds = 0;
    EXPECT_CUDA(cudaDeviceGetAttribute(&holds, cudaDevAttrCooperativeLaunch, 0));
    EXPECT_EQ(holds, 1);
    for (const int blocks : {1, 8, 640}) {  // a T4 holds 40 times 16 blocks of 64 threads
      const Result result = programs::cooperative_sum(blocks);
      EXPECT_CUDA(result.error);
      EXPECT_EQ(result.values,
                std::vector<int>(static_cast<std::size_t>(blocks), blocks * (blocks + 1) / 2));
    }
    EXPECT_EQ(programs::cooperative_sum(641).error, cudaErrorCooperativeLaunchTooLarge);
  });
}

TEST(RuntimePrograms, OtherBlocksCannot) {
  on_gpus(1, [] { EXPECT_EQ(programs::sum_without_promise(8).error, cudaErrorLaunchFailure); });
}

TEST(RuntimePrograms, KernelsMayCallThemselves) {
  on_gpus(1, [] {
    const Result result = programs::recursive_fibonacci(12, 0);
    EXPECT_CUDA(result.error);
    EXPECT_EQ(result.values, std::vector<int>{144});
    EXPECT_EQ(programs::recursive_fibonacci(20, 4096).values, std::vector<int>{6765});
    std::size_t bytes = 0;
    EXPECT_CUDA(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    EXPECT_EQ(bytes, 1024U);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
    EXPECT_REFUSED(cudaErrorUnsupportedLimit,
                   cudaDeviceGetLimit(&bytes, cudaLimitDevRuntimeSyncDepth));
  });
}

TEST(RuntimePrograms, VariablesAreCopiedByTheirNames) {
  on_gpus(1, [] {
    const Result result = programs::sums_of_variables();
    EXPECT_CUDA(result.error);
    EXPECT_EQ(result.values, (std::vector<int>{0, 1, 2, 3, 8, 10, 12, 14}));
    EXPECT_EQ(programs::copy_past_a_variable(), cudaErrorInvalidValue);
    int none = 0;
    EXPECT_REFUSED(cudaErrorInvalidSymbol,
                   cudaMemcpyToSymbol(&none, &none, 4, 0, cudaMemcpyHostToDevice));
  });
}

TEST(RuntimePrograms, TheStackEnds) {
  const std::string errors = on_gpus(1, [] {
    EXPECT_EQ(programs::recursive_fibonacci(20, 64).error, cudaErrorIllegalAddress);
    // The error's text says the same.
    const std::string text = cudaGetErrorString(cudaGetLastError());
    EXPECT_TRUE(text.starts_with("an illegal memory access was encountered: kernel ")) << text;
    EXPECT_NE(text.find("where a thread has 64 bytes of stack"), std::string::npos) << text;
  });
  EXPECT_NE(errors.find("where a thread has 64 bytes of stack"), std::string::npos) << errors;
  EXPECT_NE(errors.find("recursion.cu:7, "), std::string::npos) << errors;
}

TEST(RuntimePrograms, CallByPointers) {
  on_gpus(1, [] {
    const Result result = programs::results_of_pointers();
    EXPECT_CUDA(result.error);
    EXPECT_EQ(result.values,
              (std::vector<int>{0, 4, 6, 6, 12, 8, 18, 10, 0, -1, -2, -3, -4, -5, -6, -7}));
  });
}

TEST(RuntimePrograms, AllocateInKernels) {
  on_gpus(1, [] {
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Result result = programs::sums_in_the_heap(0);
      EXPECT_CUDA(result.error);
      EXPECT_EQ(result.values, (std::vector<int>{0, 0, 1, 3, 6, 10, 15, 21}));
    }
    // Kernels have used the heap.
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  });
  on_gpus(1, [] {
    const Result result = programs::sums_in_the_heap(60);
    EXPECT_CUDA(result.error);
    EXPECT_NE(std::ranges::count(result.values, -1), 0);
    EXPECT_NE(std::ranges::count(result.values, -1), 8);
  });
  const std::string errors =
      on_gpus(1, [] { EXPECT_EQ(programs::free_what_is_none(), cudaErrorIllegalAddress); });
  EXPECT_NE(errors.find("which no malloc of a kernel returned"), std::string::npos) << errors;
}

}  // namespace
}  // namespace emulator
