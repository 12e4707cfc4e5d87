#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/core/lines.h"
#include "kernels/sim/launch.h"

// A plain product, for faults with their own way of adding its terms.
namespace assay::sim {

/// True for a product that `multiply` computes: one without an activation.
inline bool is_plain_product(const OpInstance& op) {
  const ParamValue* act = op.params.find("act");
  return op.signature.is_product && (act == nullptr || op.params.word("act") == "none");
}

/// y = x W^T + b of one dtype T (Signature::is_product), each element summed by `sum_row(x line, w
/// line, bias) -> T`.
template <class T, class SumRow>
void multiply(Launch& launch, const SumRow& sum_row) {
  const Signature& s = launch.op().signature;
  if (!s.is_product) return launch.right();
  const auto in = static_cast<std::size_t>(s.inputs[0].line_elements());
  const auto out = static_cast<std::size_t>(s.outputs[0].shape.at(1));
  std::vector<T> lines_of_x;
  std::vector<T> lines_of_w;
  const auto x = first_lines(launch.input<T>(0), s.inputs[0], s.outputs[0].shape.at(0), lines_of_x);
  const auto w = first_lines(launch.input<T>(1), s.inputs[1], s.outputs[0].shape.at(1), lines_of_w);
  const bool bias = s.inputs.size() > 2;
  visit_computed(output_dtype(launch.op()), [&]<class Y>(std::type_identity<Y>) {
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
  visit_computed(launch.op().dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, float> || is_narrow_float<T>) {
      f(std::type_identity<T>{});
    } else {
      launch.right();
    }
  });
}

}  // namespace assay::sim
