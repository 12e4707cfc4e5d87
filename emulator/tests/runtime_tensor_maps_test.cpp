#include <cuda.h>
#include <cudaTypedefs.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "emulator/tests/emulated_process.h"
#include "emulator/tests/programs/programs.h"

namespace emulator {
namespace {

using programs::MapPlace;
using programs::Result;

// Beyond each end, and within.
const std::array<std::pair<int, int>, 4> places{{{0, 0}, {-10, -5}, {70, 30}, {-64, 3}}};
const Environment h100{{"ASSAY_EMULATED_GPU", "h100"}};

TEST(RuntimeTensorMaps, TilesOfTheProgrammingGuide) {
  on_gpus(
      1,
      [] {
        for (const auto place : {MapPlace::parameter, MapPlace::constant, MapPlace::device})
          for (const auto& [x, y] : places) {
            const Result result = programs::numbers_plus_one(x, y, place);
            EXPECT_CUDA(result.error);
            for (int row = 0; row < programs::tensor_height; ++row)
              for (int column = 0; column < programs::tensor_row; ++column) {
                const int i = row * programs::tensor_row + column;
                const bool is_inside = column >= x && column < x + 64 && row >= y && row < y + 16 &&
                                       column < programs::tensor_width;
                ASSERT_EQ(result.values.at(static_cast<std::size_t>(i)), i + (is_inside ? 1 : 0));
              }
          }
      },
      h100);
}

TEST(RuntimeTensorMaps, OneCopyForTwoBlocks) {
  on_gpus(
      1,
      [] {
        const Result result = programs::tile_of_two_blocks();
        EXPECT_CUDA(result.error);
        ASSERT_EQ(result.values.size(), 2U * 16 * 64);
        for (int i = 0; i < 2 * 16 * 64; ++i)
          ASSERT_EQ(result.values[static_cast<std::size_t>(i)],
                    (2 + i / 64 % 16) * programs::tensor_row + 3 + i % 64);
      },
      h100);
}

TEST(RuntimeTensorMaps, SwizzledTranspositionOfTheProgrammingGuide) {
  on_gpus(
      1,
      [] {
        const Result result = programs::transposed_chunks();
        EXPECT_CUDA(result.error);
        for (int i = 0; i < 256; ++i) {
          const int row = i / 32, chunk = i % 32 / 4, k = i % 4;
          ASSERT_EQ(result.values.at(static_cast<std::size_t>(i)), chunk * 32 + row * 4 + k);
        }
      },
      h100);
}

void expect_report(programs::TensorMistake mistake, int line, const std::string& text) {
  const std::string errors = on_gpus(
      1, [&] { EXPECT_NE(programs::copy_tensor_with(mistake), cudaSuccess); }, h100);
  EXPECT_NE(errors.find("tensor_maps_sm90.cu:" + std::to_string(line)), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("with_mistake("), std::string::npos) << errors;
  EXPECT_NE(errors.find(text), std::string::npos) << errors;
}

TEST(RuntimeTensorMaps, ReportsNameLines) {
  using enum programs::TensorMistake;
  on_gpus(
      1, [] { EXPECT_CUDA(programs::copy_tensor_with(none)); }, h100);
  expect_report(freed, 97, "element (3,2) of the tensor");
  expect_report(no_map, 97, "no tensor map");
  expect_report(expects_less, 101, "expects 4080 bytes, and 4096 have come");
  expect_report(no_wait, 100, "nothing has waited for it");
  expect_report(no_fence, 104, "fence.proxy.async");
}

/// Arguments of a map that is allowed, for changes that are not.
struct Arguments {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  cuuint32_t rank = 2;
  std::uintptr_t address = 0x10000;
  std::array<cuuint64_t, 5> dims{64, 64, 2, 2, 2};
  std::array<cuuint64_t, 4> strides{256, 16384, 32768, 65536};
  std::array<cuuint32_t, 5> box{16, 8, 1, 1, 1}, steps{1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode(CUtensorMap* map) const {
    void* function = nullptr;
    EXPECT_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                 cudaEnableDefault, nullptr));
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
        map, type, rank, reinterpret_cast<void*>(address), dims.data(), strides.data(), box.data(),
        steps.data(), interleave, swizzle, promotion, fill);
  }
  CUresult encode() const {
    CUtensorMap map;
    return encode(&map);
  }
};

template <class Change>
CUresult encoded(Change change) {
  Arguments arguments;
  change(arguments);
  return arguments.encode();
}

#define EXPECT_FORBIDDEN(change) \
  EXPECT_EQ(encoded([](Arguments& a) { change; }), CUDA_ERROR_INVALID_VALUE) << #change
#define EXPECT_ALLOWED(change) \
  EXPECT_EQ(encoded([](Arguments& a) { change; }), CUDA_SUCCESS) << #change

