#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "kernels/core/format.h"

namespace assay::cuda {

/// Enqueues y [rows][cols] = act(sums + bias), rounded once. sums [rows][cols] have the accumulator
/// type of `format`, y its result_dtype. bias [cols] has y's dtype, or is null. y may be sums.
void layer_epilogue(Format format, const std::string& act, const void* sums, const void* bias,
                    void* y, std::int64_t rows, std::int64_t cols, cudaStream_t stream);

}  // namespace assay::cuda
