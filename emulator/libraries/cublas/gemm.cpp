// Products of matrices: cuBLASLt's, under the rules of that library.
#include <array>
#include <cstdint>

#include "emulator/libraries/cublas/handle.h"

namespace emulator::cublas {
namespace {

struct Matrix {
  const void* data;
  cudaDataType type;
  std::int64_t leading, stride;  // elements
  bool is_by_pointers = false;   // `data` is an array of addresses
};

struct Product {
  cublasOperation_t a_op, b_op;
  std::int64_t m, n, k;
  const void *alpha, *beta;
  Matrix a, b, c;
  cublasComputeType_t compute;
  int batch = 1;
};

/// The type of alpha and beta: cublasGemmEx, table of supported types.
cudaDataType scale_of(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

/// The compute type of cublasSgemm under a math mode.
cublasComputeType_t compute_of_single(const Handle& handle) {
  if (handle.math == CUBLAS_TF32_TENSOR_OP_MATH) return CUBLAS_COMPUTE_32F_FAST_TF32;
  return handle.math == CUBLAS_PEDANTIC_MATH ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
}

/// Objects of cuBLASLt for one call.
class Layout {
 public:
  Layout(const Matrix& matrix, std::int64_t rows, std::int64_t cols, std::int32_t batch) {
    cublasLtMatrixLayoutCreate(&layout_, matrix.type, static_cast<std::uint64_t>(rows),
                               static_cast<std::uint64_t>(cols), matrix.leading);
    if (batch == 1 && !matrix.is_by_pointers) return;
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
    if (matrix.is_by_pointers) {
      set(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, CUBLASLT_BATCH_MODE_POINTER_ARRAY);
      return;
    }
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride);
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  template <class T>
  void set(cublasLtMatrixLayoutAttribute_t which, T value) {
    cublasLtMatrixLayoutSetAttribute(layout_, which, &value, sizeof value);
  }
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class Description {
 public:
  Description(const Product& product, cublasPointerMode_t mode) {
    cublasLtMatmulDescCreate(&description_, product.compute, scale_of(product.compute));
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(product.a_op));
    set(CUBLASLT_MATMUL_DESC_TRANSB, static_cast<std::int32_t>(product.b_op));
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, static_cast<std::int32_t>(mode));
  }
  ~Description() { cublasLtMatmulDescDestroy(description_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  cublasLtMatmulDesc_t get() const { return description_; }

 private:
  void set(cublasLtMatmulDescAttributes_t which, std::int32_t value) {
    cublasLtMatmulDescSetAttribute(description_, which, &value, sizeof value);
  }
  cublasLtMatmulDesc_t description_ = nullptr;
};

cublasStatus_t run(const Handle& handle, Product p, const char* call) {
  // Real numbers are their own conjugates.
  if (p.a_op == CUBLAS_OP_C) p.a_op = CUBLAS_OP_T;
  if (p.b_op == CUBLAS_OP_C) p.b_op = CUBLAS_OP_T;
  const bool is_a_transposed = p.a_op != CUBLAS_OP_N, is_b_transposed = p.b_op != CUBLAS_OP_N;
  const auto is_wrong = [](const Matrix& matrix, std::int64_t rows) {
    return matrix.leading < rows || matrix.leading < 1;
  };
  const std::int64_t a_rows = is_a_transposed ? p.k : p.m, b_rows = is_b_transposed ? p.n : p.k;
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0 || is_wrong(p.a, a_rows) ||
      is_wrong(p.b, b_rows) || is_wrong(p.c, p.m) || p.alpha == nullptr || p.beta == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return CUBLAS_STATUS_SUCCESS;
  if (p.k == 0) return lacks(call, " of matrices without columns");
  const Layout a(p.a, a_rows, is_a_transposed ? p.m : p.k, p.batch),
      b(p.b, b_rows, is_b_transposed ? p.k : p.n, p.batch), c(p.c, p.m, p.n, p.batch);
  const Description description(p, handle.pointer_mode);
  const cublasStatus_t status = cublasLtMatmul(
      handle.products, description.get(), p.alpha, p.a.data, a.get(), p.b.data, b.get(), p.beta,
      p.c.data, c.get(), const_cast<void*>(p.c.data), c.get(), nullptr, nullptr, 0, handle.stream);
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? lacks(call, " of these types or shapes") : status;
}

cublasStatus_t run(const char* call, cublasHandle_t handle, cublasOperation_t a_op,
                   cublasOperation_t b_op, int m, int n, int k, const void* alpha, const Matrix& a,
                   const Matrix& b, const void* beta, const Matrix& c, cublasComputeType_t compute,
                   int batch) {
  const auto found = find(handle);
  if (found == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return run(*found, {a_op, b_op, m, n, k, alpha, beta, a, b, c, compute, batch}, call);
}

/// All of one type, which tells how it is computed.
cublasStatus_t run(const char* call, cublasHandle_t handle, cublasOperation_t a_op,
                   cublasOperation_t b_op, int m, int n, int k, const void* alpha, const Matrix& a,
                   const Matrix& b, const void* beta, const Matrix& c, int batch) {
  const auto found = find(handle);
  if (found == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cublasComputeType_t compute = c.type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                      : c.type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                                             : compute_of_single(*found);
  return run(call, handle, a_op, b_op, m, n, k, alpha, a, b, beta, c, compute, batch);
}

}  // namespace
}  // namespace emulator::cublas

using namespace emulator::cublas;

extern "C" {

#define GEMM(letter, T, type)                                                                     \
  cublasStatus_t letter(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op,    \
                        int m, int n, int k, const T* alpha, const T* a, int lda, const T* b,     \
                        int ldb, const T* beta, T* c, int ldc) {                                  \
    return run(#letter, handle, a_op, b_op, m, n, k, alpha, {a, type, lda, 0}, {b, type, ldb, 0}, \
               beta, {c, type, ldc, 0}, 1);                                                       \
  }
GEMM(cublasSgemm_v2, float, CUDA_R_32F)
GEMM(cublasDgemm_v2, double, CUDA_R_64F)
GEMM(cublasHgemm, __half, CUDA_R_16F)
#undef GEMM

#define GEMM(letter, T, type)                                                                  \
  cublasStatus_t letter(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, \
                        int m, int n, int k, const T* alpha, const T* a, int lda,              \
                        long long a_stride, const T* b, int ldb, long long b_stride,           \
                        const T* beta, T* c, int ldc, long long c_stride, int batch) {         \
    return run(#letter, handle, a_op, b_op, m, n, k, alpha, {a, type, lda, a_stride},          \
               {b, type, ldb, b_stride}, beta, {c, type, ldc, c_stride}, batch);               \
  }
GEMM(cublasSgemmStridedBatched, float, CUDA_R_32F)
GEMM(cublasDgemmStridedBatched, double, CUDA_R_64F)
GEMM(cublasHgemmStridedBatched, __half, CUDA_R_16F)
#undef GEMM

#define GEMM(letter, T, type)                                                                  \
  cublasStatus_t letter(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, \
                        int m, int n, int k, const T* alpha, const T* const a[], int lda,      \
                        const T* const b[], int ldb, const T* beta, T* const c[], int ldc,     \
                        int batch) {                                                           \
    return run(#letter, handle, a_op, b_op, m, n, k, alpha, {a, type, lda, 0, true},           \
               {b, type, ldb, 0, true}, beta, {c, type, ldc, 0, true}, batch);                 \
  }
GEMM(cublasSgemmBatched, float, CUDA_R_32F)
GEMM(cublasDgemmBatched, double, CUDA_R_64F)
GEMM(cublasHgemmBatched, __half, CUDA_R_16F)
#undef GEMM

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t a_op,
                                   cublasOperation_t b_op, int m, int n, int k, const void* alpha,
                                   const void* const a[], cudaDataType a_type, int lda,
                                   const void* const b[], cudaDataType b_type, int ldb,
                                   const void* beta, void* const c[], cudaDataType c_type, int ldc,
                                   int batch, cublasComputeType_t compute,
                                   cublasGemmAlgo_t /*algorithm*/) {
  return run("cublasGemmBatchedEx", handle, a_op, b_op, m, n, k, alpha, {a, a_type, lda, 0, true},
             {b, b_type, ldb, 0, true}, beta, {c, c_type, ldc, 0, true}, compute, batch);
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType a_type, int lda, long long a_stride,
    const void* b, cudaDataType b_type, int ldb, long long b_stride, const void* beta, void* c,
    cudaDataType c_type, int ldc, long long c_stride, int batch, cublasComputeType_t compute,
    cublasGemmAlgo_t /*algorithm*/) {
  return run("cublasGemmStridedBatchedEx", handle, a_op, b_op, m, n, k, alpha,
             {a, a_type, lda, a_stride}, {b, b_type, ldb, b_stride}, beta,
             {c, c_type, ldc, c_stride}, compute, batch);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t /*algorithm*/) {
  return run("cublasGemmEx", handle, a_op, b_op, m, n, k, alpha, {a, a_type, lda, 0},
             {b, b_type, ldb, 0}, beta, {c, c_type, ldc, 0}, compute, 1);
}

}  // extern "C"
