#include <vector>

#include "kernels/base/status.h"
#include "kernels/cuda/finish.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/product.h"

namespace assay::cuda {
namespace {

/// How the GPU of a stream sums products of a dtype. Throws DeviceError(unsupported).
MathMode mode_of(DType dtype, const CudaStream& stream) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, stream.ordinal()),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, stream.ordinal()),
        "cudaDeviceGetAttribute");
  require_units(dtype, major, minor);
  return product_mode(dtype, major);
}

/// One fully connected layer: x [batch][in], w [out][in], bias [out], y [batch][out].
struct LayerShape {
  DType dtype;
  std::int64_t batch, in, out;
  std::string act;
};
struct LayerTensors {
  const void* x;
  const void* w;
  const void* bias;  // null: none
  void* y;
};

/// With the library's epilogue where it has one for the activation. Elsewhere the sums are left in
/// the accumulator's type, and a kernel of our own adds the bias, activates and rounds: once.
class Layer {
 public:
  Layer(const LayerShape& shape, const LayerTensors& t, CudaStream& stream,
        const std::shared_ptr<Workspace>& workspace)
      : shape_(shape) {
    const DType result = product_dtype(shape.dtype);
    if (const auto epilogue = epilogue_of(shape.act, t.bias != nullptr, shape.dtype)) {
      ProductPlan plan = plan_to(result);
      plan.epilogue = *epilogue;
      try {
        product_ = std::make_unique<Product>(plan, operands(t, t.y), stream, workspace);
        return;
      } catch (const DeviceError& error) {
        // Another way is left, if it is the epilogue that the library does not have.
        if (error.failure() != Failure::unsupported || *epilogue == CUBLASLT_EPILOGUE_DEFAULT) {
          throw;
        }
      }
    }
    const DType wide = accumulator(shape.dtype);
    sums_ = std::make_unique<Workspace>(static_cast<std::size_t>(shape.batch * shape.out) *
                                        size_bytes(wide));
    product_ =
        std::make_unique<Product>(plan_to(wide), operands(t, sums_->data()), stream, workspace);
  }

  void run(const LayerTensors& t, cudaStream_t stream) const {
    product_->run(operands(t, sums_ ? sums_->data() : t.y), stream);
    if (!sums_) return;
    finish_layer(shape_.dtype, shape_.act, sums_->data(), t.bias, t.y, shape_.batch, shape_.out,
                 stream);
  }
  std::string implementation() const {
    return product_->implementation() + (sums_ ? "; own " + shape_.act : "");
  }

 private:
  ProductPlan plan_to(DType result) const {
    return layer_plan(shape_.dtype, result, shape_.batch, shape_.in, shape_.out);
  }
  static Operands operands(const LayerTensors& t, void* d) {
    return {.a = t.w, .b = t.x, .bias = t.bias, .d = d};
  }

  LayerShape shape_;
  std::unique_ptr<Product> product_;
  std::unique_ptr<Workspace> sums_;  // none with an epilogue
};

/// Layers one after the other, with buffers between them. A single layer is a stack of one.
class StackKernel final : public Kernel {
 public:
  StackKernel(const std::vector<LayerShape>& shapes, bool bias, const Binding& binding)
      : stream_(&stream_of(binding)), mode_(mode_of(shapes.front().dtype, *stream_)) {
    const void* x = binding.inputs[0];
    std::size_t input = 1;
    const auto workspace = Product::new_workspace();
    for (const LayerShape& shape : shapes) {
      Step& step = steps_.emplace_back();
      const bool is_last = steps_.size() == shapes.size();
      if (!is_last) {
        step.between = std::make_unique<Workspace>(
            static_cast<std::size_t>(shape.batch * shape.out) * size_bytes(shape.dtype));
      }
      step.tensors.x = x;
      step.tensors.w = binding.inputs[input++];
      step.tensors.bias = bias ? binding.inputs[input++] : nullptr;
      step.tensors.y = is_last ? binding.outputs[0] : step.between->data();
      step.layer = std::make_unique<Layer>(shape, step.tensors, *stream_, workspace);
      x = step.tensors.y;
    }
  }

  void launch() override {
    make_current(stream_->ordinal());
    check(cudaGetLastError(), "an earlier call");
    for (const Step& step : steps_) step.layer->run(step.tensors, stream_->handle());
    check(cudaGetLastError(), "linear");
  }
  MathMode math_mode() const override { return mode_; }
  /// Each that there is among the layers, once.
  std::string implementation() const override {
    std::string all;
    std::string last;
    for (const Step& step : steps_) {
      const std::string own = step.layer->implementation();
      if (own != last) all += (all.empty() ? "" : "; then ") + own;
      last = own;
    }
    return all;
  }

 private:
  struct Step {
    std::unique_ptr<Layer> layer;
    std::unique_ptr<Workspace> between;  // none behind the last layer
    LayerTensors tensors{};
  };
  CudaStream* stream_;
  MathMode mode_;
  std::vector<Step> steps_;
};

std::unique_ptr<Kernel> linear(const OpInstance& op, const Binding& binding) {
  const LayerShape shape{op.dtype, op.params.integer("batch"), op.params.integer("in"),
                         op.params.integer("out"), op.params.word("act")};
  return std::make_unique<StackKernel>(std::vector{shape}, op.params.integer("bias") != 0, binding);
}

std::unique_ptr<Kernel> linear_stack(const OpInstance& op, const Binding& binding) {
  const std::int64_t width = op.params.integer("width");
  LayerShape shape{op.dtype, op.params.integer("batch"), op.params.integer("in"), width,
                   op.params.word("act")};
  std::vector<LayerShape> shapes{shape};
  shape.in = width;
  shapes.resize(static_cast<std::size_t>(op.params.integer("layers")), shape);
  return std::make_unique<StackKernel>(shapes, op.params.integer("bias") != 0, binding);
}

std::unique_ptr<Kernel> batched_matmul(const OpInstance& op, const Binding& binding) {
  const MathMode mode = mode_of(op.dtype, stream_of(binding));
  const ProductPlan plan =
      batched_plan(op.dtype, op.params.integer("batch"), op.params.integer("m"),
                   op.params.integer("n"), op.params.integer("k"));
  const Operands operands{.a = binding.inputs[1], .b = binding.inputs[0], .d = binding.outputs[0]};
  const auto product = std::make_shared<Product>(plan, operands, stream_of(binding));
  return std::make_unique<FunctionKernel>(
      product->implementation(), binding,
      [=](cudaStream_t stream) { product->run(operands, stream); }, Waits::no, mode);
}

constexpr KernelRow rows[] = {
    {"linear", linear},
    {"linear_stack", linear_stack},
    {"batched_matmul", batched_matmul},
};

}  // namespace

std::span<const KernelRow> product_kernels() { return rows; }

}  // namespace assay::cuda
