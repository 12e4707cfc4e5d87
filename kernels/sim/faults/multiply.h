#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "kernels/sim/launch.h"

// A plain product, for faults with their own way of adding its terms.
namespace assay::sim {

/// y = x W^T + b of one dtype T, summed by `sum_row(x row, w row, bias) -> T`.
template <class T, class SumRow>
void multiply(Launch& launch, const SumRow& sum_row) {
  const Params& params = launch.op().params;
  const auto in = static_cast<std::size_t>(params.integer("in"));
  const auto out = static_cast<std::size_t>(params.integer("out"));
  const auto x = launch.input<T>(0);
  const auto w = launch.input<T>(1);
  const bool bias = params.integer("bias") != 0;
  visit_dtype(output_dtype(launch.op()), [&]<class Y>(std::type_identity<Y>) {
    const std::span<Y> y = launch.output<Y>();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t row = i / out;
      const std::size_t col = i % out;
      const Y added = bias ? launch.input<Y>(2)[col] : Y{};
      y[i] = sum_row(x.subspan(row * in, in), w.subspan(col * in, in), added);
    }
  });
}

/// Calls f for f32, tf32 and narrower floats.
template <class F>
void for_products_in_f32(Launch& launch, const F& f) {
  visit_dtype(launch.op().dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, float> || is_narrow_float<T>) {
      f(std::type_identity<T>{});
    } else {
      launch.right();
    }
  });
}

}  // namespace assay::sim
