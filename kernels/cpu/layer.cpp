#include "kernels/cpu/layer.h"

#include <vector>

#include "kernels/core/status.h"
#include "kernels/cpu/activations.h"
#include "kernels/cpu/bf16_unit.h"
#include "kernels/cpu/layer_parts.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/narrow_product.h"
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

/// y = act(x), rounded to T.
template <class T>
void activate(const std::string& act, const std::vector<float>& x, void* y) {
  with_activation(act, [&](auto function) {
    map_rows<T>(dense(std::ssize(x)), function, static_cast<T*>(y), x.data());
  });
}

std::vector<float> floats(std::int64_t n) {
  return std::vector<float>(static_cast<std::size_t>(n));
}

/// Layer of few rows for f32 and 16-bit floats, computed in f32.
template <class T>
class FewRowsLayer final : public Layer {
 public:
  static std::int64_t max_rows() { return has_unit() ? few_rows_of_unit : few_rows<T>; }

  FewRowsLayer(const Shape& shape, const std::string& act)
      : shape_(shape),
        act_(act),
        x_(floats(is_f32 ? 0 : shape.batch * shape.in)),
        bias_(floats(is_f32 || !shape.bias ? 0 : shape.out)),
        y_(floats(shape.batch * shape.out)) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    multiply(static_cast<const T*>(x), static_cast<const T*>(w), static_cast<const T*>(bias));
    activate<T>(act_, y_, y);
  }
  std::string implementation() const override {
    return with_act(has_unit() ? "VDPBF16PS loop; in f32 where products are tiny" : loop_text,
                    act_);
  }

 private:
  static constexpr bool is_f32 = std::is_same_v<T, float>;
  static bool has_unit() { return std::is_same_v<T, BFloat16> && has_bf16_unit(); }

  void multiply(const T* x, const T* w, const T* bias) {
    if constexpr (is_f32) {
      few_rows_product(shape_.batch, shape_.out, shape_.in, x, w, shape_.bias ? bias : nullptr,
                       y_.data());
    } else {
      if (shape_.bias) widen(bias, shape_.out, bias_.data());
      const float* added = shape_.bias ? bias_.data() : nullptr;
      if constexpr (std::is_same_v<T, BFloat16>) {
        if (has_unit() &&
            few_rows_by_unit(shape_.batch, shape_.out, shape_.in, x, w, added, y_.data())) {
          return;
        }
      }
      widen(x, std::ssize(x_), x_.data());
      few_rows_product(shape_.batch, shape_.out, shape_.in, x_.data(), w, added, y_.data());
    }
  }

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

/// Layer for 16-bit floats, rounded once: by the product, or after the activation.
template <class T>
class NarrowLayer final : public Layer {
  using Output = typename NarrowProduct<T>::Output;

 public:
  NarrowLayer(const Shape& shape, const std::string& act)
      : act_(act),
        product_(product_of(shape), act == "none" ? Output::rounded : Output::sums),
        y_(floats(act == "none" ? 0 : shape.batch * shape.out)) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    product_.run(static_cast<const T*>(x), static_cast<const T*>(w), static_cast<const T*>(bias),
                 y_.empty() ? y : y_.data());
    if (!y_.empty()) activate<T>(act_, y_, y);
  }
  std::string implementation() const override { return with_act(product_.implementation(), act_); }

 private:
  std::string act_;
  NarrowProduct<T> product_;
  std::vector<float> y_;
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
  if (shape.batch <= FewRowsLayer<T>::max_rows()) {
    return std::make_unique<FewRowsLayer<T>>(shape, act);
  }
  if constexpr (std::is_same_v<T, float>) {
    return std::make_unique<DnnlLayer>(shape, act);
  } else {
    return std::make_unique<NarrowLayer<T>>(shape, act);
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
