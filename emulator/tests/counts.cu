// The kernels of counts_test.cpp.

extern "C" __global__ void copy_wide(const uint4* x, uint4* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

/// Each lane in a sector of its own.
extern "C" __global__ void copy_apart(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[8 * i];
}

/// One address for all lanes.
extern "C" __global__ void broadcast(const float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = *x;
}

/// The same row for each block.
extern "C" __global__ void copy_row(const float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];
}

/// Four loads under way together, then one that depends on their sum.
extern "C" __global__ void two_waits(const int* x, int* y) {
  const int i = threadIdx.x;
  const int sum = x[i] + x[i + 32] + x[i + 64] + x[i + 96];
  y[i] = x[i + sum];
}

/// Columns of a tile `Pitch` wide: with 32, all in one bank.
template <int Pitch>
__device__ void columns(float* y) {
  __shared__ float tile[32 * Pitch];
  for (int row = 0; row < 32; ++row) tile[row * Pitch + threadIdx.x] = row;
  __syncthreads();
  float sum = 0;
  for (int column = 0; column < 32; ++column) sum += tile[threadIdx.x * Pitch + column];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void conflicting_columns(float* y) { columns<32>(y); }
extern "C" __global__ void padded_columns(float* y) { columns<33>(y); }

/// Wide accesses of shared memory: a quarter of a warp at a time, none in conflict.
extern "C" __global__ void wide_shared(uint4* y) {
  __shared__ uint4 all[32];
  const unsigned i = threadIdx.x;
  all[i] = uint4{i, i, i, i};
  __syncthreads();
  y[i] = all[i ^ 1];
}

/// A quarter of the lanes works.
extern "C" __global__ void divergent(float* y) {
  if (threadIdx.x % 4 != 0) return;
  float value = y[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < 1000; ++i) value = value * 0.5f + 1;
  y[threadIdx.x] = value;
}

extern "C" __global__ void divide(const long long* x, long long* y) {
  y[threadIdx.x] = y[threadIdx.x] / x[threadIdx.x];
}
