#include "kernels/cuda/workspace.h"

#include "kernels/cuda/error.h"

namespace assay::cuda {

Workspace::Workspace(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  check(cudaMalloc(&data_, bytes), "cudaMalloc of a workspace");
  check(cudaMemset(data_, 0xa5, bytes), "cudaMemset of a workspace");
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void Workspace::clear(std::size_t bytes) {
  check(cudaMemset(data_, 0, bytes), "cudaMemset of a workspace");
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

}  // namespace assay::cuda
