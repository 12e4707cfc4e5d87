// For compute capability 9.0: waits use mbarrier.try_wait, aligned copies of groups are bulk
// copies.
#include <cuda/ptx>

#include "emulator/tests/faults/async_patterns.cuh"

namespace ptx = cuda::ptx;

extern "C" __global__ void barrier_of_transactions(const int* in, int* out) {
  __shared__ alignas(16) int place[256];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  turn_around(in, out, place, [&](int* to, const int* from, unsigned bytes) {
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cuda::device::memcpy_async_tx(to, from, cuda::aligned_size_t<16>(bytes), barrier);
      token = cuda::device::barrier_arrive_tx(barrier, 1, bytes);
    } else {
      token = barrier.arrive();
    }
    barrier.wait(std::move(token));
  });
}

// Load, change and store a tile by bulk copies.
extern "C" __global__ void bulk_round_trip(const int* in, int* out) {
  __shared__ alignas(128) int place[256];
  __shared__ std::uint64_t barrier;
  const unsigned n = blockDim.x, bytes = n * sizeof(int);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, place, in + blockIdx.x * n, bytes,
                       &barrier);
  }
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  place[threadIdx.x] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * n, place, bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
