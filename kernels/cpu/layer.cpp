#include "kernels/cpu/layer.h"

#include <vector>

#include "kernels/base/status.h"
#include "kernels/cpu/activations.h"
#include "kernels/cpu/integer_matmul.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/openblas.h"

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

std::string with_act(const std::string& implementation, const std::string& act) {
  return act == "none" ? implementation : implementation + "; own " + act;
}

DnnlMatmul::Shape product_of(const Layer::Shape& shape) {
  return {
      .m = shape.batch, .n = shape.out, .k = shape.in, .b_transposed = true, .bias = shape.bias};
}

/// f32, and 16-bit floats where oneDNN multiplies them itself. An activation that is not exact
/// needs the sums in f32: rounded to 16 bits before it, they would be rounded twice.
class DnnlLayer final : public Layer {
 public:
  DnnlLayer(DType dtype, const Shape& shape, const std::string& act)
      : act_(act),
        outputs_(shape.batch * shape.out),
        sums_in_f32_(dtype != DType::f32 && act.starts_with("gelu")),
        dtype_(dtype),
        product_(dtype, sums_in_f32_ ? DType::f32 : dtype, product_of(shape)),
        sums_(sums_in_f32_ ? static_cast<std::size_t>(outputs_) : 0) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    product_.run(x, w, bias, sums_in_f32_ ? sums_.data() : y);
    visit_dtype(dtype_, [&]<class T>(std::type_identity<T>) {
      if constexpr (is_narrow_float<T> || std::is_same_v<T, float>) {
        auto* to = static_cast<T*>(y);
        if (!sums_in_f32_) return activate_in_place(act_, to, outputs_);
        with_activation(act_, [&](auto function) {
          map_rows<T>(dense(outputs_), function, to, static_cast<const float*>(sums_.data()));
        });
      }
    });
  }
  std::string implementation() const override { return with_act(product_.implementation(), act_); }

 private:
  std::string act_;
  std::int64_t outputs_;
  bool sums_in_f32_;
  DType dtype_;
  DnnlMatmul product_;
  std::vector<float> sums_;
};

/// 16-bit floats where the library has no product of them: each is an f32, so the product is taken
/// in f32 and rounded once. The conversions are part of each launch.
template <class T>
class WidenedLayer final : public Layer {
 public:
  WidenedLayer(const Shape& shape, const std::string& act)
      : act_(act),
        product_(DType::f32, DType::f32, product_of(shape)),
        x_(static_cast<std::size_t>(shape.batch * shape.in)),
        w_(static_cast<std::size_t>(shape.out * shape.in)),
        bias_(static_cast<std::size_t>(shape.bias ? shape.out : 0)),
        y_(static_cast<std::size_t>(shape.batch * shape.out)) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    widen(x, x_);
    widen(w, w_);
    if (!bias_.empty()) widen(bias, bias_);
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
  static void widen(const void* from, std::vector<float>& to) {
    map_rows<float>(dense(std::ssize(to)), Identity{}, to.data(), static_cast<const T*>(from));
  }

  std::string act_;
  DnnlMatmul product_;
  std::vector<float> x_, w_, bias_, y_;
};

/// f64, which oneDNN does not have.
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

class IntegerLayer final : public Layer {
 public:
  IntegerLayer(const Shape& shape, const std::string& act)
      : shape_(shape), act_(act), product_(shape.batch, shape.out, shape.in) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    auto* to = static_cast<std::int32_t*>(y);
    product_.run(static_cast<const std::int8_t*>(x), static_cast<const std::int8_t*>(w),
                 shape_.bias ? static_cast<const std::int32_t*>(bias) : nullptr, to);
    if (act_ != "relu") return;
    map_rows<std::int32_t>(dense(shape_.batch * shape_.out), Relu{}, to,
                           static_cast<const std::int32_t*>(to));
  }
  std::string implementation() const override {
    return with_act("own loops, 16-bit products", act_);
  }

 private:
  Shape shape_;
  std::string act_;
  IntegerMatmul product_;
};

template <class T>
std::unique_ptr<Layer> narrow_layer(DType dtype, const Layer::Shape& shape,
                                    const std::string& act) {
  try {
    return std::make_unique<DnnlLayer>(dtype, shape, act);
  } catch (const DeviceError& error) {
    if (error.failure() != Failure::unsupported) throw;
    return std::make_unique<WidenedLayer<T>>(shape, act);
  }
}

}  // namespace

std::unique_ptr<Layer> make_layer(DType dtype, const Layer::Shape& shape, const std::string& act) {
  switch (dtype) {
    case DType::f64:
      return std::make_unique<BlasLayer>(shape, act);
    case DType::f32:
      return std::make_unique<DnnlLayer>(dtype, shape, act);
    case DType::bf16:
      return narrow_layer<BFloat16>(dtype, shape, act);
    case DType::f16:
      return narrow_layer<Float16>(dtype, shape, act);
    case DType::i8:
      return std::make_unique<IntegerLayer>(shape, act);
    default:
      throw DeviceError(Failure::unsupported, "cpu has no linear in " + std::string(name(dtype)));
  }
}

}  // namespace assay::cpu
