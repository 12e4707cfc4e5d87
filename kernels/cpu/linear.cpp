#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/layer.h"

namespace assay::cpu {
namespace {

/// Layers one after the other; between them lie buffers of the op's dtype. A single layer is a
/// stack of one.
class StackKernel final : public Kernel {
 public:
  StackKernel(DType dtype, const std::vector<Layer::Shape>& shapes, const std::string& act,
              const Binding& binding)
      : x_(binding.inputs[0]), y_(binding.outputs[0]) {
    std::size_t input = 1;
    for (const Layer::Shape& shape : shapes) {
      Step& step = steps_.emplace_back();
      step.layer = make_layer(dtype, shape, act);
      step.w = binding.inputs[input++];
      if (shape.bias) step.bias = binding.inputs[input++];
      const bool last = steps_.size() == shapes.size();
      if (!last) {
        step.y.resize(static_cast<std::size_t>(shape.batch * shape.out) * size_bytes(dtype));
      }
    }
  }

  void launch() override {
    const void* x = x_;
    for (Step& step : steps_) {
      void* y = step.y.empty() ? y_ : step.y.data();
      step.layer->run(x, step.w, step.bias, y);
      x = y;
    }
  }
  std::string implementation() const override { return steps_.front().layer->implementation(); }

 private:
  struct Step {
    std::unique_ptr<Layer> layer;
    const void* w = nullptr;
    const void* bias = nullptr;
    std::vector<std::byte> y;  // none of the last layer
  };

  const void* x_;
  void* y_;
  std::vector<Step> steps_;
};

std::unique_ptr<Kernel> linear(const OpInstance& op, const Binding& binding) {
  const Layer::Shape shape{op.params.integer("batch"), op.params.integer("in"),
                           op.params.integer("out"), op.params.integer("bias") != 0};
  return std::make_unique<StackKernel>(op.dtype, std::vector{shape}, op.params.word("act"),
                                       binding);
}

std::unique_ptr<Kernel> linear_stack(const OpInstance& op, const Binding& binding) {
  const std::int64_t batch = op.params.integer("batch");
  const std::int64_t width = op.params.integer("width");
  const bool bias = op.params.integer("bias") != 0;
  std::vector<Layer::Shape> shapes{{batch, op.params.integer("in"), width, bias}};
  shapes.resize(static_cast<std::size_t>(op.params.integer("layers")), {batch, width, width, bias});
  return std::make_unique<StackKernel>(op.dtype, shapes, op.params.word("act"), binding);
}

constexpr KernelRow rows[] = {
    {"linear", linear},
    {"linear_stack", linear_stack},
};

}  // namespace

std::span<const KernelRow> linear_kernels() { return rows; }

}  // namespace assay::cpu
