#include "kernels/cuda/faults.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "kernels/cuda/kernels.h"

namespace assay::cuda {
namespace {

__global__ void write_past_end(std::byte* end) {
  for (int i = 0; i < 4; ++i) end[i] = std::byte{0x11};
}

__global__ void flip_bit(std::byte* byte) { *byte ^= std::byte{1}; }

__global__ void trap() { __trap(); }

__global__ void never_end() {
  for (;;) asm volatile("nanosleep.u32 1000;");
}

/// Returns the fault's name; empty if the environment names none.
std::string fault_of_environment() {
  const char* name = std::getenv(fault_variable);
  return name == nullptr ? "" : name;
}

/// Exceeds the memory of any GPU.
constexpr std::size_t huge_bytes = std::size_t{1} << 46;

class FaultyKernel final : public Kernel {
 public:
  FaultyKernel(std::unique_ptr<Kernel> right, std::string_view fault, const OpInstance& op,
               const Binding& binding)
      : right_(std::move(right)),
        fault_(fault),
        stream_(&stream_of(binding)),
        output_(static_cast<std::byte*>(binding.outputs.at(0))),
        bytes_(op.signature.outputs.at(0).span_bytes()) {
    if (fault == "huge_allocation") memory_ = std::make_unique<Workspace>(huge_bytes);
  }

  void launch() override {
    right_->launch();
    const cudaStream_t stream = stream_->handle();
    if (fault_ == "past_end") write_past_end<<<1, 1, 0, stream>>>(output_ + bytes_);
    if (fault_ == "flipped_bit") flip_bit<<<1, 1, 0, stream>>>(output_ + bytes_ / 2);
    if (fault_ == "trap") trap<<<1, 1, 0, stream>>>();
    if (fault_ == "endless") never_end<<<1, 1, 0, stream>>>();
    check(cudaGetLastError(), "the launch of an injected fault");
  }
  std::string implementation() const override {
    return right_->implementation() + ", with the injected fault " + fault_;
  }
  bool may_wait() const override { return right_->may_wait(); }
  MathMode math_mode() const override { return right_->math_mode(); }

 private:
  std::unique_ptr<Kernel> right_;
  std::string fault_;
  CudaStream* stream_;
  std::byte* output_;
  std::size_t bytes_;
  std::unique_ptr<Workspace> memory_;
};

}  // namespace

void refuse_fault(const char* where) {
  const std::string name = fault_of_environment();
  if (name.empty()) return;
  throw DeviceError(Failure::internal, std::string(fault_variable) + ": " + where +
                                           " cannot be given the fault '" + name + "'");
}

std::unique_ptr<Kernel> with_fault(std::unique_ptr<Kernel> right, const OpInstance& op,
                                   const Binding& binding) {
  const std::string name = fault_of_environment();
  if (name.empty()) return right;
  if (std::find(fault_names.begin(), fault_names.end(), name) == fault_names.end()) {
    throw DeviceError(Failure::internal,
                      std::string(fault_variable) + ": no fault is called '" + name + "'");
  }
  return std::make_unique<FaultyKernel>(std::move(right), name, op, binding);
}

}  // namespace assay::cuda
