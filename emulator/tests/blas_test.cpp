// libcublas: its products are those of libcublasLt, whose tests hold their bits to models.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "emulator/tests/emulated_process.h"

namespace emulator::test {
namespace {

#define EXPECT_BLAS(call) EXPECT_EQ(call, CUBLAS_STATUS_SUCCESS)

template <class T>
T* upload(const std::vector<T>& values) {
  T* data = nullptr;
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), values.size() * sizeof(T)), cudaSuccess);
  EXPECT_BLAS(
      cublasSetVector(static_cast<int>(values.size()), sizeof(T), values.data(), 1, data, 1));
  return data;
}
template <class T>
std::vector<T> download(const T* data, std::size_t count) {
  std::vector<T> values(count);
  EXPECT_BLAS(cublasGetVector(static_cast<int>(count), sizeof(T), data, 1, values.data(), 1));
  return values;
}

/// Small whole numbers, whose products and sums are exact.
template <class T>
std::vector<T> numbers(std::size_t count, int seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5);
  return values;
}

struct Shape {
  cublasOperation_t a_op, b_op;
  int m, n, k, batch;
};

/// alpha op(A) op(B) + beta C of column-major matrices, each with two rows more than it needs.
template <class T>
void expect_product(const Shape& s,
                    const std::function<cublasStatus_t(cublasHandle_t, const T*, const T*, int,
                                                       const T*, int, const T*, T*, int)>& call) {
  const bool a_t = s.a_op != CUBLAS_OP_N, b_t = s.b_op != CUBLAS_OP_N;
  const int lda = (a_t ? s.k : s.m) + 2, ldb = (b_t ? s.n : s.k) + 2, ldc = s.m + 2;
  const auto size = [&](int leading, int cols) {
    return static_cast<std::size_t>(leading) * static_cast<std::size_t>(cols * s.batch);
  };
  const auto a = numbers<T>(size(lda, a_t ? s.m : s.k), 1),
             b = numbers<T>(size(ldb, b_t ? s.k : s.n), 2);
  auto expected = numbers<T>(size(ldc, s.n), 3);
  T *on_a = upload(a), *on_b = upload(b), *on_c = upload(expected);
  const auto at = [&](const std::vector<T>& x, int leading, int cols, int which, bool transposed,
                      int row, int col) {
    if (transposed) std::swap(row, col);
    return x[size(leading, cols) / static_cast<std::size_t>(s.batch) *
                 static_cast<std::size_t>(which) +
             static_cast<std::size_t>(col * leading + row)];
  };
  for (int which = 0; which < s.batch; ++which)
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j) {
        T sum = 0;
        for (int l = 0; l < s.k; ++l)
          sum += at(a, lda, a_t ? s.m : s.k, which, a_t, i, l) *
                 at(b, ldb, b_t ? s.k : s.n, which, b_t, l, j);
        T& c = expected[static_cast<std::size_t>(which * ldc * s.n + j * ldc + i)];
        c = 2 * sum - c;
      }
  cublasHandle_t handle = nullptr;
  EXPECT_BLAS(cublasCreate(&handle));
  const T alpha = 2, beta = -1;
  EXPECT_BLAS(call(handle, &alpha, on_a, lda, on_b, ldb, &beta, on_c, ldc));
  EXPECT_EQ(download(on_c, expected.size()), expected);
  EXPECT_BLAS(cublasDestroy(handle));
}

const std::vector<Shape> shapes = {{CUBLAS_OP_N, CUBLAS_OP_N, 5, 3, 4, 1},
                                   {CUBLAS_OP_T, CUBLAS_OP_N, 4, 6, 3, 1},
                                   {CUBLAS_OP_N, CUBLAS_OP_C, 3, 5, 7, 1},
                                   {CUBLAS_OP_T, CUBLAS_OP_T, 1, 2, 8, 1}};

