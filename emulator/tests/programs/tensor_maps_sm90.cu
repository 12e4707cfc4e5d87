// Copies of tensors, as the CUDA C++ Programming Guide writes them.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cuda/barrier>
#include <cuda/ptx>
#include <numeric>
#include <utility>

#include "emulator/tests/programs/programs.h"

namespace emulator::programs {
namespace {

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;

constexpr int tile_width = 64, tile_height = 16, chunks = 8, ints_per_chunk = 4;

__device__ barrier::arrival_token load(void* to, const CUtensorMap* map, int x, int y,
                                       std::size_t bytes, barrier& loaded) {
  if (threadIdx.x != 0) return loaded.arrive();
  cde::cp_async_bulk_tensor_2d_global_to_shared(to, map, x, y, loaded);
  return cuda::device::barrier_arrive_tx(loaded, 1, bytes);
}

__device__ void store(const CUtensorMap* map, int x, int y, const void* from) {
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  cde::cp_async_bulk_tensor_2d_shared_to_global(map, x, y, from);
  cde::cp_async_bulk_commit_group();
  cde::cp_async_bulk_wait_group_read<0>();
}

__device__ void add_one_to_tile(const CUtensorMap* map, int x, int y) {
  __shared__ alignas(128) int tile[tile_height][tile_width];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier loaded;
  if (threadIdx.x == 0) {
    init(&loaded, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  loaded.wait(load(tile, map, x, y, sizeof tile, loaded));
  for (int row = 0; row < tile_height; ++row) tile[row][threadIdx.x] += 1;
  store(map, x, y, tile);
  __syncthreads();
  if (threadIdx.x == 0) loaded.~barrier();
}

__global__ void add_one(const __grid_constant__ CUtensorMap map, int x, int y) {
  add_one_to_tile(&map, x, y);
}

__constant__ CUtensorMap constant_map;
__device__ CUtensorMap device_map;

__global__ void add_one_by_constant(int x, int y) { add_one_to_tile(&constant_map, x, y); }

__global__ void add_one_by_device(int x, int y) {
  if (threadIdx.x == 0)
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_sys, &device_map,
                                       ptx::n32_t<128>());
  __syncthreads();
  add_one_to_tile(&device_map, x, y);
}

/// Transposes chunks of 16 bytes, which the copy has put where banks do not conflict.
__global__ void transpose(const __grid_constant__ CUtensorMap map,
                          const __grid_constant__ CUtensorMap transposed) {
  __shared__ alignas(1024) int4 tile[chunks][chunks];
  __shared__ alignas(1024) int4 turned[chunks][chunks];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier loaded;
  if (threadIdx.x == 0) {
    init(&loaded, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  loaded.wait(load(tile, &map, 0, 0, sizeof tile, loaded));
  for (int j = static_cast<int>(threadIdx.x); j < chunks; j += static_cast<int>(blockDim.x))
    for (int i = 0; i < chunks; ++i) turned[j][(j % 8) ^ i] = tile[i][(i % 8) ^ j];
  store(&transposed, 0, 0, turned);
}

/// Each mistake has a line of its own.
__global__ void with_mistake(const __grid_constant__ CUtensorMap map, TensorMistake mistake) {
  __shared__ alignas(128) int tile[tile_height * tile_width];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier loaded;
  if (threadIdx.x != 0) return;
  init(&loaded, 1);
  cde::fence_proxy_async_shared_cta();
  cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &map, 3, 2, loaded);
  const std::size_t bytes = sizeof tile - (mistake == TensorMistake::expects_less ? 16 : 0);
  auto token = cuda::device::barrier_arrive_tx(loaded, 1, bytes);
  if (mistake == TensorMistake::no_wait) tile[0] += 1;
  loaded.wait(std::move(token));
  tile[0] += 1;
  if (mistake != TensorMistake::no_fence) cde::fence_proxy_async_shared_cta();
  cde::cp_async_bulk_tensor_2d_shared_to_global(&map, 3, 2, tile);
  cde::cp_async_bulk_commit_group();
  cde::cp_async_bulk_wait_group_read<0>();
}

/// One block of the cluster loads the tile at (3, 2) for both.
__global__ void __cluster_dims__(2) share_tile(const __grid_constant__ CUtensorMap map, int* out) {
  constexpr int size = tile_width * tile_height;
  __shared__ alignas(128) int tile[size];
  __shared__ std::uint64_t loaded;
  const auto cluster = cooperative_groups::this_cluster();
  const auto rank = static_cast<int>(cluster.block_rank());
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&loaded, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &loaded,
                                   sizeof tile);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();
  const auto address = [](const void* place) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
  };
  if (rank == 1 && threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {3, 2}], [%2], %3;"
        :
        : "r"(address(tile)), "l"(&map), "r"(address(&loaded)), "h"(std::uint16_t{3})
        : "memory");
  while (!ptx::mbarrier_try_wait_parity(&loaded, 0)) {
  }
  for (int i = static_cast<int>(threadIdx.x); i < size; i += static_cast<int>(blockDim.x))
    out[rank * size + i] = tile[i];
  cluster.sync();
}

PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                             12000, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

/// A map of rows of `row_ints` numbers.
CUtensorMap map_of(int* data, cuuint64_t width, cuuint64_t height, cuuint64_t row_ints,
                   cuuint32_t box_width, cuuint32_t box_height, CUtensorMapSwizzle swizzle) {
  CUtensorMap map{};
  const cuuint64_t size[] = {width, height}, stride[] = {row_ints * sizeof(int)};
  const cuuint32_t box[] = {box_width, box_height}, element_stride[] = {1, 1};
  const auto encode = encoder();
  if (encode != nullptr)
    encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, size, stride, box, element_stride,
           CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

struct Numbers {
  explicit Numbers(int count) : values(static_cast<std::size_t>(count)) {
    std::iota(values.begin(), values.end(), 0);
    cudaMalloc(&data, values.size() * sizeof(int));
    cudaMemcpy(data, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  }
  ~Numbers() { cudaFree(data); }
  Result result() {
    const cudaError_t error =
        cudaMemcpy(values.data(), data, values.size() * sizeof(int), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) values.clear();
    return {error, std::move(values)};
  }
  std::vector<int> values;
  int* data = nullptr;
};

}  // namespace

Result numbers_plus_one(int x, int y, MapPlace place) {
  Numbers numbers(tensor_row * tensor_height);
  const CUtensorMap map = map_of(numbers.data, tensor_width, tensor_height, tensor_row, tile_width,
                                 tile_height, CU_TENSOR_MAP_SWIZZLE_NONE);
  if (place == MapPlace::parameter) {
    add_one<<<1, tile_width>>>(map, x, y);
  } else if (place == MapPlace::constant) {
    cudaMemcpyToSymbol(constant_map, &map, sizeof map);
    add_one_by_constant<<<1, tile_width>>>(x, y);
  } else {
    cudaMemcpyToSymbol(device_map, &map, sizeof map);
    add_one_by_device<<<1, tile_width>>>(x, y);
  }
  return numbers.result();
}

Result tile_of_two_blocks() {
  Numbers numbers(tensor_row * tensor_height), tiles(2 * tile_width * tile_height);
  const CUtensorMap map = map_of(numbers.data, tensor_width, tensor_height, tensor_row, tile_width,
                                 tile_height, CU_TENSOR_MAP_SWIZZLE_NONE);
  share_tile<<<2, 64>>>(map, tiles.data);
  return tiles.result();
}

cudaError_t copy_tensor_with(TensorMistake mistake) {
  Numbers numbers(tensor_row * tensor_height);
  const CUtensorMap map = map_of(numbers.data, tensor_width, tensor_height, tensor_row, tile_width,
                                 tile_height, CU_TENSOR_MAP_SWIZZLE_NONE);
  if (mistake == TensorMistake::freed) {
    cudaFree(numbers.data);
    numbers.data = nullptr;
  }
  with_mistake<<<1, 32>>>(mistake == TensorMistake::no_map ? CUtensorMap{} : map, mistake);
  return cudaDeviceSynchronize();
}

Result transposed_chunks() {
  constexpr int width = chunks * ints_per_chunk;
  Numbers from(width * chunks), to(width * chunks);
  const auto map = [](int* data) {
    return map_of(data, width, chunks, width, width, chunks, CU_TENSOR_MAP_SWIZZLE_128B);
  };
  transpose<<<1, chunks>>>(map(from.data), map(to.data));
  return to.result();
}

}  // namespace emulator::programs
