#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/core/bfloat16.h"
#include "kernels/core/float16.h"
#include "kernels/cpu/onednn.h"

namespace assay::cpu {

/// y = a b (+ bias) of 16-bit floats, with sums in f32. bf16 takes the processor's own
/// products where there are such and they are right for these factors (bf16_unit.h). All others are
/// widened to f32 first; each launch includes that.
template <class T>
class NarrowProduct {
 public:
  enum class Output {
    sums,     // y is f32
    rounded,  // y is T
  };
  NarrowProduct(const DnnlMatmul::Shape& shape, Output output);

  /// `bias` is ignored if the shape has none.
  void run(const T* a, const T* b, const T* bias, void* y);
  std::string implementation() const;

 private:
  struct Widened {
    DnnlMatmul product;
    std::vector<float> a, b, bias, y;  // no y for Output::sums
  };

  bool run_by_unit(const T* a, const T* b, const T* bias, void* y);
  Widened& widened();

  DnnlMatmul::Shape shape_;
  Output output_;
  std::optional<DnnlMatmul> by_unit_;
  std::optional<Widened> widened_;  // with a unit: made when first needed
};

extern template class NarrowProduct<BFloat16>;
extern template class NarrowProduct<Float16>;

/// y[i] = x[i]
template <class T>
void widen(const T* x, std::int64_t n, float* y);
extern template void widen(const BFloat16*, std::int64_t, float*);
extern template void widen(const Float16*, std::int64_t, float*);

}  // namespace assay::cpu
