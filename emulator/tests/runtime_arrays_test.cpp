#include <cuda_runtime_api.h>

#include <array>
#include <numeric>
#include <vector>

#include "emulator/tests/emulated_process.h"

// Deprecated, and still in use.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace emulator {
namespace {

const cudaChannelFormatDesc ints{32, 0, 0, 0, cudaChannelFormatKindSigned};

cudaArray_t array_of(std::size_t width, std::size_t height, std::size_t depth,
                     const cudaChannelFormatDesc& format = ints, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  EXPECT_CUDA(cudaMalloc3DArray(&array, &format, {width, height, depth}, flags));
  return array;
}

std::vector<int> numbers(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(RuntimeArrays, TellTheirShape) {
  on_gpus(1, [] {
    const cudaArray_t array = array_of(8, 0, 3, ints, cudaArrayLayered);
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    EXPECT_CUDA(cudaArrayGetInfo(&format, &extent, &flags, array));
    EXPECT_EQ(format.x, 32);
    EXPECT_EQ(extent.width, 8U);
    EXPECT_EQ(extent.height, 0U);
    EXPECT_EQ(extent.depth, 3U);
    EXPECT_EQ(flags, static_cast<unsigned>(cudaArrayLayered));
    format = {};
    EXPECT_CUDA(cudaGetChannelDesc(&format, array));
    EXPECT_EQ(format.f, cudaChannelFormatKindSigned);
    EXPECT_CUDA(cudaFreeArray(array));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeArray(array));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaGetChannelDesc(&format, array));
  });
}

TEST(RuntimeArrays, ExtentsAndFormatsAreChecked) {
  on_gpus(1, [] {
    struct Row {
      cudaExtent extent;
      unsigned flags;
      bool is_known;
    };
    cudaArray_t array = nullptr;
    for (const auto& [extent, flags, is_known] :
         std::initializer_list<Row>{{{4, 0, 0}, 0, true},
                                    {{4, 4, 4}, 0, true},
                                    {{0, 4, 4}, 0, false},
                                    {{4, 0, 4}, 0, false},
                                    {{4, 4, 6}, cudaArrayCubemap, true},
                                    {{4, 4, 5}, cudaArrayCubemap, false},
                                    {{4, 3, 6}, cudaArrayCubemap, false},
                                    {{4, 4, 12}, cudaArrayCubemap | cudaArrayLayered, true},
                                    {{4, 4, 9}, cudaArrayCubemap | cudaArrayLayered, false},
                                    {{4, 4, 0}, cudaArrayLayered, false},
                                    {{4, 4, 0}, cudaArrayTextureGather, true},
                                    {{4, 4, 4}, cudaArrayTextureGather, false},
                                    {{200000, 0, 0}, 0, false},
                                    {{4, 4, 2049}, cudaArrayLayered, false},
                                    {{16385, 1, 1}, 0, false}}) {
      const cudaError_t error = cudaMalloc3DArray(&array, &ints, extent, flags);
      EXPECT_EQ(error, is_known ? cudaSuccess : cudaErrorInvalidValue) << extent.depth;
      if (error == cudaSuccess) {
        EXPECT_CUDA(cudaFreeArray(array));
      }
    }
    const cudaChannelFormatDesc three{8, 8, 8, 0, cudaChannelFormatKindUnsigned},
        mixed{8, 16, 0, 0, cudaChannelFormatKindUnsigned},
        quarter{8, 0, 0, 0, cudaChannelFormatKindFloat};
    for (const auto& format : {three, mixed, quarter})
      EXPECT_REFUSED(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &format, 4, 4, 0));
    EXPECT_REFUSED(cudaErrorNotSupported, cudaMallocArray(&array, &ints, 4, 4, cudaArraySparse));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMallocArray(&array, &ints, 4, 4, cudaArrayLayered));
    std::size_t before = 0, after = 0, total = 0;
    EXPECT_CUDA(cudaMemGetInfo(&before, &total));
    const cudaArray_t large = array_of(1024, 1024, 0);
    EXPECT_CUDA(cudaMemGetInfo(&after, &total));
    EXPECT_EQ(before - after, 4U << 20);
    EXPECT_CUDA(cudaFreeArray(large));
    EXPECT_CUDA(cudaMemGetInfo(&after, &total));
    EXPECT_EQ(before, after);
  });
}

