#pragma once

#include <cuda_runtime_api.h>

namespace assay::cuda {

/// Blocks a stream with a kernel that spins until the host releases it. Work enqueued behind it
/// then starts at once and runs without gaps. The kernel also ends by itself after a while:
/// otherwise a full queue, or a call that waits for the GPU, would hang for ever.
class BlockingKernel {
 public:
  /// Works on the current GPU.
  BlockingKernel();
  ~BlockingKernel();
  BlockingKernel(const BlockingKernel&) = delete;
  BlockingKernel& operator=(const BlockingKernel&) = delete;

  void begin(cudaStream_t stream);
  void end();
  /// Returns true if a kernel ended by itself since the last call. Call it after the stream's work
  /// is done.
  bool take_lapse();

 private:
  /// Flags in pinned memory, shared by the host and the kernel.
  struct Flags {
    unsigned released;  // count of releases by the host
    unsigned lapsed;    // set by the kernel
  };
  volatile Flags* flags_ = nullptr;
  unsigned begun_ = 0;
};

}  // namespace assay::cuda
