#include <array>

#include "emulator/tests/emulated_process.h"
#include "emulator/tests/programs/programs.h"

namespace emulator {
namespace {

using programs::Result;

TEST(RuntimeTextures, FilterAnImage) {
  on_gpus(1, [] {
    const Result result = programs::filtered_image();
    EXPECT_CUDA(result.error);
    ASSERT_EQ(result.values.size(), 48U);
    for (int i = 0; i < 48; ++i)
      EXPECT_EQ(result.values[static_cast<std::size_t>(i)],
                100 * i + (i % 8 == 7 ? 10 * i : 10 * i + 5));
  });
}

TEST(RuntimeTextures, SurfacesOfArrays) {
  on_gpus(1, [] {
    const Result result = programs::image_with_alpha();
    EXPECT_CUDA(result.error);
    ASSERT_EQ(result.values.size(), 48U);
    for (int i = 0; i < 48; ++i)
      EXPECT_EQ(result.values[static_cast<std::size_t>(i)],
                i | (i + 1) << 8 | 2 << 16 | (2 * i + 3) << 24);
  });
}

TEST(RuntimeTextures, VolumesAndLinearMemory) {
  on_gpus(1, [] {
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += (i % 4 + 1) * i;
    const Result result = programs::sum_of_volume_and_line();
    EXPECT_CUDA(result.error);
    EXPECT_EQ(result.values, std::vector<int>{sum});
  });
}

TEST(RuntimeTextures, Mipmaps) {
  on_gpus(1, [] {
    const Result result = programs::levels_of_a_mipmap();
    EXPECT_CUDA(result.error);
    EXPECT_EQ(result.values, (std::vector<int>{0, 10, 20, 30, 40, 40}));
  });
}

TEST(RuntimeTextures, EndWithTheirObjects) {
  const std::string errors =
      on_gpus(1, [] { EXPECT_EQ(programs::fetch_after_its_end().error, cudaErrorIllegalAddress); });
  EXPECT_NE(errors.find("is no texture object, or no longer one"), std::string::npos) << errors;
}

const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat},
    ints{32, 0, 0, 0, cudaChannelFormatKindSigned},
    three_floats{32, 32, 32, 0, cudaChannelFormatKindFloat},
    two_shorts{16, 16, 0, 0, cudaChannelFormatKindSigned};

cudaError_t created(const cudaResourceDesc& resource, const cudaTextureDesc& description,
                    const cudaResourceViewDesc* view = nullptr) {
  cudaTextureObject_t object = 0;
  const cudaError_t error = cudaCreateTextureObject(&object, &resource, &description, view);
  if (error == cudaSuccess) {
    EXPECT_CUDA(cudaDestroyTextureObject(object));
  }
  return error;
}

TEST(RuntimeTextures, DescriptionsAreChecked) {
  on_gpus(1, [] {
    char* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(reinterpret_cast<void**>(&memory), 4096));
    const cudaTextureDesc points{};
    cudaResourceDesc linear{};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = memory;
    linear.res.linear.desc = floats;
    linear.res.linear.sizeInBytes = 4096;
    EXPECT_CUDA(created(linear, points));
    linear.res.linear.sizeInBytes = 4097;
    EXPECT_REFUSED(cudaErrorInvalidValue, created(linear, points));
    linear.res.linear.devPtr = memory + 512;
    linear.res.linear.desc = floats;
    linear.res.linear.sizeInBytes = 512;
    EXPECT_CUDA(created(linear, points));
    linear.res.linear.devPtr = memory + 256;
    EXPECT_REFUSED(cudaErrorInvalidValue, created(linear, points));
    linear.res.linear.devPtr = memory;
    linear.res.linear.desc = three_floats;
    linear.res.linear.sizeInBytes = 4096;
    EXPECT_REFUSED(cudaErrorInvalidChannelDescriptor, created(linear, points));
    linear.res.linear.devPtr = &linear;
    linear.res.linear.desc = floats;
    linear.res.linear.sizeInBytes = 16;
    EXPECT_REFUSED(cudaErrorInvalidValue, created(linear, points));

    cudaResourceDesc pitched{};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D.devPtr = memory;
    pitched.res.pitch2D.desc = ints;
    pitched.res.pitch2D.width = 8;
    pitched.res.pitch2D.height = 128;
    pitched.res.pitch2D.pitchInBytes = 32;
    EXPECT_CUDA(created(pitched, points));
    cudaTextureDesc filtered{};
    filtered.filterMode = cudaFilterModeLinear;
    EXPECT_REFUSED(cudaErrorInvalidFilterSetting, created(pitched, filtered));
    filtered.readMode = cudaReadModeNormalizedFloat;  // not of 32 bits
    EXPECT_REFUSED(cudaErrorInvalidFilterSetting, created(pitched, filtered));
    pitched.res.pitch2D.height = 129;
    EXPECT_REFUSED(cudaErrorInvalidValue, created(pitched, points));
    pitched.res.pitch2D.devPtr = memory;
    pitched.res.pitch2D.desc = ints;
    pitched.res.pitch2D.width = 4;
    pitched.res.pitch2D.height = 4;
    pitched.res.pitch2D.pitchInBytes = 16;
    EXPECT_REFUSED(cudaErrorInvalidValue, created(pitched, points));
    const cudaResourceViewDesc view{};
    EXPECT_REFUSED(cudaErrorInvalidValue, created(linear, points, &view));
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeTextures, ObjectsTellWhatTheyAre) {
  on_gpus(1, [] {
    cudaArray_t array = nullptr;
    EXPECT_CUDA(cudaMallocArray(&array, &two_shorts, 5, 3, 0));
    cudaResourceDesc resource{}, same{};
    resource.res.array.array = array;
    cudaTextureDesc description{}, alike{};
    description.normalizedCoords = 1;
    cudaResourceViewDesc view{};
    cudaTextureObject_t texture = 0;
    EXPECT_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    EXPECT_CUDA(cudaGetTextureObjectResourceDesc(&same, texture));
    EXPECT_EQ(same.res.array.array, array);
    EXPECT_CUDA(cudaGetTextureObjectTextureDesc(&alike, texture));
    EXPECT_EQ(alike.normalizedCoords, 1);
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGetTextureObjectResourceViewDesc(&view, texture));
    EXPECT_CUDA(cudaDestroyTextureObject(texture));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDestroyTextureObject(texture));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(&alike, texture));
    cudaSurfaceObject_t surface = 0;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaCreateSurfaceObject(&surface, &resource));
    EXPECT_CUDA(cudaFreeArray(array));
    EXPECT_CUDA(cudaMallocArray(&array, &two_shorts, 5, 3, cudaArraySurfaceLoadStore));
    resource.res.array.array = array;
    EXPECT_CUDA(cudaCreateSurfaceObject(&surface, &resource));
    EXPECT_CUDA(cudaGetSurfaceObjectResourceDesc(&same, surface));
    EXPECT_EQ(same.res.array.array, array);
    EXPECT_CUDA(cudaDestroySurfaceObject(surface));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaDestroySurfaceObject(surface));
    EXPECT_CUDA(cudaFreeArray(array));
  });
}

}  // namespace
}  // namespace emulator
