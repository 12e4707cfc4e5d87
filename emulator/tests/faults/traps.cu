#include <cassert>

extern "C" __global__ void trap_if(int* out, int thread) {
  if (static_cast<int>(threadIdx.x) == thread) __trap();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void assert_below(int* out, int limit) {
  assert(static_cast<int>(threadIdx.x) < limit);
  out[threadIdx.x] = 1;
}
