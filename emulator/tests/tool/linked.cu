// A program of two files, as `nvcc -rdc=true` compiles them. Both have a `hidden` and a `help` that
// the other does not see.
#include "emulator/tests/tool/linked.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static __device__ int hidden = 100;
static __device__ __noinline__ int help(int x) { return x + hidden; }

__global__ void add(int* x, int beyond) {
  __shared__ int own[32];
  own[threadIdx.x] = help(elsewhere(x, static_cast<int>(threadIdx.x) + beyond));
  __syncthreads();
  x[threadIdx.x] = own[31 - threadIdx.x] + twice(1) + common;
  if (threadIdx.x == 0) common = 7;
}

int main(int count, char** arguments) {
  int* x = nullptr;
  int host[32];
  cudaMalloc(&x, sizeof host);
  cudaMemset(x, 0, sizeof host);
  add<<<1, 32>>>(x, count > 1 && std::strcmp(arguments[1], "beyond") == 0 ? 32 : 0);
  add_elsewhere<<<1, 32>>>(x);
  const cudaError_t error = cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("error: %s\n", cudaGetErrorName(error));
    return 1;
  }
  std::printf("%d\n", host[5]);
}
