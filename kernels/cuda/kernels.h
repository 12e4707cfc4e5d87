#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/workspace.h"
#include "kernels/device/kernels.h"

namespace assay::cuda {

/// Says if a call may wait for the GPU. Such a call must not follow blocked work.
enum class Waits : bool { no, yes };

/// A kernel that is one call with a stream as its argument.
class FunctionKernel final : public Kernel {
 public:
  using Run = std::function<void(cudaStream_t)>;
  FunctionKernel(std::string implementation, const Binding& binding, Run run,
                 Waits waits = Waits::no, MathMode mode = {})
      : implementation_(std::move(implementation)),
        stream_(&stream_of(binding)),
        run_(std::move(run)),
        waits_(waits),
        mode_(mode) {}

  /// Throws DeviceError, also for a refused launch, which no call reports by itself.
  void launch() override {
    make_current(stream_->ordinal());
    check(cudaGetLastError(), "an earlier call");
    run_(stream_->handle());
    check(cudaGetLastError(), implementation_.c_str());
  }
  std::string implementation() const override { return implementation_; }
  bool may_wait() const override { return waits_ == Waits::yes; }
  MathMode math_mode() const override { return mode_; }

 private:
  std::string implementation_;
  CudaStream* stream_;
  Run run_;
  Waits waits_;
  MathMode mode_;
};

/// Makes a kernel of CUB. `call(memory, bytes, stream)` sets `bytes` to the memory it needs if
/// `memory` is null, else it enqueues the work. Never enqueues an empty op.
template <class Call>
std::unique_ptr<Kernel> with_workspace(std::string implementation, const Binding& binding,
                                       bool is_empty, Call call) {
  std::size_t bytes = 0;
  if (!is_empty) check(call(nullptr, bytes, stream_of(binding).handle()), implementation.c_str());
  // Never empty: CUB would take a null pointer as a size query again.
  const auto workspace = std::make_shared<Workspace>(std::max<std::size_t>(bytes, 1));
  return std::make_unique<FunctionKernel>(
      implementation, binding, [implementation, is_empty, call, workspace](cudaStream_t stream) {
        if (is_empty) return;
        std::size_t given = workspace->bytes();
        check(call(workspace->data(), given, stream), implementation.c_str());
      });
}

/// "CUB 3.0.1".
std::string cub_version_text();

}  // namespace assay::cuda
