#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/base/device.h"

namespace assay::cuda {

/// Makes a GPU the current one of this thread, and the one before it again at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

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
