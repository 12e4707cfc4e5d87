// Mistakes with asynchronous copies, and the same without. `mistake` chooses among them.
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

namespace {

__device__ void start_copy(int* to, const int* from) {
  __pipeline_memcpy_async(to, from, sizeof(int));
}

__device__ void init(std::uint64_t* barrier, unsigned count) {
  if (threadIdx.x == 0) ptx::mbarrier_init(barrier, count);
  __syncthreads();
}

__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

__device__ void load(int* to, const int* from, unsigned bytes, std::uint64_t* barrier) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 bytes);
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, barrier);
}

}  // namespace

// 1: reads before the wait.
extern "C" __global__ void own_element(const int* in, int* out, int mistake) {
  __shared__ int place[128];
  const unsigned t = threadIdx.x;
  place[t] = 0;
  start_copy(place + t, in + t);
  __pipeline_commit();
  if (mistake == 0) __pipeline_wait_prior(0);
  out[t] = place[t] + 1;
  __pipeline_wait_prior(0);
}

// 1: no barrier between one thread's wait and another one's read; 2: it comes before the wait.
extern "C" __global__ void other_element(const int* in, int* out, int mistake) {
  __shared__ int place[128];
  const unsigned t = threadIdx.x, n = blockDim.x;
  place[t] = 0;  // or the read would be one of nothing written
  __syncthreads();
  start_copy(place + t, in + t);
  __pipeline_commit();
  if (mistake == 2) __syncthreads();
  __pipeline_wait_prior(0);
  if (mistake == 0) __syncthreads();
  out[t] = place[n - 1 - t];
}

// One thread tells the others that its copy has come. 1: without fences.
extern "C" __global__ void announced_copy(const int* in, int* out, int mistake) {
  __shared__ int place, flag;
  volatile int* const seen = &flag;
  if (threadIdx.x == 0) {
    *seen = 0;
    start_copy(&place, in);
    __pipeline_commit();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __pipeline_wait_prior(0);
    if (mistake == 0) __threadfence_block();
    *seen = 1;
  }
  while (*seen == 0) {
  }
  if (mistake == 0) __threadfence_block();
  out[threadIdx.x] = place;
}

// 1: the wait leaves the group pending.
extern "C" __global__ void two_groups(const int* in, int* out, int mistake) {
  __shared__ int place[2][128];
  const unsigned t = threadIdx.x, n = blockDim.x;
  for (unsigned stage = 0; stage < 2; ++stage) {
    start_copy(&place[stage][t], in + stage * n + t);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  out[t] = place[mistake][t];
  __pipeline_wait_prior(0);
  out[t] += place[1][t];
}

// 1: writes where a copy is to arrive.
extern "C" __global__ void overwritten(const int* in, int* out, int mistake) {
  __shared__ int place[128];
  const unsigned t = threadIdx.x;
  start_copy(place + t, in + t);
  __pipeline_commit();
  if (mistake == 0) __pipeline_wait_prior(0);
  place[t] = 7;
  __pipeline_wait_prior(0);
  out[t] = place[t];
}

// 1: two copies to one place.
extern "C" __global__ void copied_twice(const int* in, int* out, int mistake) {
  __shared__ int place[256];
  const unsigned t = threadIdx.x, n = blockDim.x;
  start_copy(place + t, in + t);
  start_copy(place + (mistake == 0 ? n : 0) + t, in + t);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = place[t];
}

// 1: the threads end without a wait.
extern "C" __global__ void without_wait(const int* in, int* out, int mistake) {
  __shared__ int place[128];
  const unsigned t = threadIdx.x;
  start_copy(place + t, in + t);
  __pipeline_commit();
  if (mistake == 0) __pipeline_wait_prior(0);
  out[t] = 1;
}

// 1: source and size are no multiples of the copy's size.
extern "C" __global__ void misaligned_element(const char* in, int* out, int mistake) {
  __shared__ int place[128];
  const unsigned t = threadIdx.x;
  start_copy(place + t, reinterpret_cast<const int*>(in + mistake) + t);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = place[t];
}

// 1: reads before the wait; 2: no wait, but a barrier; 3: expects too few bytes; 4: does not expect
// any; 5: a size that is no multiple of 16; 6: an address that is none.
extern "C" __global__ void bulk_load(const int* in, int* out, int mistake) {
  __shared__ alignas(128) int place[256];
  __shared__ std::uint64_t barrier;
  const unsigned t = threadIdx.x, n = blockDim.x;
  unsigned bytes = n * sizeof(int);
  place[t] = 0;
  init(&barrier, 1);
  if (t == 0 && mistake == 5) bytes -= 4;
  if (t == 0 && (mistake == 3 || mistake == 4)) {
    if (mistake == 3)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                     bytes - 16);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, place, in, bytes, &barrier);
  } else if (t == 0) {
    load(place + (mistake == 6 ? 1 : 0), in, bytes, &barrier);
  }
  if (mistake == 2) __syncthreads();
  if (mistake != 1 && mistake != 2) wait(&barrier, 0);
  out[t] = place[n - 1 - t];
  wait(&barrier, 0);
}

