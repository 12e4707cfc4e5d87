#include "kernels/cuda/current.h"

#include "kernels/cuda/error.h"

namespace assay::cuda {

void make_current(int ordinal) {
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current == ordinal) return;
  check(cudaSetDevice(ordinal), "cudaSetDevice");
}

void ignore(cudaError_t error) {
  if (error != cudaSuccess && !is_sticky(error)) cudaGetLastError();
}

}  // namespace assay::cuda
