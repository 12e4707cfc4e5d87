#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kernels/cuda/blocking_kernel.h"
#include "kernels/cuda/clock_reader.h"
#include "kernels/cuda/current.h"
#include "kernels/cuda/workspace.h"
#include "kernels/device/device.h"

namespace assay::cuda {

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

/// A stream other than the default one, on which all others wait.
class CudaStream final : public Stream {
 public:
  enum class Priority { standard, greatest };
  explicit CudaStream(int ordinal, Priority priority = Priority::standard);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t handle() const { return handle_; }
  void* native() override { return handle_; }
  int ordinal() const { return ordinal_; }

  std::unique_ptr<Event> create_event() override;
  void record(Event& event) override;
  double elapsed_s(const Event& start, const Event& stop) override;
  void synchronize() override;
  /// Calls `check`, while it lives, after each wait for the stream: a library may have errors that
  /// no call of CUDA returns.
  void check_after_wait(std::weak_ptr<const std::function<void()>> check) {
    check_ = std::move(check);
  }
  /// Writes more than the second-level cache holds. First-level caches last no longer than a
  /// kernel.
  void flush_caches() override;
  bool block() override;
  void unblock() override;
  bool take_lapse() override { return blocking_->take_lapse(); }
  void begin_clock() override;
  void end_clock() override;
  std::optional<double> clock_hz() override;
  void await_all() override;
  /// Returns a CUDA graph for each stream. None for ranks of a collective: a thread that launches
  /// their graphs one by one may block before the last one (NCCL user guide, "Using NCCL with CUDA
  /// Graphs").
  std::unique_ptr<Kernel> as_graph(Kernel& kernel, std::int64_t launches,
                                   std::span<Stream* const> streams) override;
  std::string device_uuid() const override;

 private:
  int ordinal_;
  cudaStream_t handle_ = nullptr;
  std::unique_ptr<BlockingKernel>
      blocking_;  // made at once: behind a kernel that waits nothing can be allocated
  std::weak_ptr<const std::function<void()>> check_;
  CudaEvent all_work_;                  // of await_all
  std::unique_ptr<Workspace> evictor_;  // target of flush writes, made when first needed
  std::unique_ptr<ClockReader> clock_;  // made at once, as blocking_
};

/// The CUDA stream that a binding names.
CudaStream& stream_of(const Binding& binding);

}  // namespace assay::cuda
