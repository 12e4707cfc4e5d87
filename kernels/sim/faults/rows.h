#pragma once

#include <cstddef>

#include "kernels/sim/launch.h"

namespace assay::sim {

/// Calls f(row of x, row of y) for the rows of an op on f32 without gaps.
template <class F>
void for_rows(Launch& launch, const F& f) {
  if (launch.op().format != DType::f32) return launch.right();
  const auto cols = static_cast<std::size_t>(launch.op().params.integer("cols"));
  const auto x = launch.input<float>(0);
  const auto y = launch.output<float>();
  for (std::size_t first = 0; first < y.size(); first += cols) {
    f(x.subspan(first, cols), y.subspan(first, cols));
  }
}

}  // namespace assay::sim
