// Bugs of many kinds, one for each word on the command line. `BUG word` stands above the lines
// of which a report must name one: tool_test.cpp runs them all.
#include <cuda_pipeline.h>

#include <cassert>
#include <cstdio>
#include <cstring>

namespace {

constexpr int threads = 64;

// Memory.
// BUG past_the_end
__global__ void past_the_end(int* a) { a[threadIdx.x + 1] = 1; }
__global__ void before_the_begin(const int* a, int* b) {
  // BUG before_the_begin
  b[0] = a[threadIdx.x - 1];
}
// BUG freed BUG pooled
__global__ void freed(int* a) { a[threadIdx.x] = 1; }
// BUG no_pointer BUG host_memory
__global__ void no_pointer(int* a) { a[threadIdx.x] = 1; }
// BUG misaligned
__global__ void misaligned(char* a) { *reinterpret_cast<int*>(a + 1) = 1; }
__global__ void past_shared(int* a) {
  extern __shared__ int tile[];
  // BUG past_shared
  tile[threadIdx.x] = 1;
  a[threadIdx.x] = tile[threadIdx.x];
}
__global__ void past_local(int* a, int n) {
  int line[8];
  // BUG past_local
  for (int i = 0; i < n; ++i) line[i] = a[i];
  a[0] = line[n % 8];
}
__device__ __noinline__ int sum_below(int n, volatile int* a) {
  int many[32];
  // BUG stack
  for (int i = 0; i < 32; ++i) many[i] = a[i] + n;
  // BUG stack
  return n == 0 ? 0 : sum_below(n - 1, a) + many[n % 32];
}
// BUG stack
__global__ void stack(int* a, int n) { a[0] = sum_below(n, a); }

// Values that nothing wrote.
__global__ void unwritten(const int* a, int* b) {
  // BUG unwritten
  if (a[threadIdx.x] > 3) b[threadIdx.x] = 1;
}
__global__ void unwritten_shared(int* a) {
  __shared__ int tile[threads];
  if (threadIdx.x != 5) tile[threadIdx.x] = 1;
  __syncthreads();
  // BUG unwritten_shared
  a[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}
__global__ void unwritten_local(int* a, int n) {
  int line[8];
  for (int i = 0; i < n; ++i) line[i * 2] = a[i];
  // BUG unwritten_local
  a[threadIdx.x] = line[n] + 1;
}
__global__ void padded_sum(const float* a, float* sum) {
  float mine = a[threadIdx.x];
  for (int by = 16; by > 0; by /= 2) mine += __shfl_down_sync(~0u, mine, by);
  // BUG padded_sum
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

// Races.
__global__ void no_barrier(int* a) {
  __shared__ int tile[threads];
  // BUG no_barrier
  tile[threadIdx.x] = a[threadIdx.x];
  // BUG no_barrier
  a[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}
__global__ void no_barrier_behind(int* a) {
  __shared__ int tile[threads];
  for (int round = 0; round < 2; ++round) {
    // BUG no_barrier_behind
    tile[threadIdx.x] = a[threadIdx.x] + round;
    __syncthreads();
    // BUG no_barrier_behind
    a[threadIdx.x] = tile[threads - 1 - threadIdx.x];
  }
}
__global__ void in_step(int* a) {
  __shared__ int tile[32];
  tile[threadIdx.x] = a[threadIdx.x];
  for (int by = 16; by > 0; by /= 2)
    if (threadIdx.x < by)
      // BUG in_step
      tile[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + by];
  if (threadIdx.x == 0) a[0] = tile[0];
}
// BUG counted
__global__ void counted(int* a) { a[0] = a[0] + 1; }
__global__ void of_warps(int* a) {
  // BUG of_warps
  a[threadIdx.x] = 1 + static_cast<int>(threadIdx.x);
  // BUG of_warps
  a[threads + threadIdx.x] = a[threads - 1 - threadIdx.x];
}
__global__ void next_block(int* a) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  // BUG next_block
  a[i] = i;
  // BUG next_block
  if (i > 0) a[i + 1024] = a[i - 1];
}
__global__ void no_fence(int* value, volatile int* flag, int* out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    // BUG no_fence
    *value = 7;
    *flag = 1;
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (*flag == 0) {
    }
    // BUG no_fence
    *out = *value;
  }
}
__global__ void beside_atomics(int* a, int* out) {
  // BUG beside_atomics
  atomicAdd(a, 1);
  // BUG beside_atomics
  out[threadIdx.x] = *a;
}
__global__ void double_up(int* a) {
  // BUG streams
  a[threadIdx.x] = 2 * a[threadIdx.x] + 1;
}

// Barriers and warps.
__global__ void half_a_barrier(int* a) {
  // BUG half_a_barrier
  if (threadIdx.x < 16) __syncthreads();
  a[threadIdx.x] = 1;
  // BUG half_a_barrier
  __syncthreads();
}
__global__ void absent_lane(int* a) {
  if (threadIdx.x < 16)
    // BUG absent_lane
    a[threadIdx.x] = __shfl_sync(0xffff, a[threadIdx.x], 20) + 1;
}
__global__ void wrong_mask(int* a) {
  // BUG wrong_mask
  if (threadIdx.x < 16) __syncwarp(0xffff0000);
  a[threadIdx.x] = 1;
}
__global__ void deadlock(int* a) {
  if (threadIdx.x < 32)
    // BUG deadlock
    asm volatile("bar.sync 1, 64;");
  else
    // BUG deadlock
    asm volatile("bar.sync 2, 64;");
  a[threadIdx.x] = 1;
}
__global__ void not_awaited(const int* a, int* b) {
  __shared__ int tile[threads];
  __pipeline_memcpy_async(&tile[threadIdx.x], &a[threadIdx.x], 4);
  __pipeline_commit();
  // BUG not_awaited
  b[threadIdx.x] = tile[threadIdx.x];
  __pipeline_wait_prior(0);
}
// BUG asserts
__global__ void asserts(const int* a) { assert(a[threadIdx.x] == 8); }

}  // namespace

int main(int, char** words) {
  const auto is = [&](const char* word) { return std::strcmp(words[1], word) == 0; };
  int *a = nullptr, *b = nullptr, *c = nullptr;
  cudaMalloc(&a, 4096 * sizeof(int));
  cudaMalloc(&b, 4096 * sizeof(int));
  cudaMemset(b, 0, 4096 * sizeof(int));
  cudaMalloc(&c, threads * sizeof(int));  // nothing writes it
  const bool wants_unwritten = is("unwritten") || is("padded_sum");
  if (!wants_unwritten) cudaMemset(a, 0, 4096 * sizeof(int));
  cudaStream_t one = nullptr, other = nullptr;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  static int in_host_memory[threads];

  if (is("past_the_end")) past_the_end<<<1, threads>>>(c);
  if (is("before_the_begin")) before_the_begin<<<1, threads>>>(a, b);
  if (is("freed")) {
    cudaFree(c);
    freed<<<1, threads>>>(c);
  }
  if (is("pooled")) {
    cudaMallocAsync(&c, threads * sizeof(int), one);
    cudaFreeAsync(c, one);
    freed<<<1, threads, 0, one>>>(c);
  }
  if (is("no_pointer")) no_pointer<<<1, threads>>>(nullptr);
  if (is("host_memory")) no_pointer<<<1, threads>>>(in_host_memory);
  if (is("misaligned")) misaligned<<<1, 1>>>(reinterpret_cast<char*>(a));
  if (is("past_shared")) past_shared<<<1, threads, 32 * sizeof(int)>>>(a);
  if (is("past_local")) past_local<<<1, 1>>>(a, 9);
  if (is("stack")) stack<<<1, 1>>>(a, 100000);
  if (is("unwritten")) unwritten<<<1, threads>>>(c, b);
  if (is("unwritten_shared")) unwritten_shared<<<1, threads>>>(a);
  if (is("unwritten_local")) unwritten_local<<<1, threads>>>(a, 3);
  if (is("padded_sum"))
    padded_sum<<<1, threads>>>(reinterpret_cast<float*>(c), reinterpret_cast<float*>(b));
  if (is("no_barrier")) no_barrier<<<1, threads>>>(a);
  if (is("no_barrier_behind")) no_barrier_behind<<<1, threads>>>(a);
  if (is("in_step")) in_step<<<1, 32>>>(a);
  if (is("counted")) counted<<<2, 1>>>(a);
  if (is("of_warps")) of_warps<<<1, threads>>>(a);
  if (is("next_block")) next_block<<<4, threads>>>(a);
  if (is("no_fence")) no_fence<<<2, 32>>>(a, b, b + 1);
  if (is("beside_atomics")) beside_atomics<<<1, threads>>>(a, b);
  if (is("streams")) {
    double_up<<<1, threads, 0, one>>>(a);
    double_up<<<1, threads, 0, other>>>(a);
  }
  if (is("half_a_barrier")) half_a_barrier<<<1, 32>>>(a);
  if (is("absent_lane")) absent_lane<<<1, 32>>>(a);
  if (is("wrong_mask")) wrong_mask<<<1, 32>>>(a);
  if (is("deadlock")) deadlock<<<1, threads>>>(a);
  if (is("not_awaited")) not_awaited<<<1, threads>>>(a, b);
  if (is("asserts")) asserts<<<1, threads>>>(a);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return 0;
}
