// Asynchronous copies as CUDA C++ writes them. Right in every order of execution.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// The storage of barriers has no constructor that runs.
#pragma nv_diag_suppress static_var_with_dynamic_init

// Each block turns `blockDim.x` numbers around.
template <class Copy>
__device__ void turn_around(const int* in, int* out, int* place, Copy copy) {
  const unsigned n = blockDim.x, t = threadIdx.x;
  copy(place, in + blockIdx.x * n, n * sizeof(int));
  out[blockIdx.x * n + t] = place[n - 1 - t];
}

extern "C" __global__ void barrier_of_a_group(const int* in, int* out) {
  __shared__ alignas(16) int place[256];
  __shared__ Barrier barrier;
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  turn_around(in, out, place, [&](int* to, const int* from, unsigned bytes) {
    cuda::memcpy_async(block, to, from, cuda::aligned_size_t<16>(bytes), barrier);
    barrier.arrive_and_wait();
  });
}

extern "C" __global__ void barrier_of_threads(const int* in, int* out) {
  __shared__ int place[256];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  turn_around(in, out, place, [&](int* to, const int* from, unsigned) {
    cuda::memcpy_async(to + threadIdx.x, from + threadIdx.x, sizeof(int), barrier);
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
  });
}

extern "C" __global__ void group_copy(const int* in, int* out) {
  __shared__ alignas(16) int place[256];
  const auto block = cg::this_thread_block();
  turn_around(in, out, place, [&](int* to, const int* from, unsigned bytes) {
    cg::memcpy_async(block, to, from, bytes);
    cg::wait(block);
  });
}

// Half of the threads leave the barrier after the first phase, and it goes on without them.
extern "C" __global__ void dropped_arrivals(int* out) {
  __shared__ Barrier barrier;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    sum = 0;
  }
  __syncthreads();
  atomicAdd(&sum, 1);
  if (threadIdx.x % 2 == 1) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  out[threadIdx.x / 2] = sum;
  barrier.arrive_and_wait();
  if (threadIdx.x == 0) sum = 0;
}

// One thread of each warp arrives for all of its lanes.
extern "C" __global__ void counted_arrivals(int* out) {
  __shared__ Barrier barrier;
  __shared__ int place[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  place[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncwarp();
  if (threadIdx.x % 32 == 0) (void)barrier.arrive(32);
  barrier.wait_parity(false);
  out[threadIdx.x] = place[blockDim.x - 1 - threadIdx.x];
}

// Two stages that all threads fill and empty.
extern "C" __global__ void block_pipeline(const int* in, int* out, int batches) {
  extern __shared__ int stages[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int n = static_cast<int>(block.size()), t = static_cast<int>(block.thread_rank());
  int sum = 0;
  for (int emptied = 0, filled = 0; emptied < batches; ++emptied) {
    for (; filled < batches && filled < emptied + 2; ++filled) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stages + filled % 2 * n, in + filled * n,
                         cuda::aligned_size_t<16>(sizeof(int) * n), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += stages[emptied % 2 * n + n - 1 - t];
    pipeline.consumer_release();
  }
  out[t] = sum;
}

// The first warp fills the stages, the others empty them.
extern "C" __global__ void warp_specialized_pipeline(const int* in, int* out, int batches) {
  extern __shared__ int stages[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  const bool fills = block.thread_rank() < 32;
  auto pipeline = cuda::make_pipeline(
      block, &state, fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const int n = static_cast<int>(block.size()) - 32, t = static_cast<int>(block.thread_rank()) - 32;
  if (fills) {
    for (int filled = 0; filled < batches; ++filled) {
      pipeline.producer_acquire();
      for (int i = t + 32; i < n; i += 32)
        cuda::memcpy_async(stages + filled % 2 * n + i, in + filled * n + i, sizeof(int), pipeline);
      pipeline.producer_commit();
    }
  } else {
    int sum = 0;
    for (int emptied = 0; emptied < batches; ++emptied) {
      pipeline.consumer_wait();
      sum += stages[emptied % 2 * n + n - 1 - t];
      pipeline.consumer_release();
    }
    out[t] = sum;
  }
}

// Two stages of each thread, which the block shares.
extern "C" __global__ void thread_pipeline(const int* in, int* out, int batches) {
  extern __shared__ int stages[];
  auto pipeline = cuda::make_pipeline();
  const int n = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int emptied = 0, filled = 0; emptied < batches; ++emptied) {
    for (; filled < emptied + 2; ++filled) {
      pipeline.producer_acquire();
      if (filled < batches)
        cuda::memcpy_async(stages + filled % 2 * n + t, in + filled * n + t, sizeof(int), pipeline);
      pipeline.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipeline);
    __syncthreads();
    sum += stages[emptied % 2 * n + n - 1 - t];
    __syncthreads();
    pipeline.consumer_release();
  }
  out[t] = sum;
}
