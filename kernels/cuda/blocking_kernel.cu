#include "kernels/cuda/blocking_kernel.h"

#include <cuda_runtime.h>

#include <new>

#include "kernels/cuda/current.h"
#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

constexpr unsigned long long max_block_ns = 200'000'000;

__device__ unsigned long long now_ns() {
  unsigned long long ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/// Spins until `released` reaches `turn`. The comparison uses the difference, so both may wrap.
__global__ void wait_for(volatile unsigned* released, volatile unsigned* lapsed, unsigned turn) {
  const unsigned long long begin_ns = now_ns();
  while (static_cast<int>(*released - turn) < 0) {
    if (now_ns() - begin_ns > max_block_ns) {
      *lapsed = 1;
      return;
    }
    __nanosleep(100);
  }
}

}  // namespace

BlockingKernel::BlockingKernel() {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof(Flags), cudaHostAllocPortable), "cudaHostAlloc");
  flags_ = new (memory) Flags{};
}

BlockingKernel::~BlockingKernel() {
  end();
  ignore(cudaFreeHost(const_cast<Flags*>(flags_)));
}

void BlockingKernel::begin(cudaStream_t stream) {
  ++begun_;
  wait_for<<<1, 1, 0, stream>>>(&flags_->released, &flags_->lapsed, begun_);
  check(cudaGetLastError(), "a kernel that holds the stream");
}

void BlockingKernel::end() { flags_->released = begun_; }

bool BlockingKernel::take_lapse() {
  const bool lapsed = flags_->lapsed != 0;
  flags_->lapsed = 0;
  return lapsed;
}

}  // namespace assay::cuda
