// The kernels of machine_test.cpp.
#include <cassert>
#include <cstdio>

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void block_sums(const float* x, float* sums, int n) {
  __shared__ float of_warp[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" __global__ void transpose(const double* in, double* out, int rows, int columns) {
  __shared__ double tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  if (u < rows && v < columns) out[v * rows + u] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void collatz(const unsigned* start, unsigned* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = start[i], count = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++count;
  }
  steps[i] = count;
}

// Each block waits for the one before it: they must all make progress.
extern "C" __global__ void chain(volatile unsigned* flags, unsigned* sums) {
  if (threadIdx.x != 0) return;
  unsigned sum = blockIdx.x;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    sum += sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = sum;
  __threadfence();
  flags[blockIdx.x] = 1;
}

// The last block adds what the others left.
__device__ unsigned finished;
extern "C" __global__ void last_block(const unsigned* in, unsigned* partial, unsigned* out) {
  __shared__ bool last;
  unsigned sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffff, sum, by);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x != 0) return;
  unsigned total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];
  *out = total;
  finished = 0;
}

// Lanes of one warp take a lock in turn.
extern "C" __global__ void locked(unsigned* lock, unsigned* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *(volatile unsigned*)count = *(volatile unsigned*)count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

__device__ __noinline__ int collatz_steps(int value) {
  int buffer[4];
  int count = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    buffer[count++ & 3] = value;
  }
  return count == 0 ? 0 : count + buffer[(count - 1) & 3] - 1;
}
extern "C" __global__ void calls(const unsigned* start, unsigned* steps, int n) {
  const int i = threadIdx.x;
  if (i < n) steps[i] = collatz_steps(static_cast<int>(start[i]));
}

extern "C" __global__ void prints(int value) {
  if (threadIdx.x == 0) printf("%d %s %.2f %lld %5u|\n", value, "text", 1.5, -3ll, 7u);
}
extern "C" __global__ void asserts(int value) { assert(value == 1 && "one"); }

extern "C" __global__ void past_the_end(float* x, int n) { x[threadIdx.x + n] = 1; }
extern "C" __global__ void reads(const float* x, float* y, int offset) {
  const char* bytes = reinterpret_cast<const char*>(x) + offset;
  y[threadIdx.x] = *reinterpret_cast<const float*>(bytes + 4 * threadIdx.x) + 1;
}
extern "C" __global__ void missing_barrier(float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = 0;
  __syncthreads();
  values[threadIdx.x] = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = values[63 - threadIdx.x];
}
extern "C" __global__ void missing_warp_barrier(float* out) {
  __shared__ float values[32];
  values[threadIdx.x] = 0;
  __syncthreads();
  values[threadIdx.x] = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = values[31 - threadIdx.x];
}
extern "C" __global__ void with_warp_barrier(float* out) {
  __shared__ float values[32];
  values[threadIdx.x] = 0;
  __syncthreads();
  values[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncwarp();
  out[threadIdx.x] = values[31 - threadIdx.x];
}
extern "C" __global__ void blocks_race(unsigned* out) { *out = blockIdx.x; }
extern "C" __global__ void blocks_read_what_others_write(const unsigned* in, unsigned* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = blockIdx.x + 1;
  __syncthreads();
  if (in[(blockIdx.x + 1) % gridDim.x] == 12345) out[0] = 7;
}
extern "C" __global__ void unfenced_flag(unsigned* data, volatile unsigned* flag, unsigned* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 5;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *out = *data;
  }
}
extern "C" __global__ void unreached_barrier(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[0] = 1;
  } else {
    asm volatile("bar.sync 1;");
  }
}
extern "C" __global__ void divergent_barrier(int* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 5;
  }
}
extern "C" __global__ void endless_barrier() { asm volatile("bar.sync 1, 64;"); }
extern "C" __global__ void wrong_mask(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x), 3);
  else
    asm volatile("bar.sync 0;");
}
extern "C" __global__ void reads_garbage(float* out) {
  __shared__ float values[64];
  if (threadIdx.x < 10) values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}
extern "C" __global__ void waits_for_host(volatile unsigned* flag,
                                          unsigned long long* nanoseconds) {
  unsigned long long begin, end;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  while (*flag == 0) __nanosleep(100);
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
  *nanoseconds = end - begin;
}
extern "C" __global__ void mandelbrot(float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const float u = 3.0f * x / width - 2.0f, v = 2.0f * y / gridDim.y - 1.0f;
  float a = 0, b = 0;
  int i = 0;
  for (; i < 200 && a * a + b * b < 4; ++i) {
    const float next = a * a - b * b + u;
    b = 2 * a * b + v;
    a = next;
  }
  out[y * width + x] = static_cast<float>(i);
}
