#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/cuda/block_scales.h"
#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/layer.h"
#include "kernels/cuda/real_data.h"

namespace assay::cuda {
namespace {

/// Summation mode of the stream's GPU for a dtype. Throws DeviceError(unsupported).
MathMode mode_of(Format format, const CudaStream& stream) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, stream.ordinal()),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, stream.ordinal()),
        "cudaDeviceGetAttribute");
  require_units(format, major, minor);
  return matmul_mode(format, major);
}

/// Scales of a block-scaled layer, which each launch puts into the order of the library.
class LayerScales {
 public:
  LayerScales(const OpInstance& op, const Binding& binding)
      : x_(*block_format(op.format), op.params.integer("batch"), op.params.integer("in")),
        w_(*block_format(op.format), op.params.integer("out"), op.params.integer("in")),
        given_x_(binding.inputs[binding.inputs.size() - 2]),
        given_w_(binding.inputs[binding.inputs.size() - 1]) {}

  void arrange(cudaStream_t stream) const {
    x_.arrange(given_x_, stream);
    w_.arrange(given_w_, stream);
  }
  const void* of_x() const { return x_.data(); }
  const void* of_w() const { return w_.data(); }

 private:
  TiledScales x_, w_;
  const void* given_x_;  // row-major
  const void* given_w_;
};

/// Layers in sequence, with buffers between them. A single layer, or product, is a stack of one.
class StackKernel final : public Kernel {
 public:
  StackKernel(const OpInstance& op, const std::vector<LayerShape>& shapes, bool bias,
              const Binding& binding)
      : stream_(&stream_of(binding)), mode_(mode_of(shapes.front().format, *stream_)) {
    if (block_format(op.format) != nullptr) scales_.emplace(op, binding);
    const void* x = binding.inputs[0];
    std::size_t input = 1;  // of the op
    const auto workspace = LtMatmul::new_workspace();
    SearchBudget budget;
    const auto fill = [&](std::size_t of, void* to) {
      fill_as_timed(op, of, to, stream_->handle());
    };
    for (const LayerShape& shape : shapes) {
      Step& step = steps_.emplace_back();
      const FillOperands fill_real = [&, weights = input](void* w, void* x_real, void* b) {
        fill(weights, w);
        if (b != nullptr) fill(weights + 1, b);
        fill_input(op, bias, x_real);
      };
      const bool is_last = steps_.size() == shapes.size();
      if (!is_last) {
        step.between = std::make_unique<Workspace>(
            static_cast<std::size_t>(shape.rows * shape.cols) * size_bytes(shape.format.stored()));
      }
      step.tensors.x = x;
      step.tensors.w = binding.inputs[input++];
      step.tensors.bias = bias ? binding.inputs[input++] : nullptr;
      step.tensors.y = is_last ? binding.outputs[0] : step.between->data();
      if (scales_) {
        step.tensors.x_scales = scales_->of_x();
        step.tensors.w_scales = scales_->of_w();
      }
      step.layer =
          std::make_unique<Layer>(shape, step.tensors, *stream_, workspace, fill_real, budget);
      x = step.tensors.y;
    }
  }

  void launch() override {
    make_current(stream_->ordinal());
    check(cudaGetLastError(), "an earlier call");
    if (scales_) scales_->arrange(stream_->handle());
    for (const Step& step : steps_) step.layer->run(step.tensors, stream_->handle());
    check(cudaGetLastError(), "a product");
  }
  MathMode math_mode() const override { return mode_; }
  /// Lists each implementation among the layers once.
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
  std::string wrong_algorithms() const override {
    std::vector<std::string> seen;
    std::string all;
    for (const Step& step : steps_) {
      for (const std::string& algorithm : step.layer->wrong_algorithms()) {
        if (std::ranges::find(seen, algorithm) != seen.end()) continue;
        seen.push_back(algorithm);
        all += (all.empty() ? CublasLt::instance().version_text() + ": " : "; ") + algorithm;
      }
    }
    return all;
  }

 private:
  struct Step {
    std::unique_ptr<Layer> layer;
    std::unique_ptr<Workspace> between;  // null after the last layer
    LayerTensors tensors{};
  };

