#include <cooperative_groups.h>

#include <cuda/ptx>
#include <utility>

// Clusters of two blocks or more, of 64 threads each. `mistake` 0 is right; the others each leave
// something out.
namespace {

namespace groups = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int threads = 64;

struct Place {
  groups::cluster_group cluster = groups::this_cluster();
  int rank = static_cast<int>(cluster.block_rank()), size = static_cast<int>(cluster.num_blocks()),
      thread = static_cast<int>(threadIdx.x);

  template <class T>
  __device__ T* theirs(T* mine) {
    return cluster.map_shared_rank(mine, (rank + 1) % size);
  }
  template <class T>
  __device__ T* of(T* mine, int block) {
    return cluster.map_shared_rank(mine, block);
  }
  __device__ int index() const { return static_cast<int>(blockIdx.x) * threads + thread; }
};

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void wait_for(std::uint64_t* barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

}  // namespace

extern "C" __global__ void neighbour(int* out, int mistake) {
  __shared__ int values[threads];
  Place at;
  values[at.thread] = at.rank * 1000 + at.thread;
  if (mistake != 1) at.cluster.sync();
  out[at.index()] = at.theirs(values)[at.thread];
  if (mistake != 2) at.cluster.sync();
}

extern "C" __global__ void overwritten(int* out, int mistake) {
  __shared__ int values[threads];
  Place at;
  values[at.thread] = at.thread;
  at.cluster.sync();
  const int value = at.theirs(values)[at.thread];
  if (mistake == 1)
    __syncthreads();
  else
    at.cluster.sync();
  values[at.thread] = -1;
  at.cluster.sync();
  out[at.index()] = value;
}

extern "C" __global__ void written(int* out, int mistake) {
  __shared__ int values[threads];
  Place at;
  values[at.thread] = 0;
  at.cluster.sync();
  at.theirs(values)[at.thread] = at.thread + 1;
  if (mistake == 1)
    __syncthreads();
  else
    at.cluster.sync();
  out[at.index()] = values[at.thread];
  at.cluster.sync();
}

// All blocks write to the first one's.
extern "C" __global__ void collision(int* out, int mistake) {
  __shared__ int values[threads * 4];
  Place at;
  at.cluster.sync();
  const int place = mistake == 1 ? at.thread : at.rank * threads + at.thread;
  at.of(values, 0)[place] = at.rank;
  at.cluster.sync();
  out[at.index()] = at.of(values, 0)[place];
  at.cluster.sync();
}

extern "C" __global__ void counted(int* out, int mistake) {
  __shared__ int sum;
  Place at;
  if (at.thread == 0) sum = 0;
  at.cluster.sync();
  int* const total = at.of(&sum, 0);
  if (mistake == 1) {
    if (at.thread == 0) *total = *total + 1;
  } else if (mistake == 2) {
    atomicAdd_block(total, 1);
  } else {
    atomicAdd(total, 1);
  }
  at.cluster.sync();
  out[at.index()] = *total;
  at.cluster.sync();
}

// The first block tells the others by a flag of theirs that its values are there.
extern "C" __global__ void flag(int* out, int mistake) {
  __shared__ int values[threads];
  __shared__ int told;
  Place at;
  if (at.thread == 0) told = 0;
  at.cluster.sync();
  if (at.rank == 0) {
    values[at.thread] = at.thread;
    __syncthreads();
    if (at.thread == 0) {
      for (int block = 1; block < at.size; ++block) {
        int* const theirs = at.of(&told, block);
        if (mistake == 1)
          asm volatile("st.relaxed.cluster.s32 [%0], 1;" ::"l"(theirs) : "memory");
        else if (mistake == 2)
          asm volatile("fence.acq_rel.cta; st.relaxed.cluster.s32 [%0], 1;" ::"l"(theirs)
                       : "memory");
        else if (mistake == -1)
          asm volatile("fence.acq_rel.cluster; st.relaxed.cluster.s32 [%0], 1;" ::"l"(theirs)
                       : "memory");
        else
          asm volatile("st.release.cluster.s32 [%0], 1;" ::"l"(theirs) : "memory");
      }
    }
  } else {
    int seen = 0;
    while (seen == 0) {
      if (mistake == 3)
        asm volatile("ld.relaxed.cluster.s32 %0, [%1];" : "=r"(seen) : "l"(&told) : "memory");
      else
        asm volatile("ld.acquire.cluster.s32 %0, [%1];" : "=r"(seen) : "l"(&told) : "memory");
    }
    out[at.index()] = at.of(values, 0)[at.thread];
  }
  at.cluster.sync();
}

// Between the arrival and the wait nothing is ordered.
extern "C" __global__ void split(int* out, int mistake) {
  __shared__ int values[threads];
  Place at;
  values[at.thread] = at.thread;
  at.cluster.sync();
  const int before = at.theirs(values)[at.thread];
  auto token = at.cluster.barrier_arrive();
  if (mistake == 1) values[at.thread] = 5;
  at.cluster.barrier_wait(std::move(token));
  values[at.thread] = 7;
  at.cluster.sync();
  out[at.index()] = before + at.theirs(values)[at.thread];
  at.cluster.sync();
}

extern "C" __global__ void relaxed(int* out, int mistake) {
  __shared__ int values[threads];
  Place at;
  values[at.thread] = at.thread;
  if (mistake == 0) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  out[at.index()] = at.theirs(values)[at.thread];
  at.cluster.sync();
}

// 1: arrives twice. 2: waits without having arrived. 3: some threads wait elsewhere.
extern "C" __global__ void misused(int* out, int mistake) {
  Place at;
  if (mistake != 2) asm volatile("barrier.cluster.arrive;" ::: "memory");
  if (mistake == 1) asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  if (mistake == 3 && at.rank == 1 && at.thread >= 32) {
    __syncthreads();
    out[at.index()] = 2;
  }
  at.cluster.sync();
  out[at.index()] = 1;
}

extern "C" __global__ void past_the_end(int* out, int mistake) {
  __shared__ int values[threads];
  Place at;
  values[at.thread] = at.thread;
  at.cluster.sync();
  out[at.index()] = at.theirs(values)[at.thread + (mistake == 1 ? threads : 0)];
  at.cluster.sync();
}

// Global memory, from one block to the others.
extern "C" __global__ void message(int* out, int* place, int mistake) {
  Place at;
  if (at.rank == 0) place[blockIdx.x / at.size * threads + at.thread] = at.thread;
  if (mistake == 1)
    __syncthreads();
  else
    at.cluster.sync();
  out[at.index()] = place[blockIdx.x / at.size * threads + threads - 1 - at.thread];
}

// All other threads write to the first block, and arrive at its mbarrier object.
// 1: they may come before it starts. 2: it does not wait. 3: it waits for one more.
extern "C" __global__ void signal(int* out, int mistake) {
  __shared__ int values[threads * 4];
  __shared__ std::uint64_t barrier;
  Place at;
  if (at.thread == 0 && at.rank == 0) {
    ptx::mbarrier_init(&barrier, threads * (at.size - 1) + (mistake == 3 ? 1 : 0));
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (mistake == 0) {
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    ptx::barrier_cluster_wait();
  } else if (mistake != 1) {
    if (at.rank == 0)
      for (int i = at.thread; i < threads * 4; i += threads) values[i] = 0;
    at.cluster.sync();
  }
  __syncthreads();
  if (at.rank != 0) {
    const int place = at.rank * threads + at.thread;
    at.of(values, 0)[place] = place;
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                     shared_address(at.of(&barrier, 0)))
                 : "memory");
    return;
  }
  if (mistake != 2) wait_for(&barrier, 0);
  int sum = 0;
  for (int i = threads; i < threads * at.size; ++i) sum += values[i];
  out[at.index()] = sum;
  if (mistake == 2) wait_for(&barrier, 0);
}

