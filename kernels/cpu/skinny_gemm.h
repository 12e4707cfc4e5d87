#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/bfloat16.h"
#include "kernels/core/float16.h"

namespace assay::cpu {

/// Row count up to which own loops are faster, as measured, than library products. Layers of so few
/// rows spend their time on reading the weights. Libraries first widen 16-bit weights and put all
/// weights into another order.
template <class W>
inline constexpr std::int64_t few_rows = std::is_same_v<W, float> ? 2 : 8;

/// y[r][c] = sum over i of x[r][i] w[c][i] (+ bias[c]) in f32. `bias` may be null.
template <class W>
void few_rows_product(std::int64_t rows, std::int64_t cols, std::int64_t k, const float* x,
                      const W* w, const float* bias, float* y);

extern template void few_rows_product(std::int64_t, std::int64_t, std::int64_t, const float*,
                                      const float*, const float*, float*);
extern template void few_rows_product(std::int64_t, std::int64_t, std::int64_t, const float*,
                                      const BFloat16*, const float*, float*);
extern template void few_rows_product(std::int64_t, std::int64_t, std::int64_t, const float*,
                                      const Float16*, const float*, float*);

}  // namespace assay::cpu
