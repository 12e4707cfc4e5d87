#include "kernels/core/status.h"
#include "kernels/cpu/activations.h"
#include "kernels/cpu/integer_matmul.h"
#include "kernels/cpu/layer_parts.h"
#include "kernels/cpu/map.h"

namespace assay::cpu {
namespace {

void activate(const std::string& act, std::int32_t* y, std::int64_t n) {
  if (act != "relu") return;
  map_rows<std::int32_t>({.shape = {n}}, Relu{}, y, static_cast<const std::int32_t*>(y));
}

/// A layer by oneDNN, except for the bias, which oneDNN would convert to f32.
class DnnlIntegerLayer final : public Layer {
 public:
  DnnlIntegerLayer(const Shape& shape, const std::string& act)
      : shape_(shape), act_(act), product_(DType::i8, DType::i32, without_bias(shape)) {}

  bool is_exact() const { return product_.sums_integers_exactly(); }

  void run(const void* x, const void* w, const void* bias, void* y) override {
    auto* to = static_cast<std::int32_t*>(y);
    product_.run(x, w, nullptr, to);
    if (shape_.bias) add(static_cast<const std::int32_t*>(bias), to);
    activate(act_, to, shape_.batch * shape_.out);
  }
  std::string implementation() const override { return with_act(product_.implementation(), act_); }

 private:
  static DnnlMatmul::Shape without_bias(const Shape& shape) {
    DnnlMatmul::Shape product = product_of(shape);
    product.bias = false;
    return product;
  }

  void add(const std::int32_t* bias, std::int32_t* y) const {
    parallel_blocks(shape_.batch, shape_.out * 4,
                    [&](std::int64_t, std::int64_t first, std::int64_t count) {
                      for (std::int64_t row = first; row < first + count; ++row) {
                        add_row(bias, y + row * shape_.out, shape_.out);
                      }
                    });
  }

  /// Adds the bias; sums wrap.
  ASSAY_VECTOR_CLONES static void add_row(const std::int32_t* bias, std::int32_t* y,
                                          std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(y[i]) +
                                       static_cast<std::uint32_t>(bias[i]));
    }
  }

  Shape shape_;
  std::string act_;
  DnnlMatmul product_;
};

class OwnIntegerLayer final : public Layer {
 public:
  OwnIntegerLayer(const Shape& shape, const std::string& act)
      : shape_(shape), act_(act), product_(shape.batch, shape.out, shape.in) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    auto* to = static_cast<std::int32_t*>(y);
    product_.run(static_cast<const std::int8_t*>(x), static_cast<const std::int8_t*>(w),
                 shape_.bias ? static_cast<const std::int32_t*>(bias) : nullptr, to);
    activate(act_, to, shape_.batch * shape_.out);
  }
  std::string implementation() const override {
    return with_act("own loops, 16-bit products", act_);
  }

 private:
  Shape shape_;
  std::string act_;
  IntegerMatmul product_;
};

}  // namespace

std::unique_ptr<Layer> make_integer_layer(const Layer::Shape& shape, const std::string& act) {
  try {
    auto layer = std::make_unique<DnnlIntegerLayer>(shape, act);
    if (layer->is_exact()) return layer;
  } catch (const DeviceError& error) {
    if (error.failure() != Failure::unsupported) throw;
  }
  return std::make_unique<OwnIntegerLayer>(shape, act);
}

}  // namespace assay::cpu