TEST(Blas, Products) {
  on_gpus(1, [] {
    for (const Shape& s : shapes) {
      expect_product<float>(s, [&](auto h, auto alpha, auto a, int lda, auto b, int ldb, auto beta,
                                   auto c, int ldc) {
        return cublasSgemm(h, s.a_op, s.b_op, s.m, s.n, s.k, alpha, a, lda, b, ldb, beta, c, ldc);
      });
      expect_product<double>(s, [&](auto h, auto alpha, auto a, int lda, auto b, int ldb, auto beta,
                                    auto c, int ldc) {
        return cublasDgemm(h, s.a_op, s.b_op, s.m, s.n, s.k, alpha, a, lda, b, ldb, beta, c, ldc);
      });
      expect_product<float>(
          s, [&](auto h, auto alpha, auto a, int lda, auto b, int ldb, auto beta, auto c, int ldc) {
            return cublasGemmEx(h, s.a_op, s.b_op, s.m, s.n, s.k, alpha, a, CUDA_R_32F, lda, b,
                                CUDA_R_32F, ldb, beta, c, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                                CUBLAS_GEMM_DEFAULT);
          });
    }
  });
}

TEST(Blas, BatchesOfProducts) {
  on_gpus(1, [] {
    for (Shape s : shapes) {
      s.batch = 3;
      const bool a_t = s.a_op != CUBLAS_OP_N, b_t = s.b_op != CUBLAS_OP_N;
      expect_product<float>(
          s, [&](auto h, auto alpha, auto a, int lda, auto b, int ldb, auto beta, auto c, int ldc) {
            return cublasSgemmStridedBatched(
                h, s.a_op, s.b_op, s.m, s.n, s.k, alpha, a, lda, lda * (a_t ? s.m : s.k), b, ldb,
                ldb * (b_t ? s.k : s.n), beta, c, ldc, ldc * s.n, s.batch);
          });
    }
  });
}

TEST(Blas, BatchesThatAnArrayNames) {
  on_gpus(1, [] {
    for (Shape s : shapes) {
      s.batch = 3;
      const bool a_t = s.a_op != CUBLAS_OP_N, b_t = s.b_op != CUBLAS_OP_N;
      // The matrices of each batch in another order than they lie in.
      const auto named = [](auto* first, int elements) {
        return upload(std::vector{first + 2 * elements, first, first + elements});
      };
      const auto arrays = [&](auto call) {
        return
            [=](auto h, auto alpha, auto a, int lda, auto b, int ldb, auto beta, auto c, int ldc) {
              return call(h, alpha, named(a, lda * (a_t ? s.m : s.k)), lda,
                          named(b, ldb * (b_t ? s.k : s.n)), ldb, beta, named(c, ldc * s.n), ldc);
            };
      };
      expect_product<float>(s, arrays([&](auto h, auto alpha, auto a, int lda, auto b, int ldb,
                                          auto beta, auto c, int ldc) {
                              return cublasSgemmBatched(h, s.a_op, s.b_op, s.m, s.n, s.k, alpha, a,
                                                        lda, b, ldb, beta, c, ldc, s.batch);
                            }));
      expect_product<double>(s, arrays([&](auto h, auto alpha, auto a, int lda, auto b, int ldb,
                                           auto beta, auto c, int ldc) {
                               return cublasGemmBatchedEx(
                                   h, s.a_op, s.b_op, s.m, s.n, s.k, alpha,
                                   reinterpret_cast<const void**>(a), CUDA_R_64F, lda,
                                   reinterpret_cast<const void**>(b), CUDA_R_64F, ldb, beta,
                                   reinterpret_cast<void**>(c), CUDA_R_64F, ldc, s.batch,
                                   CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT);
                             }));
    }
  });
}

TEST(Blas, AnArrayOnTheHostIsAFault) {
  const std::string errors = on_gpus(1, [] {
    cublasHandle_t handle = nullptr;
    EXPECT_BLAS(cublasCreate(&handle));
    float* x = upload(std::vector<float>(4, 1));
    float* pointers[] = {x};
    const float one = 1;
    EXPECT_BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, pointers, 2,
                                   pointers, 2, &one, pointers, 2, 1));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
  EXPECT_NE(errors.find("its address"), std::string::npos) << errors;
}

TEST(Blas, TakesTheStreamOfItsHandle) {
  on_gpus(1, [] {
    cublasHandle_t handle = nullptr;
    cudaStream_t stream = nullptr, found = nullptr;
    EXPECT_BLAS(cublasCreate(&handle));
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_BLAS(cublasSetStream(handle, stream));
    EXPECT_BLAS(cublasGetStream(handle, &found));
    EXPECT_EQ(found, stream);
    float* x = upload(std::vector<float>{1, 2, 3});
    const float two = 2;
    cudaDeviceSynchronize();
    EXPECT_BLAS(cublasSscal(handle, 3, &two, x, 1));
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(download(x, 3), (std::vector<float>{2, 4, 6}));
  });
}

