#include "kernels/cpu/narrow_product.h"

#include <type_traits>
#include <utility>

#include "kernels/core/element_functions.h"
#include "kernels/cpu/bf16_unit.h"
#include "kernels/cpu/map.h"

namespace assay::cpu {
namespace {

std::vector<float> floats(std::int64_t n) {
  return std::vector<float>(static_cast<std::size_t>(n));
}

std::int64_t elements_of_a(const DnnlMatmul::Shape& shape) {
  return shape.matrices * shape.m * shape.k;
}

std::int64_t elements_of_b(const DnnlMatmul::Shape& shape) {
  return shape.matrices * shape.k * shape.n;
}

std::int64_t elements_of_y(const DnnlMatmul::Shape& shape) {
  return shape.matrices * shape.m * shape.n;
}

}  // namespace

template <class T>
void widen(const T* x, std::int64_t n, float* y) {
  map_rows<float>(TensorSpec{.shape = {n}}, Identity{}, y, x);
}

template <class T>
NarrowProduct<T>::NarrowProduct(const DnnlMatmul::Shape& shape, Output output)
    : shape_(shape), output_(output) {
  if (std::is_same_v<T, BFloat16> && has_bf16_unit()) {
    by_unit_.emplace(DType::bf16, output == Output::sums ? DType::f32 : DType::bf16, shape);
  } else {
    widened();
  }
}

template <class T>
NarrowProduct<T>::Widened& NarrowProduct<T>::widened() {
  if (!widened_) {
    widened_.emplace(DnnlMatmul(DType::f32, DType::f32, shape_), floats(elements_of_a(shape_)),
                     floats(elements_of_b(shape_)), floats(shape_.bias ? shape_.n : 0),
                     floats(output_ == Output::sums ? 0 : elements_of_y(shape_)));
  }
  return *widened_;
}

template <class T>
bool NarrowProduct<T>::run_by_unit(const T* a, const T* b, const T* bias, void* y) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    if (!by_unit_) return false;
    if (shape_.bias && !keeps_sums_normal(least_bf16(bias, shape_.n))) return false;
    if (!are_sums_normal(least_bf16(a, elements_of_a(shape_)),
                         least_bf16(b, elements_of_b(shape_)))) {
      return false;
    }
    by_unit_->run(a, b, bias, y);
    return true;
  }
  return false;
}

template <class T>
void NarrowProduct<T>::run(const T* a, const T* b, const T* bias, void* y) {
  if (run_by_unit(a, b, bias, y)) return;
  Widened& wide = widened();
  widen(a, std::ssize(wide.a), wide.a.data());
  widen(b, std::ssize(wide.b), wide.b.data());
  if (shape_.bias) widen(bias, std::ssize(wide.bias), wide.bias.data());
  void* sums = wide.y.empty() ? y : wide.y.data();
  wide.product.run(wide.a.data(), wide.b.data(), wide.bias.data(), sums);
  if (!wide.y.empty()) {
    map_rows<T>(TensorSpec{.shape = {std::ssize(wide.y)}}, Identity{}, static_cast<T*>(y),
                static_cast<const float*>(wide.y.data()));
  }
}

template <class T>
std::string NarrowProduct<T>::implementation() const {
  return by_unit_ ? by_unit_->implementation() + "; in f32 where products are tiny"
                  : widened_->product.implementation() + " in f32, 16 bits widened";
}

template class NarrowProduct<BFloat16>;
template class NarrowProduct<Float16>;
template void widen(const BFloat16*, std::int64_t, float*);
template void widen(const Float16*, std::int64_t, float*);

}  // namespace assay::cpu
