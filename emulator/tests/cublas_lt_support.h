#pragma once

#include <cublasLt.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "emulator/numbers/number.h"
#include "emulator/tests/libraries_support.h"

// Shared by the tests of the cuBLASLt stand-in: a product, its types, and its exact sums.
namespace emulator {

inline const EmulatedGpus gpus("h100", 2);
inline constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

/// The bytes of one element.
template <class Bits>
Bits as(double value, const FloatFormat& format) {
  return static_cast<Bits>(encode(value, format));
}

struct Types {
  cudaDataType_t factors, result;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};

/// A product in the TN format with what its search proposes.
class Product {
 public:
  Product(const Types& t, std::int64_t m, std::int64_t n, std::int64_t k,
          std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT)
      : types_(t) {
    EXPECT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtMatmulDescCreate(&description, t.compute, t.scale), CUBLAS_STATUS_SUCCESS);
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    cublasLtMatrixLayoutCreate(&a, t.factors, static_cast<std::uint64_t>(k),
                               static_cast<std::uint64_t>(m), k);
    cublasLtMatrixLayoutCreate(&b, t.factors, static_cast<std::uint64_t>(k),
                               static_cast<std::uint64_t>(n), k);
    cublasLtMatrixLayoutCreate(&d, t.result, static_cast<std::uint64_t>(m),
                               static_cast<std::uint64_t>(n), m);
    EXPECT_EQ(cublasLtMatmulPreferenceCreate(&preference), CUBLAS_STATUS_SUCCESS);
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
    EXPECT_EQ(cudaMalloc(&workspace, workspace_bytes), cudaSuccess);
  }
  ~Product() {
    cudaFree(workspace);
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatrixLayoutDestroy(d);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatmulDescDestroy(description);
    cublasLtDestroy(handle);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t which, const T& value) const {
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(description, which, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
  template <class T>
  void prefer(cublasLtMatmulPreferenceAttributes_t which, const T& value) const {
    EXPECT_EQ(cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }

  cublasStatus_t search(std::vector<cublasLtMatmulHeuristicResult_t>& found) const {
    found.resize(16);
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, description, a, b, d, d, preference, 16, found.data(), &count);
    found.resize(static_cast<std::size_t>(count));
    return status;
  }
  std::vector<cublasLtMatmulHeuristicResult_t> found() const {
    std::vector<cublasLtMatmulHeuristicResult_t> all;
    EXPECT_EQ(search(all), CUBLAS_STATUS_SUCCESS);
    return all;
  }

  /// With alpha = 1 and beta = 0 unless set.
  cublasStatus_t run(const void* a_data, const void* b_data, void* d_data,
                     const cublasLtMatmulAlgo_t* algorithm, cudaStream_t stream = nullptr) const {
    const double f64[] = {alpha, beta};
    const float f32[] = {float(alpha), float(beta)};
    const std::int32_t i32[] = {std::int32_t(alpha), std::int32_t(beta)};
    const void *one = f32, *zero = f32 + 1;
    if (types_.scale == CUDA_R_64F) one = f64, zero = f64 + 1;
    if (types_.scale == CUDA_R_32I) one = i32, zero = i32 + 1;
    return cublasLtMatmul(handle, description, one, a_data, a, b_data, b, zero,
                          c_data == nullptr ? d_data : c_data, d, d_data, d, algorithm, workspace,
                          workspace_size, stream);
  }

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_size = workspace_bytes;
  const void* c_data = nullptr;
  double alpha = 1, beta = 0;

 private:
  Types types_;
};

inline constexpr Types f32{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
inline constexpr Types f64{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
inline constexpr Types tf32{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
inline constexpr Types i8{CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I};
inline constexpr Types f16{CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
inline constexpr Types bf16{CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
inline constexpr Types f8{CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
inline constexpr Types f8_f32{CUDA_R_8F_E4M3, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};

/// Random factors, a [m][k] and b [n][k], and the exact sums d [n][m] beside those of magnitudes.
struct Reference {
  std::vector<double> a, b, sums, magnitudes;
  Reference(std::int64_t m, std::int64_t n, std::int64_t k, auto&& draw) {
    for (std::int64_t i = 0; i < m * k; ++i) a.push_back(draw());
    for (std::int64_t i = 0; i < n * k; ++i) b.push_back(draw());
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        long double sum = 0;
        long double magnitude = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const long double term =
              static_cast<long double>(a[static_cast<std::size_t>(i * k + l)]) *
              b[static_cast<std::size_t>(j * k + l)];
          sum += term;
          magnitude += std::fabs(term);
        }
        sums.push_back(static_cast<double>(sum));
        magnitudes.push_back(static_cast<double>(magnitude));
      }
    }
  }
};

template <class T>
std::vector<T> converted(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}
template <class Bits>
std::vector<Bits> encoded(const std::vector<double>& values, const FloatFormat& format) {
  std::vector<Bits> bits;
  for (const double value : values) bits.push_back(as<Bits>(value, format));
  return bits;
}

/// Launches every algorithm and gives each one's result to `judge`. Returns how many ran.
template <class T, class D, class Judge>
int for_each_algorithm(const Product& product, const std::vector<T>& a, const std::vector<T>& b,
                       std::size_t results, const Judge& judge) {
  const OnGpu<T> a_data(a);
  const OnGpu<T> b_data(b);
  int ran = 0;
  for (const auto& result : product.found()) {
    if (result.state != CUBLAS_STATUS_SUCCESS) continue;
    const OnGpu<D> d_data(results);
    const cublasStatus_t status =
        product.run(a_data.data(), b_data.data(), d_data.data(), &result.algo);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) continue;
    EXPECT_EQ(status, CUBLAS_STATUS_SUCCESS);
    judge(d_data.elements());
    ++ran;
  }
  return ran;
}

}  // namespace emulator