// 1: overwrites the source before the wait; 2: ends without a wait; 3: waits for all groups but
// this one.
extern "C" __global__ void bulk_store(int* out, int mistake) {
  __shared__ alignas(128) int place[256];
  const unsigned t = threadIdx.x, n = blockDim.x;
  place[t] = static_cast<int>(t);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, place,
                       static_cast<unsigned>(n * sizeof(int)));
    ptx::cp_async_bulk_commit_group();
    if (mistake == 1) place[0] = 1;
    if (mistake == 3) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    } else if (mistake != 2) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
  }
  if (mistake != 2) __syncthreads();
  if (mistake != 2) place[t] = 1;
}

// 1: one thread's write is not ordered before the copy of another one; 2: a fence for the copy is
// missing; 3: it is for another space; 4: it comes before the writes. -1: it stands behind the
// barrier, -2: a third thread has it.
extern "C" __global__ void bulk_store_of_others(int* out, int mistake) {
  __shared__ alignas(128) int place[256];
  const unsigned t = threadIdx.x, n = blockDim.x;
  const auto fence = [] { ptx::fence_proxy_async(ptx::space_shared); };
  if (mistake == 4) fence();
  place[t] = static_cast<int>(t);
  if (mistake == 0 || mistake == 1) fence();
  if (mistake == 3) ptx::fence_proxy_async(ptx::space_global);
  if (mistake != 1) __syncthreads();
  if (mistake == -2) {
    if (t == n - 1) fence();
    __syncthreads();
  }
  if (t == 0) {
    if (mistake == -1) fence();
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, place,
                       static_cast<unsigned>(n * sizeof(int)));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// Bytes that a bulk copy wrote need no fence before another one.
extern "C" __global__ void bulk_through(const int* in, int* out) {
  __shared__ alignas(128) int place[256];
  __shared__ std::uint64_t barrier;
  const unsigned bytes = blockDim.x * sizeof(int);
  init(&barrier, 1);
  if (threadIdx.x == 0) {
    load(place, in, bytes, &barrier);
    wait(&barrier, 0);
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, place, bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

// The threads write; one waits for all arrivals and reads. 1: arrives first, then writes; 2: reads
// without a wait.
extern "C" __global__ void message(int* out, int mistake) {
  __shared__ int place[128];
  __shared__ std::uint64_t barrier;
  const unsigned t = threadIdx.x, n = blockDim.x;
  place[t] = 0;
  init(&barrier, n);
  if (mistake != 1) place[t] = static_cast<int>(t);
  ptx::mbarrier_arrive(&barrier);
  if (mistake == 1) place[t] = static_cast<int>(t);
  if (t == 0) {
    if (mistake != 2) wait(&barrier, 0);
    int sum = 0;
    for (unsigned i = 0; i < n; ++i) sum += place[i];
    *out = sum;
  }
}

// One thread tells the others that it has initialised the object. 1: without fences.
extern "C" __global__ void announced_object(int* out, int mistake) {
  __shared__ std::uint64_t barrier;
  __shared__ int flag;
  volatile int* const seen = &flag;
  if (threadIdx.x == 0) *seen = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, blockDim.x);
    if (mistake == 0) __threadfence_block();
    *seen = 1;
  }
  while (*seen == 0) {
  }
  if (mistake == 0) __threadfence_block();
  ptx::mbarrier_arrive(&barrier);
  wait(&barrier, 0);
  out[threadIdx.x] = 1;
}

// 1: an arrival too many; 2: one too few; 3: not initialised; 4: initialised twice; 5: stores over
// the object; 6: reads it; 7: a stale state; 8: used after its end; 9: expects none.
extern "C" __global__ void object(int* out, int mistake) {
  __shared__ std::uint64_t barrier;
  const unsigned n = blockDim.x;
  unsigned expected = mistake == 1 ? n - 1 : mistake == 2 ? n + 1 : n;
  if (mistake == 9) expected = 0;
  if (mistake != 3) init(&barrier, expected);
  if (mistake == 4) init(&barrier, n);
  if (mistake == 5) *static_cast<volatile std::uint64_t*>(&barrier) = 0;
  if (mistake == 6) out[0] = static_cast<int>(*static_cast<volatile std::uint64_t*>(&barrier));
  if (mistake == 1) {
    // All arrivals belong to one phase: the last thread to arrive comes too late.
    if (threadIdx.x == 0)
      for (unsigned i = 0; i + 2 < n; ++i) ptx::mbarrier_arrive(&barrier);
    __syncthreads();
    if (threadIdx.x == 0) ptx::mbarrier_arrive(&barrier, 2);
    return;
  }
  const std::uint64_t state = ptx::mbarrier_arrive(&barrier);
  while (!ptx::mbarrier_try_wait(&barrier, state)) {
  }
  if (mistake == 7) {
    wait(&barrier, 0);
    ptx::mbarrier_arrive(&barrier);
    wait(&barrier, 1);
    ptx::mbarrier_try_wait(&barrier, state);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(&barrier)))
                 : "memory");
  __syncthreads();
  if (mistake == 8) ptx::mbarrier_arrive(&barrier);
  out[threadIdx.x] = 1;
}
