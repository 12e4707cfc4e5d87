#pragma once

/// One variable, whatever file uses it.
inline __device__ int common = 5;
/// The same function of each file.
template <class T>
__device__ __noinline__ T twice(T x) {
  return x * 2;
}
__device__ int elsewhere(const int* x, int i);
__global__ void add_elsewhere(int* x);
