#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/core/choice_file.h"
#include "kernels/cuda/matmul_plan.h"

// Choices of algorithms as a file of choices holds them.
namespace assay::cuda {

/// Lists all that the library's proposals for a product depend on: "m=96 n=64 k=1024 batch=1 ...".
std::string plan_text(const MatmulPlan& plan, std::uintptr_t bias_offset);

/// Writes an algorithm as digits. cublasLt.h: it "can be trivially serialized and later restored
/// for use with the same version of cuBLAS library".
std::string digits_of(const cublasLtMatmulAlgo_t& algorithm);
/// Empty for other texts.
std::optional<cublasLtMatmulAlgo_t> algorithm_of(const std::string& digits);

}  // namespace assay::cuda
