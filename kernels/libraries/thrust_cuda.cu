#include <thrust/execution_policy.h>
#include <thrust/system/cuda/execution_policy.h>

#include "kernels/libraries/library.h"
#include "kernels/libraries/thrust_ops.h"

namespace assay::libraries {
namespace {

struct Cuda {
  static auto policy(void* stream) {
    return thrust::cuda::par.on(static_cast<cudaStream_t>(stream));
  }
};

}  // namespace

Made by_cuda(const Problem& problem) { return by_type<Cuda>(problem); }

}  // namespace assay::libraries
