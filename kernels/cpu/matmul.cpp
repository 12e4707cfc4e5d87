#include <type_traits>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/layer.h"
#include "kernels/cpu/narrow_product.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/openblas.h"

namespace assay::cpu {
namespace {

/// Layers in sequence, with buffers of the op's dtype between them. A single layer is a stack of
/// one.
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
    std::vector<std::byte> y;  // empty for the last layer
  };

  const void* x_;
  void* y_;
  std::vector<Step> steps_;
};

std::unique_ptr<Kernel> linear(const OpInstance& op, const Binding& binding) {
  const Layer::Shape shape{op.params.integer("batch"), op.params.integer("in"),
                           op.params.integer("out"), op.params.integer("bias") != 0};
  return std::make_unique<StackKernel>(op.dtype(), std::vector{shape}, op.params.word("act"),
                                       binding);
}

std::unique_ptr<Kernel> linear_stack(const OpInstance& op, const Binding& binding) {
  const std::int64_t batch = op.params.integer("batch");
  const std::int64_t width = op.params.integer("width");
  const bool bias = op.params.integer("bias") != 0;
  std::vector<Layer::Shape> shapes{{batch, op.params.integer("in"), width, bias}};
  shapes.resize(static_cast<std::size_t>(op.params.integer("layers")), {batch, width, width, bias});
  return std::make_unique<StackKernel>(op.dtype(), shapes, op.params.word("act"), binding);
}

std::unique_ptr<Kernel> by_blas(const DnnlMatmul::Shape& shape, const Binding& binding) {
  const auto* a = static_cast<const double*>(binding.inputs[0]);
  const auto* b = static_cast<const double*>(binding.inputs[1]);
  auto* y = static_cast<double*>(binding.outputs[0]);
  return std::make_unique<FunctionKernel>(
      dgemm_implementation() + (shape.matrices > 1 ? " per matrix" : ""), [=] {
        Dgemm{.m = shape.m,
              .n = shape.n,
              .k = shape.k,
              .a_transposed = shape.a_transposed,
              .b_transposed = shape.b_transposed}
            .run_all(shape.matrices, a, b, y);
      });
}

std::unique_ptr<Kernel> by_library(const DnnlMatmul::Shape& shape, const Binding& binding) {
  auto product = std::make_shared<DnnlMatmul>(DType::f32, DType::f32, shape);
  const std::string implementation = product->implementation();
  return std::make_unique<FunctionKernel>(
      implementation, [product, a = binding.inputs[0], b = binding.inputs[1],
                       y = binding.outputs[0]] { product->run(a, b, nullptr, y); });
}

template <class T>
std::unique_ptr<Kernel> narrow_product(const DnnlMatmul::Shape& shape, const Binding& binding) {
  auto product = std::make_shared<NarrowProduct<T>>(shape, NarrowProduct<T>::Output::rounded);
  const std::string implementation = product->implementation();
  return std::make_unique<FunctionKernel>(
      implementation, [product, a = static_cast<const T*>(binding.inputs[0]),
                       b = static_cast<const T*>(binding.inputs[1]),
                       y = binding.outputs[0]] { product->run(a, b, nullptr, y); });
}

std::unique_ptr<Kernel> product(const DnnlMatmul::Shape& shape, const OpInstance& op,
                                const Binding& binding) {
  return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    if constexpr (std::is_same_v<T, double>) {
      return by_blas(shape, binding);
    } else if constexpr (std::is_same_v<T, float>) {
      return by_library(shape, binding);
    } else {
      return narrow_product<T>(shape, binding);
    }
  });
}

std::unique_ptr<Kernel> batched_matmul(const OpInstance& op, const Binding& binding) {
  const DnnlMatmul::Shape shape{.matrices = op.params.integer("batch"),
                                .m = op.params.integer("m"),
                                .n = op.params.integer("n"),
                                .k = op.params.integer("k")};
  return product(shape, op, binding);
}

/// dx [batch][in] = dy [batch][out] w [out][in].
std::unique_ptr<Kernel> linear_dx(const OpInstance& op, const Binding& binding) {
  const DnnlMatmul::Shape shape{
      .m = op.params.integer("batch"), .n = op.params.integer("in"), .k = op.params.integer("out")};
  return product(shape, op, binding);
}

/// dw [out][in] = dy [batch][out]^T x [batch][in].
std::unique_ptr<Kernel> linear_dw(const OpInstance& op, const Binding& binding) {
  const DnnlMatmul::Shape shape{.m = op.params.integer("out"),
                                .n = op.params.integer("in"),
                                .k = op.params.integer("batch"),
                                .a_transposed = true};
  return product(shape, op, binding);
}

constexpr KernelRow rows[] = {
    {"linear", linear},       {"linear_stack", linear_stack},     {"linear_dx", linear_dx},
    {"linear_dw", linear_dw}, {"batched_matmul", batched_matmul},
};

}  // namespace

std::span<const KernelRow> matmul_kernels() { return rows; }

}  // namespace assay::cpu
