#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <vector>

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

/// y = x w^T by oneDNN's product of its own interface, whose sums are kept in 32 bits: those of its
/// primitive `matmul` pass through f32.
void multiply(const Layer::Shape& shape, const std::int8_t* x, const std::int8_t* w,
              std::int32_t* y) {
  const std::int32_t no_offset = 0;
  const dnnl_status_t status =
      dnnl_gemm_s8s8s32('N', 'T', 'F', shape.batch, shape.out, shape.in, 1, x, shape.in, 0, w,
                        shape.in, 0, 0, y, shape.out, &no_offset);
  if (status != dnnl_success) {
    throw DeviceError(Failure::unsupported, "dnnl_gemm_s8s8s32: status " + std::to_string(status));
  }
}

/// True if its sums are exact on this CPU. Without instructions for it those of two products
/// saturate at 16 bits, which products of the ends of the range show. So does a sum beyond 2^24
/// that passes through f32.
bool are_sums_exact() {
  constexpr std::int64_t cols = 16;
  constexpr std::int64_t k = 2048;
  for (const std::int64_t rows : {1, 16}) {
    for (const int end : {-128, 127}) {
      const std::vector<std::int8_t> x(static_cast<std::size_t>(rows * k), 127);
      std::vector<std::int8_t> w(static_cast<std::size_t>(cols * k), static_cast<std::int8_t>(end));
      for (std::size_t i = 0; i < w.size(); i += k) w[i] = 1;
      std::vector<std::int32_t> y(static_cast<std::size_t>(rows * cols));
      multiply({.batch = rows, .in = k, .out = cols}, x.data(), w.data(), y.data());
      const std::int64_t expected = 127 * (1 + (k - 1) * std::int64_t{end});
      if (std::ranges::any_of(y, [=](std::int32_t sum) { return sum != expected; })) return false;
    }
  }
  return true;
}

/// A layer by oneDNN, except for the bias, which oneDNN would convert to f32.
class DnnlIntegerLayer final : public Layer {
 public:
  DnnlIntegerLayer(const Shape& shape, const std::string& act) : shape_(shape), act_(act) {}

  void run(const void* x, const void* w, const void* bias, void* y) override {
    auto* to = static_cast<std::int32_t*>(y);
    multiply(shape_, static_cast<const std::int8_t*>(x), static_cast<const std::int8_t*>(w), to);
    if (shape_.bias) add(static_cast<const std::int32_t*>(bias), to);
    activate(act_, to, shape_.batch * shape_.out);
  }
  std::string implementation() const override {
    return with_act(dnnl_version_text() + " gemm_s8s8s32", act_);
  }

 private:
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
  static const bool is_exact = are_sums_exact();
  if (is_exact) return std::make_unique<DnnlIntegerLayer>(shape, act);
  return std::make_unique<OwnIntegerLayer>(shape, act);
}

}  // namespace assay::cpu
