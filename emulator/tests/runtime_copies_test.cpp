#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

constexpr std::size_t bytes = 64;

/// Memory of GPU 0 with zeros, and pinned memory with ones.
struct Buffers {
  Buffers() {
    EXPECT_CUDA(cudaMalloc(&device, bytes));
    EXPECT_CUDA(cudaMemset(device, 0, bytes));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault));
    std::memset(pinned, 1, bytes);
  }
  char first() const {
    char byte = 0;
    EXPECT_CUDA(cudaMemcpy(&byte, device, 1, cudaMemcpyDeviceToHost));
    return byte;
  }
  void* device = nullptr;
  void* pinned = nullptr;
};

TEST(RuntimeCopies, FromPinnedMemoryReadItLate) {
  on_gpus(1, [] {
    const Buffers b;
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaMemcpyAsync(b.device, b.pinned, bytes, cudaMemcpyHostToDevice, stream));
    std::memset(b.pinned, 2, bytes);  // too early: the program's error
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(b.first(), 2);
  });
}

TEST(RuntimeCopies, FromPageableMemoryReadItAtOnceAndArriveLate) {
  on_gpus(1, [] {
    const Buffers b;
    cudaStream_t stream = new_stream();
    std::vector<char> mine(bytes, 3);
    EXPECT_CUDA(cudaMemcpyAsync(b.device, mine.data(), bytes, cudaMemcpyHostToDevice, stream));
    std::fill(mine.begin(), mine.end(), 4);
    EXPECT_REFUSED(cudaErrorNotReady, [&] {
      cudaEvent_t event = new_event();
      float ms = 0;
      EXPECT_CUDA(cudaEventRecord(event, stream));
      return cudaEventElapsedTime(&ms, event, event);
    }());
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(b.first(), 3);
  });
}

TEST(RuntimeCopies, ToPageableMemoryAreDoneWhenTheyReturn) {
  on_gpus(1, [] {
    const Buffers b;
    cudaStream_t stream = new_stream();
    std::vector<char> mine(bytes, 3);
    EXPECT_CUDA(cudaMemcpyAsync(b.device, b.pinned, bytes, cudaMemcpyDefault, stream));
    EXPECT_CUDA(cudaMemcpyAsync(mine.data(), b.device, bytes, cudaMemcpyDefault, stream));
    EXPECT_EQ(mine[0], 1);
  });
}

TEST(RuntimeCopies, ToPinnedMemoryAreNot) {
  on_gpus(1, [] {
    const Buffers b;
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaMemcpyAsync(b.pinned, b.device, bytes, cudaMemcpyDeviceToHost, stream));
    EXPECT_EQ(*static_cast<char*>(b.pinned), 1);
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(*static_cast<char*>(b.pinned), 0);
  });
}

/// A synchronous copy to the GPU may return before it has arrived, and non-blocking streams do not
/// wait for it.
/// "The DMA to final destination may not have completed" when the call returns.
TEST(RuntimeCopies, ASynchronousUploadIsNotYetThereForOtherStreams) {
  bool was_late = false, was_early = false;
  for (int seed = 0; seed < 40; ++seed) {
    const std::string errors =
        on_gpus(1,
                [] {
                  const Buffers b;
                  cudaStream_t stream = new_stream();
                  std::vector<char> mine(bytes, 5);
                  EXPECT_CUDA(cudaMemcpy(b.device, mine.data(), bytes, cudaMemcpyHostToDevice));
                  cudaMemcpyAsync(b.pinned, b.device, bytes, cudaMemcpyDeviceToHost, stream);
                  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
                },
                {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
    was_late = was_late || errors.find("cudaMemcpy: writes") != errors.npos;
    was_early = was_early || errors.find("cudaMemcpyAsync: reads") != errors.npos;
  }
  EXPECT_TRUE(was_late && was_early);
}

TEST(RuntimeCopies, OfFreedMemoryAreFound) {
  const Environment strict{{"ASSAY_EMULATOR_STRICT_FREE", "1"}};
  on_gpus(
      1,
      [] {
        const Buffers b;
        cudaStream_t stream = new_stream();
        EXPECT_CUDA(cudaMemcpyAsync(b.device, b.pinned, bytes, cudaMemcpyDefault, stream));
        EXPECT_CUDA(cudaFreeHost(b.pinned));
        EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
      },
      strict);
  on_gpus(
      1,
      [] {
        const Buffers b;
        cudaStream_t stream = new_stream();
        EXPECT_CUDA(cudaMemsetAsync(b.device, 0, bytes, stream));
        EXPECT_CUDA(cudaFree(b.device));
        EXPECT_REFUSED(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
      },
      strict);
}

TEST(RuntimeCopies, AreDoneBeforeAFreeReturns) {
  on_gpus(1, [] {
    const Buffers b;
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaMemcpyAsync(b.device, b.pinned, bytes, cudaMemcpyDefault, stream));
    EXPECT_CUDA(cudaFreeHost(b.pinned));
    EXPECT_CUDA(cudaMemsetAsync(b.device, 0, bytes, stream));
    EXPECT_CUDA(cudaFree(b.device));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
  });
}

TEST(RuntimeCopies, OfBytesThatNothingWroteAreFoundWhenAsked) {
  const auto read_all = [](cudaError_t expected) {
    void* memory = nullptr;
    std::vector<char> mine(bytes);
    EXPECT_CUDA(cudaMalloc(&memory, bytes));
    EXPECT_CUDA(cudaMemset(memory, 0, bytes - 1));
    EXPECT_EQ(cudaMemcpy(mine.data(), memory, bytes, cudaMemcpyDeviceToHost), expected);
  };
  on_gpus(1, [&] { read_all(cudaSuccess); });
  on_gpus(1, [&] { read_all(cudaErrorLaunchFailure); }, {{"ASSAY_EMULATOR_STRICT_COPIES", "1"}});
}

TEST(RuntimeCopies, MemsetsOfPinnedMemoryAreDoneWhenTheyReturn) {
  on_gpus(1, [] {
    const Buffers b;
    EXPECT_CUDA(cudaMemset(b.pinned, 9, bytes));
    EXPECT_EQ(*static_cast<char*>(b.pinned), 9);
    std::vector<char> mine(bytes);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemset(mine.data(), 0, bytes));
  });
}

}  // namespace
}  // namespace emulator
