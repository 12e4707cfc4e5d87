#include "emulator/tests/tool/linked.h"

static __device__ int hidden = 10;
static __device__ __noinline__ int help(int x) { return x + hidden; }

__device__ int elsewhere(const int* x, int i) {
  return help(x[i]);  // the report's line
}

__global__ void add_elsewhere(int* x) {
  __shared__ int own[32];
  own[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = own[31 - threadIdx.x] + twice(1000) + common;
}
