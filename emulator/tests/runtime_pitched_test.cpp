#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

constexpr cudaExtent extent{10, 3, 2};

cudaPitchedPtr new_memory() {
  cudaPitchedPtr memory{};
  EXPECT_CUDA(cudaMalloc3D(&memory, extent));
  EXPECT_EQ(memory.pitch, 512U);
  EXPECT_EQ(memory.xsize, extent.width);
  EXPECT_EQ(memory.ysize, extent.height);
  EXPECT_CUDA(cudaMemset(memory.ptr, 0, memory.pitch * extent.height * extent.depth));
  return memory;
}

/// Sums of the bytes of each row.
std::vector<int> row_sums(const cudaPitchedPtr& memory) {
  std::vector<char> bytes(memory.pitch * extent.height * extent.depth);
  EXPECT_CUDA(cudaMemcpy(bytes.data(), memory.ptr, bytes.size(), cudaMemcpyDeviceToHost));
  std::vector<int> sums(extent.height * extent.depth);
  for (std::size_t i = 0; i < bytes.size(); ++i) sums[i / memory.pitch] += bytes[i];
  return sums;
}

TEST(RuntimePitched, MemsetsOfThreeDimensions) {
  on_gpus(1, [] {
    const cudaPitchedPtr memory = new_memory();
    EXPECT_CUDA(cudaMemset3D(memory, 1, {4, 2, 2}));
    EXPECT_EQ(row_sums(memory), (std::vector<int>{4, 4, 0, 4, 4, 0}));
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaMemset3DAsync(memory, 2, {1, 3, 1}, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(row_sums(memory), (std::vector<int>{5, 5, 2, 4, 4, 0}));
    EXPECT_CUDA(cudaMemset3D(memory, 1, {0, 2, 2}));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemset3D(memory, 1, {513, 1, 1}));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemset3D(memory, 1, {1, 4, 2}));
  });
}

TEST(RuntimePitched, CopiesBetweenDevices) {
  on_gpus(2, [] {
    const cudaPitchedPtr from = new_memory();
    EXPECT_CUDA(cudaMemset3D(from, 1, extent));
    EXPECT_CUDA(cudaSetDevice(1));
    const cudaPitchedPtr to = new_memory();
    cudaMemcpy3DPeerParms copy{};
    copy.srcPtr = from;
    copy.srcDevice = 0;
    copy.dstPtr = to;
    copy.dstDevice = 1;
    copy.extent = {5, 2, 1};
    copy.dstPos = {2, 1, 1};
    EXPECT_CUDA(cudaMemcpy3DPeer(&copy));
    EXPECT_EQ(row_sums(to), (std::vector<int>{0, 0, 0, 0, 5, 5}));
    copy.dstPos = {};
    copy.srcPos = {9, 0, 0};
    EXPECT_CUDA(cudaMemcpy3DPeerAsync(&copy, nullptr));
    EXPECT_EQ(row_sums(to), (std::vector<int>{1, 1, 0, 0, 5, 5}));
    copy.srcDevice = 1;  // where the memory is not
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemcpy3DPeer(&copy));
  });
}

/// Work before and behind it, on any stream of the devices, does not overtake it.
TEST(RuntimePitched, APeerCopyIsSerialisedWithAllStreams) {
  for (int seed = 0; seed < 10; ++seed) {
    on_gpus(2,
            [] {
              void *from = nullptr, *to = nullptr;
              char byte = 0;
              EXPECT_CUDA(cudaMalloc(&from, 8));
              cudaStream_t source_stream = new_stream();
              EXPECT_CUDA(cudaSetDevice(1));
              EXPECT_CUDA(cudaMalloc(&to, 8));
              cudaStream_t target_stream = new_stream();
              EXPECT_CUDA(cudaSetDevice(0));
              EXPECT_CUDA(cudaMemsetAsync(from, 1, 8, source_stream));
              EXPECT_CUDA(cudaMemcpyPeer(to, 1, from, 0, 8));
              EXPECT_CUDA(cudaMemsetAsync(from, 2, 8, source_stream));
              EXPECT_CUDA(cudaMemcpyAsync(&byte, to, 1, cudaMemcpyDeviceToHost, target_stream));
              EXPECT_CUDA(cudaStreamSynchronize(target_stream));
              EXPECT_EQ(byte, 1);
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

}  // namespace
}  // namespace emulator
