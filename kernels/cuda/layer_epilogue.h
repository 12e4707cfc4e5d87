#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "kernels/core/dtype.h"

namespace assay::cuda {

/// Enqueues y [rows][cols] = act(sums + bias), rounded once. sums [rows][cols] have the accumulator
/// type of `dtype`, y its product_dtype. bias [cols] has y's dtype, or is null. y may be sums.
void layer_epilogue(DType dtype, const std::string& act, const void* sums, const void* bias,
                    void* y, std::int64_t rows, std::int64_t cols, cudaStream_t stream);

}  // namespace assay::cuda