// Each thread of the second block sends a number to the first one.
// 1: read before the wait. 2: no wait. 3: the object is the sender's.
extern "C" __global__ void sent(int* out, int mistake) {
  __shared__ int values[threads];
  __shared__ std::uint64_t barrier;
  Place at;
  values[at.thread] = 0;
  if (at.thread == 0) {
    ptx::mbarrier_init(&barrier, 1);
    if (at.rank == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                     &barrier, sizeof values);
  }
  at.cluster.sync();
  if (at.rank == 1)
    ptx::st_async(at.of(values, 0) + at.thread, at.thread + 5,
                  at.of(&barrier, mistake == 3 ? 1 : 0));
  if (mistake == 2) at.cluster.sync();
  if (at.rank != 0) return;
  if (mistake == 1) out[at.index()] = values[threads - 1 - at.thread];
  if (mistake != 2) wait_for(&barrier, 0);
  if (mistake != 2) out[at.index()] = values[threads - 1 - at.thread];
}

// The second block's threads add to a counter of the first one. 1: read before the wait.
extern "C" __global__ void added(unsigned* out, int mistake) {
  __shared__ unsigned sum;
  __shared__ std::uint64_t barrier;
  Place at;
  if (at.thread == 0) {
    sum = 0;
    ptx::mbarrier_init(&barrier, 1);
    if (at.rank == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                     &barrier, threads * 4);
  }
  at.cluster.sync();
  if (at.rank == 1)
    ptx::red_async(ptx::op_add, at.of(&sum, 0), static_cast<unsigned>(at.thread),
                   at.of(&barrier, 0));
  if (at.rank != 0) return;
  if (mistake == 1) out[at.index()] = sum;
  wait_for(&barrier, 0);
  out[at.index()] = sum;
}

