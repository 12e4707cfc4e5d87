#include <cuda_runtime_api.h>

#include <vector>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

TEST(RuntimePeers, AccessIsAskedForEnabledAndDisabled) {
  on_gpus(2, [] {
    int can = -1;
    EXPECT_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_EQ(can, 1);
    EXPECT_CUDA(cudaDeviceCanAccessPeer(&can, 1, 1));
    EXPECT_EQ(can, 0);
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, 2));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
    EXPECT_REFUSED(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
    EXPECT_REFUSED(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_REFUSED(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_CUDA(cudaDeviceDisablePeerAccess(1));
  });
}

TEST(RuntimePeers, OneDirectionIsNotTheOther) {
  on_gpus(2, [] {
    void* memory = nullptr;
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaMalloc(&memory, 16));
    EXPECT_CUDA(cudaMemset(memory, 0, 16));
    EXPECT_CUDA(cudaDeviceEnablePeerAccess(0, 0));  // for GPU 1 to the memory of GPU 0
    EXPECT_CUDA(cudaDeviceSynchronize());
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    EXPECT_THROW(emulator::memory().view(address, 16, Access::read, 0, "kernel"), Fault);
    EXPECT_CUDA(cudaSetDevice(0));
    EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_NO_THROW(emulator::memory().view(address, 16, Access::read, 0, "kernel"));
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimePeers, MayBeMissing) {
  on_gpus(2,
          [] {
            int can = -1;
            EXPECT_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
            EXPECT_EQ(can, 0);
            EXPECT_REFUSED(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
          },
          {{"ASSAY_EMULATOR_PEERS", "0"}});
}

TEST(RuntimePeers, CopiesNeedNoAccess) {
  on_gpus(2, [] {
    std::vector<void*> memory(2);
    std::vector<int> sent{2, 7, 1}, received(3);
    for (int device = 0; device < 2; ++device) {
      EXPECT_CUDA(cudaSetDevice(device));
      EXPECT_CUDA(cudaMalloc(&memory[static_cast<std::size_t>(device)], 12));
    }
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaMemcpyAsync(memory[0], sent.data(), 12, cudaMemcpyDefault, stream));
    EXPECT_CUDA(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, 12, stream));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemcpyPeerAsync(memory[1], 0, memory[0], 1, 12, stream));
    EXPECT_CUDA(cudaMemcpyAsync(received.data(), memory[1], 12, cudaMemcpyDeviceToHost, stream));
    EXPECT_EQ(sent, received);
  });
}

TEST(RuntimePeers, ACopyInTheDefaultStreamOrdersBothGpus) {
  for (int seed = 0; seed < 20; ++seed) {
    on_gpus(2,
            [] {
              RecordedWork work;
              void* here = nullptr;
              void* there = nullptr;
              EXPECT_CUDA(cudaMalloc(&here, 16));
              EXPECT_CUDA(cudaMemset(here, 0, 16));
              EXPECT_CUDA(cudaSetDevice(1));
              EXPECT_CUDA(cudaMalloc(&there, 16));
              cudaStream_t blocking = new_stream(cudaStreamDefault);
              work.enqueue('a', blocking);
              EXPECT_CUDA(cudaSetDevice(0));
              EXPECT_CUDA(cudaMemcpy(there, here, 16, cudaMemcpyDeviceToDevice));
              work.enqueue('b', nullptr);
              EXPECT_CUDA(cudaStreamSynchronize(nullptr));
              EXPECT_EQ(work.done(), "ab");
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

}  // namespace
}  // namespace emulator