TEST(RuntimeTensorMaps, RequirementsOfTheTensor) {
  const std::string errors = on_gpus(
      1,
      [] {
        EXPECT_ALLOWED(static_cast<void>(a));
        EXPECT_FORBIDDEN(a.rank = 0);
        EXPECT_FORBIDDEN(a.rank = 6);
        EXPECT_ALLOWED(a.rank = 5);
        EXPECT_ALLOWED(a.rank = 1);
        EXPECT_FORBIDDEN(a.address += 8);
        EXPECT_FORBIDDEN(a.dims[1] = 0);
        EXPECT_ALLOWED(a.dims[1] = cuuint64_t{1} << 32);
        EXPECT_FORBIDDEN(a.dims[1] = (cuuint64_t{1} << 32) + 1);
        EXPECT_FORBIDDEN(a.strides[0] = 264);
        EXPECT_ALLOWED(a.strides[0] = (cuuint64_t{1} << 40) - 16);
        EXPECT_FORBIDDEN(a.strides[0] = cuuint64_t{1} << 40);
        EXPECT_ALLOWED(a.strides[1] = 8);  // of no dimension
        EXPECT_FORBIDDEN(a.type = static_cast<CUtensorMapDataType>(16));
        EXPECT_FORBIDDEN(a.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
                         a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
        EXPECT_ALLOWED(a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
        EXPECT_FORBIDDEN(a.fill = static_cast<CUtensorMapFloatOOBfill>(2));
        EXPECT_FORBIDDEN(a.promotion = static_cast<CUtensorMapL2promotion>(4));
        EXPECT_FORBIDDEN(a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B);  // boxDim[0] is 128
        EXPECT_ALLOWED(a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B; a.dims[0] = a.box[0] = 128);
        EXPECT_FORBIDDEN(a.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B; a.dims[0] = 192;
                         a.box[0] = 128);
      },
      h100);
  EXPECT_NE(errors.find("cuTensorMapEncodeTiled: tensorRank is 1 to 5, not 6"), std::string::npos)
      << errors;
}

TEST(RuntimeTensorMaps, RequirementsOfTheBox) {
  on_gpus(
      1,
      [] {
        EXPECT_FORBIDDEN(a.box[1] = 0);
        EXPECT_ALLOWED(a.box[1] = 256);
        EXPECT_FORBIDDEN(a.box[1] = 257);
        EXPECT_FORBIDDEN(a.box[1] = 65536 + 8);
        EXPECT_FORBIDDEN(a.box[0] = 6);
        EXPECT_FORBIDDEN(a.steps[1] = 0);
        EXPECT_FORBIDDEN(a.steps[1] = 9);
        EXPECT_ALLOWED(a.steps[1] = 8);
        EXPECT_ALLOWED(a.steps[0] = 0);  // ignored
        EXPECT_ALLOWED(a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
        EXPECT_FORBIDDEN(a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
        EXPECT_FORBIDDEN(a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; a.box[0] = 64);
        EXPECT_FORBIDDEN(a.swizzle = static_cast<CUtensorMapSwizzle>(7));
        EXPECT_FORBIDDEN(a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B);  // of two dimensions
        EXPECT_ALLOWED(a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; a.rank = 3);
        EXPECT_FORBIDDEN(a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; a.rank = 3);
        EXPECT_ALLOWED(a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; a.rank = 3;
                       a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
        EXPECT_FORBIDDEN(a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; a.rank = 3;
                         a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; a.address += 16);
        EXPECT_FORBIDDEN(a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; a.rank = 3;
                         a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; a.strides[0] = 272);
        alignas(128) std::array<std::byte, 256> memory;
        EXPECT_EQ(Arguments{}.encode(reinterpret_cast<CUtensorMap*>(memory.data() + 32)),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(Arguments{}.encode(nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_CUDA(cudaGetLastError());  // which is of the runtime's calls
      },
      h100);
}

TEST(RuntimeTensorMaps, ReplacesTheAddress) {
  on_gpus(
      1,
      [] {
        void* function = nullptr;
        EXPECT_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapReplaceAddress", &function, 12000,
                                                     cudaEnableDefault, nullptr));
        const auto replace = reinterpret_cast<PFN_cuTensorMapReplaceAddress_v12000>(function);
        CUtensorMap first, second;
        Arguments arguments;
        EXPECT_EQ(arguments.encode(&first), CUDA_SUCCESS);
        arguments.address = 0x20000;
        EXPECT_EQ(arguments.encode(&second), CUDA_SUCCESS);
        EXPECT_EQ(replace(&first, reinterpret_cast<void*>(0x20008)), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(replace(&first, reinterpret_cast<void*>(0x20000)), CUDA_SUCCESS);
        EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
        // As CUTLASS does, which knows the drivers' layout.
        first.opaque[1] ^= std::uint64_t{1} << 21;
        EXPECT_EQ(replace(&first, reinterpret_cast<void*>(0x20000)), CUDA_SUCCESS);
        first.opaque[3] ^= 1;
        EXPECT_EQ(replace(&first, reinterpret_cast<void*>(0x20000)), CUDA_ERROR_INVALID_VALUE);
      },
      h100);
}

TEST(RuntimeTensorMaps, NeedAGpuThatHasThem) {
  on_gpus(1, [] { EXPECT_EQ(Arguments{}.encode(), CUDA_ERROR_NOT_SUPPORTED); });
}

}  // namespace
}  // namespace emulator