TEST(Blas, Vectors) {
  on_gpus(1, [] {
    cublasHandle_t handle = nullptr;
    EXPECT_BLAS(cublasCreate(&handle));
    double *x = upload(std::vector<double>{3, -4, 0, 7}),
           *y = upload(std::vector<double>{1, 2, 3, 4});
    double result = 0;
    int index = 0;
    EXPECT_BLAS(cublasDdot(handle, 4, x, 1, y, 1, &result));
    EXPECT_EQ(result, 3 - 8 + 28);
    EXPECT_BLAS(cublasDdot(handle, 2, x, 2, y, -3, &result));  // from y's end
    EXPECT_EQ(result, 3 * 4 + 0 * 1);
    EXPECT_BLAS(cublasDnrm2(handle, 2, x, 1, &result));
    EXPECT_EQ(result, 5);
    EXPECT_BLAS(cublasDasum(handle, 4, x, 1, &result));
    EXPECT_EQ(result, 14);
    EXPECT_BLAS(cublasIdamax(handle, 4, x, 1, &index));
    EXPECT_EQ(index, 4);
    EXPECT_BLAS(cublasIdamin(handle, 4, x, 1, &index));
    EXPECT_EQ(index, 3);
    const double alpha = 10;
    EXPECT_BLAS(cublasDaxpy(handle, 4, &alpha, x, 1, y, 1));
    EXPECT_EQ(download(y, 4), (std::vector<double>{31, -38, 3, 74}));
    EXPECT_BLAS(cublasDswap(handle, 2, x, 1, y, 1));
    EXPECT_EQ(download(x, 4), (std::vector<double>{31, -38, 0, 7}));
    EXPECT_BLAS(cublasDcopy(handle, 4, x, 1, y, 1));
    EXPECT_EQ(download(y, 4), (std::vector<double>{31, -38, 0, 7}));
  });
}

TEST(Blas, ResultsAndFactorsOnTheDevice) {
  on_gpus(1, [] {
    cublasHandle_t handle = nullptr;
    EXPECT_BLAS(cublasCreate(&handle));
    EXPECT_BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    float *x = upload(std::vector<float>{1, 2, 3}), *factor = upload(std::vector<float>{3}),
          *result = upload(std::vector<float>{0});
    EXPECT_BLAS(cublasSscal(handle, 3, factor, x, 1));
    EXPECT_BLAS(cublasSasum(handle, 3, x, 1, result));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(download(result, 1), std::vector<float>{18});
  });
}

TEST(Blas, RefusesWhatIsWrong) {
  on_gpus(1, [] {
    cublasHandle_t handle = nullptr;
    float* x = upload(std::vector<float>(16));
    const float one = 1;
    EXPECT_EQ(cublasSscal(handle, 3, &one, x, 1), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_BLAS(cublasCreate(&handle));
    EXPECT_EQ(cublasSscal(handle, 3, nullptr, x, 1), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 2, &one, x, 3, x, 2, &one, x, 4),
              CUBLAS_STATUS_INVALID_VALUE);  // A's columns lie closer than they are long
    EXPECT_BLAS(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 2, &one, x, 4, x, 2, &one, x, 4));
    EXPECT_BLAS(cublasDestroy(handle));
    EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_NOT_INITIALIZED);
  });
}

TEST(Blas, PastTheEndIsAFault) {
  const std::string errors = on_gpus(1, [] {
    cublasHandle_t handle = nullptr;
    EXPECT_BLAS(cublasCreate(&handle));
    float* x = upload(std::vector<float>(16));
    const float one = 1;
    EXPECT_BLAS(cublasSscal(handle, 17, &one, x, 1));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
  EXPECT_NE(errors.find("cublasSscal"), std::string::npos) << errors;
}

TEST(Blas, ACallThatIsMissingNamesItself) {
  const std::string errors = on_gpus(1, [] {
    cublasHandle_t handle = nullptr;
    EXPECT_BLAS(cublasCreate(&handle));
    float* x = upload(std::vector<float>(16));
    const float one = 1;
    EXPECT_EQ(cublasSsymv(handle, CUBLAS_FILL_MODE_LOWER, 4, &one, x, 4, x, 1, &one, x, 1),
              CUBLAS_STATUS_NOT_SUPPORTED);
  });
  EXPECT_NE(errors.find("cublasSsymv_v2 is not emulated"), std::string::npos) << errors;
}

}  // namespace
}  // namespace emulator::test