  /// Writes the input that the last step so far has when the op is timed: real data that went
  /// through the layers before.
  void fill_input(const OpInstance& op, bool has_bias, void* to) const {
    const auto filled = [&](std::size_t input) {
      auto tensor = std::make_unique<Workspace>(op.signature.inputs.at(input).bytes());
      fill_as_timed(op, input, tensor->data(), stream_->handle());
      return tensor;
    };
    const std::size_t before = steps_.size() - 1;
    if (before == 0) return fill_as_timed(op, 0, to, stream_->handle());
    std::unique_ptr<Workspace> x = filled(0);
    for (std::size_t layer = 0; layer < before; ++layer) {
      const std::size_t weights = 1 + layer * (has_bias ? 2 : 1);
      const auto w = filled(weights);
      const auto b = has_bias ? filled(weights + 1) : nullptr;
      const bool is_last = layer + 1 == before;
      auto y = is_last ? nullptr : std::make_unique<Workspace>(steps_[layer].between->bytes());
      steps_[layer].layer->run(
          {x->data(), w->data(), b ? b->data() : nullptr, is_last ? to : y->data()},
          stream_->handle());
      stream_->synchronize();  // before its tensors are released
      x = std::move(y);
    }
  }

  CudaStream* stream_;
  MathMode mode_;
  std::optional<LayerScales> scales_;
  std::vector<Step> steps_;
};

LayerShape layer_shape(const OpInstance& op, std::int64_t in, std::int64_t out) {
  const std::int64_t batch = op.params.integer("batch");
  return {op.format, op.params.word("act"), batch, out, [=, format = op.format](DType result) {
            return layer_plan(format, result, batch, in, out);
          }};
}

std::unique_ptr<Kernel> linear(const OpInstance& op, const Binding& binding) {
  const std::vector shapes{layer_shape(op, op.params.integer("in"), op.params.integer("out"))};
  return std::make_unique<StackKernel>(op, shapes, op.params.integer("bias") != 0, binding);
}

std::unique_ptr<Kernel> linear_stack(const OpInstance& op, const Binding& binding) {
  const std::int64_t width = op.params.integer("width");
  std::vector<LayerShape> shapes{layer_shape(op, op.params.integer("in"), width)};
  shapes.resize(static_cast<std::size_t>(op.params.integer("layers")),
                layer_shape(op, width, width));
  return std::make_unique<StackKernel>(op, shapes, op.params.integer("bias") != 0, binding);
}

/// Gradient of a layer: `rows` rows of `cols` elements.
std::unique_ptr<Kernel> gradient(const OpInstance& op, const Binding& binding,
                                 decltype(layer_plan)& plan_of) {
  const Shape& y = op.signature.outputs[0].shape;
  const std::int64_t batch = op.params.integer("batch");
  const std::int64_t in = op.params.integer("in");
  const std::int64_t out = op.params.integer("out");
  const LayerShape product{op.format, "none", y.at(0), y.at(1),
                           [=, &plan_of, format = op.format](DType result) {
                             return plan_of(format, result, batch, in, out);
                           }};
  return std::make_unique<StackKernel>(op, std::vector{product}, false, binding);
}

std::unique_ptr<Kernel> linear_dx(const OpInstance& op, const Binding& binding) {
  return gradient(op, binding, dx_plan);
}

std::unique_ptr<Kernel> linear_dw(const OpInstance& op, const Binding& binding) {
  return gradient(op, binding, dw_plan);
}

std::unique_ptr<Kernel> batched_matmul(const OpInstance& op, const Binding& binding) {
  const std::int64_t batch = op.params.integer("batch");
  const std::int64_t m = op.params.integer("m");
  const std::int64_t n = op.params.integer("n");
  const std::int64_t k = op.params.integer("k");
  const LayerShape products{op.format, "none", batch * m, n, [=, format = op.format](DType result) {
                              return batched_plan(format, result, batch, m, n, k);
                            }};
  return std::make_unique<StackKernel>(op, std::vector{products}, false, binding);
}

constexpr KernelRow rows[] = {
    {"linear", linear},       {"linear_stack", linear_stack},     {"linear_dx", linear_dx},
    {"linear_dw", linear_dw}, {"batched_matmul", batched_matmul},
};

}  // namespace

std::span<const KernelRow> matmul_kernels() { return rows; }

}  // namespace assay::cuda
