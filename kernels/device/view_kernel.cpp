#include "kernels/device/view_kernel.h"

#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/views.h"

namespace assay {
namespace {

class ThroughDenseTensors final : public Kernel {
 public:
  ThroughDenseTensors(Device& device, const PrepareOne& prepare, const OpInstance& op,
                      const Binding& binding) {
    const OpInstance dense = without_view(op);
    Binding of_dense = binding;
    for (std::size_t i = 0; i < op.signature.inputs.size(); ++i) {
      const TensorSpec& view = op.signature.inputs[i];
      if (view.is_dense()) continue;
      const TensorSpec& together = dense.signature.inputs[i];
      void* const memory = keep(device, together);
      of_dense.inputs[i] = memory;
      steps_.push_back(
          prepare(copy_between(view, together), {binding.stream, {binding.inputs[i]}, {memory}}));
    }
    std::vector<std::unique_ptr<Kernel>> after;
    for (std::size_t i = 0; i < op.signature.outputs.size(); ++i) {
      const TensorSpec& view = op.signature.outputs[i];
      if (view.is_dense()) continue;
      const TensorSpec& together = dense.signature.outputs[i];
      void* const memory = keep(device, together);
      of_dense.outputs[i] = memory;
      after.push_back(
          prepare(copy_between(together, view), {binding.stream, {memory}, {binding.outputs[i]}}));
    }
    kernel_ = steps_.size();
    steps_.push_back(prepare(dense, of_dense));
    std::ranges::move(after, std::back_inserter(steps_));
  }

  void launch() override {
    for (const auto& step : steps_) step->launch();
  }
  std::string implementation() const override {
    return kernel().implementation() + ", views by dense copies";
  }
  std::string wrong_algorithms() const override { return kernel().wrong_algorithms(); }
  MathMode math_mode() const override { return kernel().math_mode(); }
  bool may_wait() const override { return kernel().may_wait(); }
  bool may_stray() const override { return kernel().may_stray(); }

 private:
  void* keep(Device& device, const TensorSpec& spec) {
    return buffers_.emplace_back(device, spec.bytes(), spec.memory).data();
  }
  const Kernel& kernel() const { return *steps_[kernel_]; }

  std::vector<Buffer> buffers_;
  std::vector<std::unique_ptr<Kernel>> steps_;
  std::size_t kernel_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> through_dense_tensors(Device& device, const PrepareOne& prepare,
                                              const OpInstance& op, const Binding& binding) {
  return std::make_unique<ThroughDenseTensors>(device, prepare, op, binding);
}

}  // namespace assay
