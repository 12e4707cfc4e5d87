#include <array>
#include <cstring>

#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

constexpr int width = 8, height = 6;

__global__ void blur(cudaTextureObject_t image, int* sums) {
  const int x = threadIdx.x, y = threadIdx.y;
  const float here = tex2D<float>(image, x + 0.5f, y + 0.5f),
              between = tex2D<float>(image, x + 1.f, y + 0.5f);
  sums[y * width + x] = static_cast<int>(100 * here + 10 * between);
}

__global__ void add_alpha(cudaTextureObject_t image, cudaSurfaceObject_t result) {
  const int x = threadIdx.x, y = threadIdx.y;
  uchar4 color = tex2D<uchar4>(image, x, y);
  color.w = static_cast<unsigned char>(color.x + color.y + color.z);
  surf2Dwrite(color, result, x * static_cast<int>(sizeof color), y);
}

__global__ void sum_of_volume(cudaTextureObject_t volume, cudaTextureObject_t line, int* sum) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int value = tex3D<int>(volume, x, y, z) * tex1Dfetch<int>(line, x);
  atomicAdd(sum, value);
}

__global__ void levels(cudaTextureObject_t image, int* values) {
  values[threadIdx.x] =
      static_cast<int>(2 * tex2DLod<float>(image, 0.5f, 0.5f, 0.5f * threadIdx.x));
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureDesc description = {}) {
  cudaTextureObject_t object = 0;
  for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
  cudaCreateTextureObject(&object, &resource, &description, nullptr);
  return object;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

Result copied(const int* numbers, int count) {
  Result result{cudaSuccess, std::vector<int>(static_cast<std::size_t>(count))};
  result.error = cudaMemcpy(result.values.data(), numbers, result.values.size() * sizeof(int),
                            cudaMemcpyDeviceToHost);
  return result;
}

}  // namespace

Result filtered_image() {
  float* image = nullptr;
  int* sums = nullptr;
  std::size_t pitch = 0;
  std::array<float, width * height> texels{};
  for (int i = 0; i < width * height; ++i) texels[i] = static_cast<float>(i);
  cudaMallocPitch(&image, &pitch, width * sizeof(float), height);
  cudaMalloc(&sums, sizeof(int) * width * height);
  cudaMemcpy2D(image, pitch, texels.data(), width * sizeof(float), width * sizeof(float), height,
               cudaMemcpyHostToDevice);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {image, cudaCreateChannelDesc<float>(), width, height, pitch};
  cudaTextureDesc description{};
  description.filterMode = cudaFilterModeLinear;
  const cudaTextureObject_t texture = texture_of(resource, description);
  blur<<<1, dim3(width, height)>>>(texture, sums);
  const Result result = copied(sums, width * height);
  cudaDestroyTextureObject(texture);
  cudaFree(image);
  cudaFree(sums);
  return result;
}

Result image_with_alpha() {
  cudaArray_t from = nullptr, to = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  std::array<uchar4, width * height> colors{};
  for (int i = 0; i < width * height; ++i)
    colors[i] = {static_cast<unsigned char>(i), static_cast<unsigned char>(i + 1), 2, 0};
  cudaMallocArray(&from, &format, width, height);
  cudaMallocArray(&to, &format, width, height, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(from, 0, 0, colors.data(), width * sizeof(uchar4), width * sizeof(uchar4),
                      height, cudaMemcpyHostToDevice);
  const cudaTextureObject_t texture = texture_of(resource_of(from));
  const cudaResourceDesc target = resource_of(to);
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &target);
  add_alpha<<<1, dim3(width, height)>>>(texture, surface);
  Result result{cudaSuccess, std::vector<int>(width * height)};
  result.error = cudaMemcpy2DFromArray(result.values.data(), width * sizeof(int), to, 0, 0,
                                       width * sizeof(int), height, cudaMemcpyDeviceToHost);
  cudaDestroyTextureObject(texture);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(from);
  cudaFreeArray(to);
  return result;
}

Result sum_of_volume_and_line() {
  constexpr int size = 4;
  std::array<int, size * size * size> texels{};
  for (int i = 0; i < size * size * size; ++i) texels[i] = i;
  const std::array<int, size> factors{1, 2, 3, 4};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  const cudaExtent extent = make_cudaExtent(size, size, size);
  cudaArray_t array = nullptr;
  cudaMalloc3DArray(&array, &format, extent);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), size * sizeof(int), size, size);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  int *line = nullptr, *sum = nullptr;
  cudaMalloc(&line, sizeof factors);
  cudaMalloc(&sum, sizeof(int));
  cudaMemcpy(line, factors.data(), sizeof factors, cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(int));
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {line, format, sizeof factors};
  const cudaTextureObject_t volume = texture_of(resource_of(array)), memory = texture_of(linear);
  sum_of_volume<<<1, dim3(size, size, size)>>>(volume, memory, sum);
  // What was launched before keeps them.
  cudaDestroyTextureObject(volume);
  cudaDestroyTextureObject(memory);
  const Result result = copied(sum, 1);
  cudaFreeArray(array);
  cudaFree(line);
  cudaFree(sum);
  return result;
}

Result levels_of_a_mipmap() {
  cudaMipmappedArray_t mipmap = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(4, 4, 0), 3);
  for (unsigned level = 0; level < 3; ++level) {
    cudaArray_t array = nullptr;
    cudaGetMipmappedArrayLevel(&array, mipmap, level);
    const std::vector<float> texels(16, static_cast<float>(10 * level));
    const std::size_t size = 4 >> level;
    cudaMemcpy2DToArray(array, 0, 0, texels.data(), size * sizeof(float), size * sizeof(float),
                        size, cudaMemcpyHostToDevice);
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  cudaTextureDesc description{};
  description.normalizedCoords = 1;
  description.filterMode = cudaFilterModeLinear;
  description.mipmapFilterMode = cudaFilterModeLinear;
  description.maxMipmapLevelClamp = 2;
  const cudaTextureObject_t texture = texture_of(resource, description);
  int* values = nullptr;
  cudaMalloc(&values, 6 * sizeof(int));
  levels<<<1, 6>>>(texture, values);
  const Result result = copied(values, 6);
  cudaDestroyTextureObject(texture);
  cudaFreeMipmappedArray(mipmap);
  cudaFree(values);
  return result;
}

Result fetch_after_its_end() {
  int *line = nullptr, *sum = nullptr;
  cudaMalloc(&line, 16);
  cudaMalloc(&sum, 16);
  cudaMemset(line, 0, 16);
  cudaMemset(sum, 0, 16);
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {line, cudaCreateChannelDesc<int>(), 16};
  const cudaTextureObject_t texture = texture_of(linear);
  cudaDestroyTextureObject(texture);
  sum_of_volume<<<1, 1>>>(texture, texture, sum);
  return {cudaDeviceSynchronize(), {}};
}

}  // namespace emulator::programs
