#include <type_traits>
#include <vector>

#include "kernels/base/status.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// Written so that a NaN stays. oneDNN 2.6's own relu turns NaN into 0 and is not used.
ASSAY_VECTOR_CLONES void relu_block(float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] <= 0.0F ? 0.0F : y[i];
}

ASSAY_VECTOR_CLONES void relu_block(BFloat16* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const bool negative_number = y[i].bits >= 0x8000U && y[i].bits <= 0xff80U;
    y[i].bits = negative_number ? std::uint16_t{0} : y[i].bits;
  }
}

ASSAY_VECTOR_CLONES void widen_block(const BFloat16* from, float* to, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

ASSAY_VECTOR_CLONES void narrow_block(const float* from, BFloat16* to, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) to[i] = BFloat16(from[i]);
}

template <class T>
void relu(T* y, std::int64_t n) {
  parallel_blocks(n, sizeof(T), [=](std::int64_t, std::int64_t first, std::int64_t count) {
    relu_block(y + first, count);
  });
}

void widen(const BFloat16* from, std::vector<float>& to) {
  parallel_blocks(std::ssize(to), sizeof(float),
                  [&](std::int64_t, std::int64_t first, std::int64_t count) {
                    widen_block(from + first, to.data() + first, count);
                  });
}

void narrow(const std::vector<float>& from, BFloat16* to) {
  parallel_blocks(std::ssize(from), sizeof(float),
                  [&](std::int64_t, std::int64_t first, std::int64_t count) {
                    narrow_block(from.data() + first, to + first, count);
                  });
}

/// The pointers of one launch; `bias` is null without one.
template <class T>
struct Tensors {
  const T* x;
  const T* w;
  const T* bias;
  T* y;
};

template <class T>
class LibraryLinear final : public Kernel {
 public:
  LibraryLinear(DType dtype, const DnnlMatmul::Shape& shape, bool with_relu, Tensors<T> tensors)
      : matmul_(dtype, shape), outputs_(shape.batch * shape.out), relu_(with_relu), t_(tensors) {}

  void launch() override {
    matmul_.run(t_.x, t_.w, t_.bias, t_.y);
    if (relu_) relu(t_.y, outputs_);
  }
  std::string implementation() const override {
    return matmul_.implementation() + (relu_ ? "; own relu" : "");
  }

 private:
  DnnlMatmul matmul_;
  std::int64_t outputs_;
  bool relu_;
  Tensors<T> t_;
};

/// bf16 where the library has no bf16 product: every bf16 is an f32, so the product is taken in f32
/// and rounded once. The conversions are part of each launch.
class WidenedLinear final : public Kernel {
 public:
  WidenedLinear(const DnnlMatmul::Shape& shape, bool with_relu, Tensors<BFloat16> tensors)
      : matmul_(DType::f32, shape),
        relu_(with_relu),
        t_(tensors),
        x_(static_cast<std::size_t>(shape.batch * shape.in)),
        w_(static_cast<std::size_t>(shape.out * shape.in)),
        bias_(static_cast<std::size_t>(shape.bias ? shape.out : 0)),
        y_(static_cast<std::size_t>(shape.batch * shape.out)) {}

  void launch() override {
    widen(t_.x, x_);
    widen(t_.w, w_);
    if (t_.bias != nullptr) widen(t_.bias, bias_);
    matmul_.run(x_.data(), w_.data(), bias_.data(), y_.data());
    if (relu_) relu(y_.data(), std::ssize(y_));
    narrow(y_, t_.y);
  }
  std::string implementation() const override {
    return matmul_.implementation() + " in f32, bf16 widened" + (relu_ ? "; own relu" : "");
  }

 private:
  DnnlMatmul matmul_;
  bool relu_;
  Tensors<BFloat16> t_;
  std::vector<float> x_, w_, bias_, y_;
};

std::unique_ptr<Kernel> linear(const OpInstance& op, const Binding& binding) {
  const DnnlMatmul::Shape shape{op.params.integer("batch"), op.params.integer("in"),
                                op.params.integer("out"), op.params.integer("bias") != 0};
  const bool with_relu = op.params.word("act") == "relu";
  return for_dtype<float, BFloat16>(op, [&]<class T>(std::type_identity<T>) {
    const Tensors<T> tensors{static_cast<const T*>(binding.inputs[0]),
                             static_cast<const T*>(binding.inputs[1]),
                             shape.bias ? static_cast<const T*>(binding.inputs[2]) : nullptr,
                             static_cast<T*>(binding.outputs[0])};
    if constexpr (std::is_same_v<T, float>) {
      return std::unique_ptr<Kernel>(
          std::make_unique<LibraryLinear<float>>(DType::f32, shape, with_relu, tensors));
    } else {
      try {
        return std::unique_ptr<Kernel>(
            std::make_unique<LibraryLinear<BFloat16>>(DType::bf16, shape, with_relu, tensors));
      } catch (const DeviceError& error) {
        if (error.failure() != Failure::unsupported) throw;
        return std::unique_ptr<Kernel>(std::make_unique<WidenedLinear>(shape, with_relu, tensors));
      }
    }
  });
}

constexpr KernelRow rows[] = {
    {"linear", linear},
};

}  // namespace

std::span<const KernelRow> linear_kernels() { return rows; }

}  // namespace assay::cpu
