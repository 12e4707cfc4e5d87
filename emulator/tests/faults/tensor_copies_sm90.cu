// Mistakes with copies of tensors, and the same without. `mistake` chooses among them.
#include <cuda.h>

#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

namespace {

constexpr int width = 16, height = 8;  // of a box of int
constexpr unsigned box_bytes = width * height * sizeof(int);

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

__device__ void init(std::uint64_t* barrier) {
  if (threadIdx.x == 0) ptx::mbarrier_init(barrier, 1);
  __syncthreads();
}

__device__ void load(void* to, const CUtensorMap* map, int x, int y, std::uint64_t* barrier,
                     unsigned expected = box_bytes) {
  const int at[] = {x, y};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 expected);
}

__device__ void store(const CUtensorMap* map, int x, int y, const void* from) {
  const int at[] = {x, y};
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at, from);
  ptx::cp_async_bulk_commit_group();
}

}  // namespace

// Adds one to a tile. 1: reads before the wait; 2: expects too few bytes; 3: too many; 4: none;
// 5: no fence before the store; 6: changes the source before the store's wait; 7: ends without;
// 8: loads into it while the store may still read.
extern "C" __global__ void add_one(const __grid_constant__ CUtensorMap map, int mistake) {
  __shared__ alignas(128) int tile[height * width];
  __shared__ std::uint64_t barrier;
  const unsigned t = threadIdx.x;
  init(&barrier);
  if (t == 0) {
    if (mistake == 4) {
      const int at[] = {0, 0};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &barrier);
      ptx::mbarrier_arrive(&barrier);
    } else {
      load(tile, &map, 0, 0, &barrier,
           mistake == 2   ? box_bytes - 16
           : mistake == 3 ? box_bytes + 64
                          : box_bytes);
    }
  }
  if (mistake != 1) wait(&barrier, 0);
  tile[t] += 1;
  if (mistake == 1) wait(&barrier, 0);
  if (mistake != 5) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    store(&map, 0, 0, tile);
    if (mistake == 8) {
      load(tile, &map, 0, 0, &barrier);
      wait(&barrier, 1);
    }
    if (mistake != 6 && mistake != 7) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  __syncthreads();
  if (mistake != 7) tile[t] = 0;
}

// Each block stores a tile. 1: the tiles overlap; 2: a block loads what the one before stores.
extern "C" __global__ void tiles(const __grid_constant__ CUtensorMap map, int mistake) {
  __shared__ alignas(128) int tile[height * width];
  __shared__ std::uint64_t barrier;
  const unsigned t = threadIdx.x;
  const int block = static_cast<int>(blockIdx.x);
  init(&barrier);
  tile[t] = block;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    store(&map, mistake == 1 ? block : block * width, 0, tile);
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    if (mistake == 2) {
      load(tile, &map, (block - 1) * width, 0, &barrier);
      wait(&barrier, 0);
    }
  }
}

// All blocks add to one tile.
extern "C" __global__ void sum(const __grid_constant__ CUtensorMap map, int mistake) {
  __shared__ alignas(128) int tile[height * width];
  const unsigned t = threadIdx.x;
  if (mistake == 0 || t != 5) tile[t] = 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    const int at[] = {0, 0};
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at,
                                     tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// 1: the map is a copy in the thread's local memory.
extern "C" __global__ void copied_map(const __grid_constant__ CUtensorMap map, int mistake) {
  __shared__ alignas(128) int tile[height * width];
  __shared__ std::uint64_t barrier;
  CUtensorMap copy = map;
  init(&barrier);
  if (threadIdx.x != 0) return;
  load(tile, mistake == 1 ? &copy : &map, 0, 0, &barrier);
  wait(&barrier, 0);
}

// The map is in global memory. 1: no fence; 2: it is for another map.
extern "C" __global__ void map_in_memory(const CUtensorMap* map, int mistake) {
  __shared__ alignas(128) int tile[height * width];
  __shared__ std::uint64_t barrier;
  init(&barrier);
  if (threadIdx.x == 0 && mistake != 1)
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_sys,
                                       mistake == 2 ? map + 1 : map, ptx::n32_t<128>());
  __syncthreads();
  if (threadIdx.x == 32) {
    load(tile, map, 0, 0, &barrier);
    wait(&barrier, 0);
  }
}

// A warp loads tiles into a ring of stages, and the others add them up. 1: it does not wait until a
// stage is free again; 2: a reader leaves its stage before it reads.
extern "C" __global__ void ring(const __grid_constant__ CUtensorMap map, int* out, int tiles,
                                int mistake) {
  constexpr unsigned stages = 2;
  __shared__ alignas(128) int tile[stages][height * width];
  __shared__ std::uint64_t full[stages], empty[stages];
  const unsigned readers = blockDim.x - 32, t = threadIdx.x;
  if (t == 0) {
    for (unsigned i = 0; i < stages; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], readers);
    }
  }
  __syncthreads();
  if (t >= readers) {
    for (unsigned k = 0; t == readers && k < static_cast<unsigned>(tiles); ++k) {
      const unsigned stage = k % stages, round = k / stages;
      if (round > 0 && mistake != 1) wait(&empty[stage], (round - 1) & 1);
      load(tile[stage], &map, static_cast<int>(k) * width, 0, &full[stage]);
    }
    return;
  }
  int sum = 0;
  for (unsigned k = 0; k < static_cast<unsigned>(tiles); ++k) {
    const unsigned stage = k % stages;
    wait(&full[stage], k / stages & 1);
    if (mistake == 2) ptx::mbarrier_arrive(&empty[stage]);
    for (unsigned i = t; i < height * width; i += readers) sum += tile[stage][i];
    if (mistake != 2) ptx::mbarrier_arrive(&empty[stage]);
  }
  out[t] = sum;
}
