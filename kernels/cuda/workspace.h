#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/cuda/current.h"

namespace assay::cuda {

/// Memory of the current GPU that a kernel needs besides its tensors. It starts as nonzero garbage,
/// so that a kernel which relies on zeros fails.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes);
  ~Workspace() { ignore(cudaFree(data_)); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Sets the first `bytes` to zero and waits, for counters that start at zero.
  void clear(std::size_t bytes);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace assay::cuda