TEST(RuntimeArrays, CopyBoxes) {
  on_gpus(1, [] {
    const cudaArray_t array = array_of(8, 6, 4), other = array_of(8, 6, 4);
    std::vector<int> values = numbers(8 * 6 * 4), results(8 * 6 * 4, -1);
    cudaMemcpy3DParms in{};
    in.srcPtr = {values.data(), 8 * sizeof(int), 8, 6};
    in.dstArray = array;
    in.extent = {8, 6, 4};  // of an array: texels
    in.kind = cudaMemcpyHostToDevice;
    EXPECT_CUDA(cudaMemcpy3D(&in));
    cudaMemcpy3DParms part{};
    part.srcArray = array;
    part.srcPos = {2, 3, 1};
    part.dstArray = other;
    part.dstPos = {0, 1, 2};
    part.extent = {3, 2, 2};
    part.kind = cudaMemcpyDeviceToDevice;
    EXPECT_CUDA(cudaMemcpy3DAsync(&part, nullptr));
    cudaMemcpy3DParms out{};
    out.srcArray = other;
    out.srcPos = {0, 1, 2};
    out.dstPtr = {results.data(), 8 * sizeof(int), 8, 6};
    out.dstPos = {sizeof(int), 1, 0};  // of memory: bytes
    out.extent = {3, 2, 2};
    out.kind = cudaMemcpyDeviceToHost;
    EXPECT_CUDA(cudaMemcpy3D(&out));
    for (int z = 0; z < 4; ++z)
      for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 8; ++x) {
          const bool is_inside = x >= 1 && x < 4 && y >= 1 && y < 3 && z < 2;
          const int from = ((z + 1) * 6 + y + 2) * 8 + x + 1;
          EXPECT_EQ(results[static_cast<std::size_t>((z * 6 + y) * 8 + x)], is_inside ? from : -1);
        }
    part.srcPos.x = 6;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemcpy3D(&part));
    part.srcPos.x = 2;
    part.dstPtr = out.dstPtr;  // two targets
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemcpy3D(&part));
    part.dstArray = nullptr;
    part.dstPtr.pitch = 2 * sizeof(int);
    part.kind = cudaMemcpyDefault;
    EXPECT_REFUSED(cudaErrorInvalidPitchValue, cudaMemcpy3D(&part));
    const cudaChannelFormatDesc shorts{16, 0, 0, 0, cudaChannelFormatKindSigned};
    const cudaArray_t narrow = array_of(8, 6, 4, shorts);
    part.dstPtr = {};
    part.dstArray = narrow;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemcpy3D(&part));
    for (const cudaArray_t each : {array, other, narrow}) EXPECT_CUDA(cudaFreeArray(each));
    part.dstArray = other;
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaMemcpy3D(&part));
  });
}

TEST(RuntimeArrays, CopyBoxesOfMemory) {
  on_gpus(1, [] {
    std::vector<int> values = numbers(4 * 3 * 2), results(5 * 4 * 2, -1);
    int* memory = nullptr;
    std::size_t pitch = 0;
    EXPECT_CUDA(cudaMallocPitch(reinterpret_cast<void**>(&memory), &pitch, 4 * sizeof(int), 6));
    cudaMemcpy3DParms in{};
    in.srcPtr = {values.data(), 4 * sizeof(int), 4 * sizeof(int), 3};
    in.dstPtr = {memory, pitch, 4 * sizeof(int), 3};
    in.extent = {4 * sizeof(int), 3, 2};
    in.kind = cudaMemcpyHostToDevice;
    EXPECT_CUDA(cudaMemcpy3D(&in));
    cudaMemcpy3DParms out{};
    out.srcPtr = in.dstPtr;
    out.srcPos = {sizeof(int), 1, 0};
    out.dstPtr = {results.data(), 5 * sizeof(int), 5 * sizeof(int), 4};
    out.dstPos = {2 * sizeof(int), 2, 0};
    out.extent = {3 * sizeof(int), 2, 2};
    out.kind = cudaMemcpyDeviceToHost;
    EXPECT_CUDA(cudaMemcpy3D(&out));
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 5; ++x)
          EXPECT_EQ(results[static_cast<std::size_t>((z * 4 + y) * 5 + x)],
                    x >= 2 && y >= 2 ? (z * 3 + y - 1) * 4 + x - 1 : -1);
    EXPECT_CUDA(cudaFree(memory));
  });
}

