#include "kernels/cpu/layer.h"

#include <vector>

#include "kernels/core/status.h"
#include "kernels/cpu/activations.h"
#include "kernels/cpu/layer_parts.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/openblas.h"
#include "kernels/cpu/skinny_gemm.h"

namespace assay::cpu {
namespace {

/// Calls `f` with the function object of that name; `none` gives Identity.
template <class F>
void with_activation(const std::string& act, const F& f) {
  if (act == "relu") {
    f(Relu{});
  } else if (act == "gelu") {
    f(Gelu{});
  } else if (act == "gelu_tanh") {
    f(GeluTanh{});
  } else {
    f(Identity{});
  }
}

TensorSpec dense(std::int64_t elements) { return {.shape = {elements}}; }

template <class T>
void activate_in_place(const std::string& act, T* y, std::int64_t n) {
  if (act == "none") return;
  with_activation(
      act, [&](auto function) { map_rows<T>(dense(n), function, y, static_cast<const T*>(y)); });
}

template <class T>
void widen(const void* from, std::vector<float>& to) {
  map_rows<float>(dense(std::ssize(to)), Identity{}, to.data(), static_cast<const T*>(from));
}

std::vector<float> floats(std::int64_t n) {
  return std::vector<float>(static_cast<std::size_t>(n));
}

/// Layer of few rows for f32 and 16-bit floats, computed in f32.
template <class T>
class FewRowsLayer final : public Layer {
 public:
  FewRowsLayer(const Shape& shape, const std::string& act)
      : shape_(shape),
        act_(act),
        x_(floats(is_f32 ? 0 : shape.batch * shape.in)),
        bias_(floats(is_f32 || !shape.bias ? 0 : shape.out)),
        y_(floats(shape.batch * shape.out)) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    const float* rows = x_.data();
    const float* added = bias_.data();
    if constexpr (is_f32) {
      rows = static_cast<const float*>(x);
      added = static_cast<const float*>(bias);
    } else {
      widen<T>(x, x_);
      if (shape_.bias) widen<T>(bias, bias_);
    }
    few_rows_product(shape_.batch, shape_.out, shape_.in, rows, static_cast<const T*>(w),
                     shape_.bias ? added : nullptr, y_.data());
    with_activation(act_, [&](auto function) {
      map_rows<T>(dense(std::ssize(y_)), function, static_cast<T*>(y),
                  static_cast<const float*>(y_.data()));
    });
  }
  std::string implementation() const override { return with_act(loop_text, act_); }

 private:
  static constexpr bool is_f32 = std::is_same_v<T, float>;
  Shape shape_;
  std::string act_;
  std::vector<float> x_, bias_, y_;
};

/// Layer for f32.
class DnnlLayer final : public Layer {
 public:
  DnnlLayer(const Shape& shape, const std::string& act)
      : act_(act),
        outputs_(shape.batch * shape.out),
        product_(DType::f32, DType::f32, product_of(shape)) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    product_.run(x, w, bias, y);
    activate_in_place(act_, static_cast<float*>(y), outputs_);
  }
  std::string implementation() const override { return with_act(product_.implementation(), act_); }

 private:
  std::string act_;
  std::int64_t outputs_;
  DnnlMatmul product_;
};

/// Layer for 16-bit floats: converts to f32, computes the product there and rounds once, after the
/// activation. Each launch includes the conversions. oneDNN's own bf16 products use AVX-512 or
/// tiles, which treat subnormal factors as zeros (docs/deviations.md).
template <class T>
class WidenedLayer final : public Layer {
 public:
  WidenedLayer(const Shape& shape, const std::string& act)
      : act_(act),
        product_(DType::f32, DType::f32, product_of(shape)),
        x_(floats(shape.batch * shape.in)),
        w_(floats(shape.out * shape.in)),
        bias_(floats(shape.bias ? shape.out : 0)),
        y_(floats(shape.batch * shape.out)) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    widen<T>(x, x_);
    widen<T>(w, w_);
    if (!bias_.empty()) widen<T>(bias, bias_);
    product_.run(x_.data(), w_.data(), bias_.data(), y_.data());
    with_activation(act_, [&](auto function) {
      map_rows<T>(dense(std::ssize(y_)), function, static_cast<T*>(y),
                  static_cast<const float*>(y_.data()));
    });
  }
  std::string implementation() const override {
    return with_act(product_.implementation() + " in f32, 16 bits widened", act_);
  }

 private:
  std::string act_;
  DnnlMatmul product_;
  std::vector<float> x_, w_, bias_, y_;
};

/// Layer for f64, which oneDNN does not support.
class BlasLayer final : public Layer {
 public:
  BlasLayer(const Shape& shape, const std::string& act)
      : shape_(shape),
        act_(act),
        product_{.m = shape.batch,
                 .n = shape.out,
                 .k = shape.in,
                 .b_transposed = true,
                 .add = shape.bias} {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    auto* to = static_cast<double*>(y);
    const auto* added = static_cast<const double*>(bias);
    if (shape_.bias) {
      parallel_blocks(shape_.batch, shape_.out * 8,
                      [&](std::int64_t, std::int64_t first, std::int64_t count) {
                        for (std::int64_t row = first; row < first + count; ++row) {
                          std::copy_n(added, shape_.out, to + row * shape_.out);
                        }
                      });
    }
    product_.run(static_cast<const double*>(x), static_cast<const double*>(w), to);
    activate_in_place(act_, to, shape_.batch * shape_.out);
  }
  std::string implementation() const override { return with_act(dgemm_implementation(), act_); }

 private:
  Shape shape_;
  std::string act_;
  Dgemm product_;
};

template <class T>
std::unique_ptr<Layer> float_layer(const Layer::Shape& shape, const std::string& act) {
  if (shape.batch <= few_rows<T>) return std::make_unique<FewRowsLayer<T>>(shape, act);
  if constexpr (std::is_same_v<T, float>) {
    return std::make_unique<DnnlLayer>(shape, act);
  } else {
    return std::make_unique<WidenedLayer<T>>(shape, act);
  }
}

}  // namespace

std::unique_ptr<Layer> make_layer(DType dtype, const Layer::Shape& shape, const std::string& act) {
  switch (dtype) {
    case DType::f64:
      return std::make_unique<BlasLayer>(shape, act);
    case DType::f32:
      return float_layer<float>(shape, act);
    case DType::bf16:
      return float_layer<BFloat16>(shape, act);
    case DType::f16:
      return float_layer<Float16>(shape, act);
    case DType::i8:
      return make_integer_layer(shape, act);
    default:
      throw DeviceError(Failure::not_here, "cpu has no linear in " + std::string(name(dtype)));
  }
}

}  // namespace assay::cpu
