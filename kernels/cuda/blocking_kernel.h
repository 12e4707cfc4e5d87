#pragma once

#include <cuda_runtime_api.h>

namespace assay::cuda {

/// Keeps a stream's work from starting: a kernel that spins until the host lets it go, so that what
/// is enqueued behind it starts at once and runs without gaps. It goes by itself after a while: a
/// queue that is full, or a call that waits for the GPU, would otherwise stand still for ever.
class BlockingKernel {
 public:
  /// On the current GPU.
  BlockingKernel();
  ~BlockingKernel();
  BlockingKernel(const BlockingKernel&) = delete;
  BlockingKernel& operator=(const BlockingKernel&) = delete;

  void begin(cudaStream_t stream);
  void end();
  /// Whether a kernel has gone by itself since this was asked last. To be asked when its stream's
  /// work is done.
  bool take_lapse();

 private:
  /// What the host and the kernel tell each other, in pinned memory.
  struct Flags {
    unsigned released;  // how many times, by the host
    unsigned lapsed;    // set by the kernel
  };
  volatile Flags* flags_ = nullptr;
  unsigned begun_ = 0;
};

}  // namespace assay::cuda
