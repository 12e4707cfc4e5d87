#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/matmul_plan.h"

namespace assay::cuda {

/// Computes a plan as the library does: all matrices are column-major.
inline std::vector<double> carried_out(const MatmulPlan& plan, const std::vector<double>& a,
                                       const std::vector<double>& b) {
  std::vector<double> d(static_cast<std::size_t>(plan.batch * plan.m * plan.n));
  for (std::int64_t i = 0; i < plan.batch; ++i) {
    for (std::int64_t row = 0; row < plan.m; ++row) {
      for (std::int64_t col = 0; col < plan.n; ++col) {
        double sum = 0;
        for (std::int64_t l = 0; l < plan.k; ++l) {
          const std::int64_t in_a =
              plan.a_transposed ? l + row * plan.a_leading : row + l * plan.a_leading;
          const std::int64_t in_b =
              plan.b_transposed ? col + l * plan.b_leading : l + col * plan.b_leading;
          sum += a.at(static_cast<std::size_t>(i * plan.a_stride + in_a)) *
                 b.at(static_cast<std::size_t>(i * plan.b_stride + in_b));
        }
        d.at(static_cast<std::size_t>(i * plan.d_stride + row + col * plan.d_leading)) = sum;
      }
    }
  }
  return d;
}

}  // namespace assay::cuda