// The second block copies its values to the first one.
// 1: no fence of the proxy. 2: the source is changed too early. 3: read before the wait.
extern "C" __global__ void copied(int* out, int mistake) {
  __shared__ alignas(16) int values[threads];
  __shared__ std::uint64_t barrier;
  Place at;
  if (at.thread == 0 && at.rank == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                   &barrier, sizeof values);
  }
  values[at.thread] = at.rank == 1 ? at.thread + 9 : 0;
  if (mistake != 1) ptx::fence_proxy_async(ptx::space_shared);
  at.cluster.sync();
  if (at.rank == 1 && at.thread == 0)
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, at.of(values, 0), values,
                       sizeof values, at.of(&barrier, 0));
  if (mistake == 2 && at.rank == 1) {
    __syncthreads();
    values[at.thread] = 0;
  }
  if (at.rank == 0) {
    if (mistake == 3) out[at.index()] = values[at.thread];
    wait_for(&barrier, 0);
    out[at.index()] = values[at.thread];
  }
  at.cluster.sync();
}

// The first block tells another one by a flag in global memory that its values, there and in its
// shared memory, are written. `distance` in blocks: 1 is in the cluster, its size is not.
// mistake 0: fences of the GPU. 1: of the cluster. 2: the reader takes no shared memory and there
// is no fence.
extern "C" __global__ void told(int* out, int* place, int* flag, int distance, int mistake) {
  __shared__ int values[threads];
  Place at;
  values[at.thread] = at.thread;
  const auto fence = [&] {
    if (mistake == 0) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (mistake == 1) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  };
  if (blockIdx.x == 0) {
    place[at.thread] = at.thread;
    __syncthreads();
    if (at.thread == 0) {
      fence();
      asm volatile("st.relaxed.gpu.s32 [%0], 1;" ::"l"(flag) : "memory");
    }
  }
  if (static_cast<int>(blockIdx.x) == distance) {
    if (at.thread == 0) {
      int seen = 0;
      while (seen == 0)
        asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      fence();
    }
    __syncthreads();
    out[at.thread] = place[at.thread];
    if (distance < at.size && mistake != 2) out[at.thread] += at.of(values, 0)[at.thread];
  }
  at.cluster.sync();
}

/// The first block copies to all but itself and the last one; each adds its rank. Mistakes: 1: the
/// last one waits as well. 2: no barrier before the copy. 3: bytes are used before they are there.
extern "C" __global__ void multicast(int* out, const int* in, int mistake) {
  const Place at;
  __shared__ alignas(16) int values[threads];
  __shared__ std::uint64_t loaded;
  const bool gets = at.rank != 0 && (at.rank != at.size - 1 || mistake == 1);
  values[at.thread] = -1;
  if (at.thread == 0) {
    ptx::mbarrier_init(&loaded, 1);
    if (gets)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                     &loaded, sizeof values);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::fence_proxy_async(ptx::space_shared);
  if (mistake != 2)
    at.cluster.sync();
  else
    __syncthreads();
  const auto mask = static_cast<std::uint16_t>((1 << (at.size - 1)) - 2);
  if (at.rank == 0 && at.thread == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1], %2, [%3], %4;"
        :
        : "r"(shared_address(values)), "l"(in), "n"(sizeof values), "r"(shared_address(&loaded)),
          "h"(mask)
        : "memory");
  if (gets && mistake != 3) wait_for(&loaded, 0);
  out[at.index()] = values[at.thread] + at.rank;
  at.cluster.sync();
}
