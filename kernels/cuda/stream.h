#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/base/device.h"

namespace assay::cuda {

/// Makes a GPU the current one of this thread: to be called before whatever is about it. Nobody
/// makes another one current again: to make GPU 0 current takes memory on it, also for workers that
/// have nothing to do with it.
void make_current(int ordinal);

/// Of calls that may fail without consequence, as when memory is released after an error: the next
/// check must not find their error.
void ignore(cudaError_t error);

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(int ordinal);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  cudaEvent_t handle() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// Never the default stream, on which all others wait.
class CudaStream final : public Stream {
 public:
  explicit CudaStream(int ordinal);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t handle() const { return handle_; }
  int ordinal() const { return ordinal_; }

  std::unique_ptr<Event> create_event() override;
  void record(Event& event) override;
  double elapsed_s(const Event& start, const Event& stop) override;
  void synchronize() override;
  std::string device_uuid() const override;

 private:
  int ordinal_;
  cudaStream_t handle_ = nullptr;
};

/// The CUDA stream that a binding names.
CudaStream& stream_of(const Binding& binding);

}  // namespace assay::cuda
