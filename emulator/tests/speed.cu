// Three kernels of different kinds for `speed.cpp`.

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
    y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void reduce(const float* x, float* sums, int n) {
  __shared__ float parts[8];
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  float sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
    sum += x[i];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < blockDim.x / 32; ++i) sum += parts[i];
    sums[blockIdx.x] = sum;
  }
}

// Bitonic sort of each block's 512 keys in shared memory by 256 threads.
extern "C" __global__ void sort_blocks(unsigned* keys) {
  __shared__ unsigned place[512];
  const unsigned t = threadIdx.x;
  unsigned* const block = keys + blockIdx.x * 512;
  place[t] = block[t];
  place[t + 256] = block[t + 256];
  __syncthreads();
  for (unsigned size = 2; size <= 512; size *= 2) {
    for (unsigned step = size / 2; step > 0; step /= 2) {
      const unsigned low = t / step * (2 * step) + t % step;
      const bool ascending = (low & size) == 0;
      const unsigned a = place[low], b = place[low + step];
      if ((a > b) == ascending) {
        place[low] = b;
        place[low + step] = a;
      }
      __syncthreads();
    }
  }
  block[t] = place[t];
  block[t + 256] = place[t + 256];
}