// Whole rows lie in one piece, and slices of some rows do not.
TEST(RuntimeArrays, CopyWholeRowsOfSomeSlices) {
  on_gpus(1, [] {
    std::vector<int> values = numbers(4 * 3 * 3), results(4 * 2 * 2, -1);
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, values.size() * sizeof(int)));
    EXPECT_CUDA(
        cudaMemcpy(memory, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {memory, 4 * sizeof(int), 4 * sizeof(int), 3};
    copy.srcPos = {0, 1, 1};
    copy.dstPtr = {results.data(), 4 * sizeof(int), 4 * sizeof(int), 2};
    copy.extent = {4 * sizeof(int), 2, 2};
    copy.kind = cudaMemcpyDeviceToHost;
    EXPECT_CUDA(cudaMemcpy3D(&copy));
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(results[static_cast<std::size_t>(i)], (1 + i / 8) * 12 + 4 + i % 8);
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeArrays, CopyRowsByBytes) {
  on_gpus(1, [] {
    const cudaArray_t array = array_of(4, 3, 0), other = array_of(4, 3, 0);
    const std::vector<int> values = numbers(12);
    std::vector<int> results(12, -1);
    // Over the ends of rows.
    EXPECT_CUDA(cudaMemcpyToArray(array, 4, 0, values.data(), 40, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemcpyFromArray(results.data(), array, 8, 0, 36, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 9; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], i + 1);
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemcpyToArray(array, 4, 0, values.data(), 48, cudaMemcpyHostToDevice));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaMemcpyToArray(array, 2, 0, values.data(), 4, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemcpy2DToArrayAsync(array, 0, 0, values.data(), 16, 16, 3,
                                         cudaMemcpyHostToDevice, nullptr));
    EXPECT_CUDA(cudaMemcpy2DArrayToArray(other, 8, 1, array, 4, 0, 8, 2, cudaMemcpyDeviceToDevice));
    results.assign(12, -1);
    EXPECT_CUDA(cudaMemcpy2DFromArrayAsync(results.data(), 12, other, 8, 1, 8, 2,
                                           cudaMemcpyDeviceToHost, nullptr));
    EXPECT_EQ(results, (std::vector<int>{1, 2, -1, 5, 6, -1, -1, -1, -1, -1, -1, -1}));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaMemcpy2DFromArray(results.data(), 12, other, 8, 1, 12,
                                                                2, cudaMemcpyDeviceToHost));
    EXPECT_REFUSED(cudaErrorInvalidPitchValue, cudaMemcpy2DFromArray(results.data(), 4, other, 8, 1,
                                                                     8, 2, cudaMemcpyDeviceToHost));
    EXPECT_CUDA(cudaFreeArray(array));
    EXPECT_CUDA(cudaFreeArray(other));
  });
}

TEST(RuntimeArrays, LevelsBelongToTheirMipmap) {
  on_gpus(1, [] {
    cudaMipmappedArray_t mipmap = nullptr;
    EXPECT_CUDA(cudaMallocMipmappedArray(&mipmap, &ints, {8, 3, 0}, 9));
    cudaArray_t level = nullptr;
    EXPECT_CUDA(cudaGetMipmappedArrayLevel(&level, mipmap, 3));
    cudaExtent extent{};
    EXPECT_CUDA(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    EXPECT_EQ(extent.width, 1U);
    EXPECT_EQ(extent.height, 1U);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, mipmap, 4));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeArray(level));
    EXPECT_CUDA(cudaFreeMipmappedArray(mipmap));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaFreeMipmappedArray(mipmap));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle,
                   cudaArrayGetInfo(nullptr, &extent, nullptr, level));
  });
}

}  // namespace
}  // namespace emulator
