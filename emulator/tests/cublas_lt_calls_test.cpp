#include <cstdlib>

#include "emulator/tests/cublas_lt_support.h"

namespace emulator {
namespace {

TEST(CublasLtCalls, RefuseAnAttributeOfAnotherSize) {
  const Product product(f32, 16, 16, 16);
  const std::int64_t eight = 1;
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(product.description, CUBLASLT_MATMUL_DESC_TRANSA, &eight, 8),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(product.description, CUBLASLT_MATMUL_DESC_FAST_ACCUM,
                                           &eight, 4),
            CUBLAS_STATUS_INVALID_VALUE)
      << "one byte";
  EXPECT_EQ(
      cublasLtMatrixLayoutSetAttribute(product.a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &eight, 8),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatmulPreferenceSetAttribute(
                product.preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &eight, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(product.description, CUBLASLT_MATMUL_DESC_TRANSA, nullptr, 4),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(
                product.description, static_cast<cublasLtMatmulDescAttributes_t>(99), &eight, 4),
            CUBLAS_STATUS_INVALID_VALUE);
}

TEST(CublasLtCalls, RefuseNullAndDestroyedHandles) {
  const Product product(f32, 16, 16, 16);
  const OnGpu<float> data(std::vector<float>(256, 1));
  const float one = 1;
  const auto run = [&](cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                       cublasLtMatrixLayout_t a, const void* alpha) {
    return cublasLtMatmul(handle, description, alpha, data.data(), a, data.data(), product.b, &one,
                          data.data(), product.d, data.data(), product.d, nullptr,
                          product.workspace, workspace_bytes, nullptr);
  };
  EXPECT_EQ(run(nullptr, product.description, product.a, &one), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(run(product.handle, nullptr, product.a, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(run(product.handle, product.description, nullptr, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(run(product.handle, product.description, product.a, nullptr),
            CUBLAS_STATUS_INVALID_VALUE);
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 16, 16, 16);
  cublasLtMatrixLayoutDestroy(layout);
  EXPECT_EQ(run(product.handle, product.description, layout, &one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(layout), CUBLAS_STATUS_INVALID_VALUE);
}

TEST(CublasLtCalls, RefuseAWorkspaceThatIsTooSmallOrUnaligned) {
  Product product(f32, 64, 64, 256);
  const OnGpu<float> a(std::vector<float>(64 * 256, 1));
  const OnGpu<float> d(64 * 64);
  void* const whole = product.workspace;
  for (const auto& result : product.found()) {
    if (result.workspaceSize == 0 || result.state != CUBLAS_STATUS_SUCCESS) continue;
    const auto run = [&] { return product.run(a.data(), a.data(), d.data(), &result.algo); };
    product.workspace_size = result.workspaceSize;
    EXPECT_EQ(run(), CUBLAS_STATUS_SUCCESS);
    product.workspace_size = result.workspaceSize - 1;
    EXPECT_EQ(run(), CUBLAS_STATUS_INVALID_VALUE);
    product.workspace_size = workspace_bytes;
    product.workspace = nullptr;
    EXPECT_EQ(run(), CUBLAS_STATUS_INVALID_VALUE);
    product.workspace = static_cast<char*>(whole) + 128;
    EXPECT_EQ(run(), CUBLAS_STATUS_INVALID_VALUE);
    product.workspace = whole;
  }
}

TEST(CublasLtCalls, RefusePointersThatAreAlignedLessThanTheSearchWasTold) {
  const Product product(f32, 16, 16, 64);
  const OnGpu<float> a(std::vector<float>(16 * 64 + 1, 1));
  const OnGpu<float> d(16 * 16 + 1);
  int refused = 0;
  int taken = 0;
  for (const auto& result : product.found()) {
    if (result.state != CUBLAS_STATUS_SUCCESS) continue;
    const auto status = product.run(a.data() + 1, a.data(), d.data(), &result.algo);
    refused += status == CUBLAS_STATUS_INVALID_VALUE ? 1 : 0;
    taken += status == CUBLAS_STATUS_SUCCESS ? 1 : 0;
  }
  EXPECT_GE(refused, 3);
  EXPECT_GE(taken, 1) << "some need no alignment";
  const auto* const odd = reinterpret_cast<const char*>(a.data()) + 2;
  EXPECT_EQ(product.run(odd, a.data(), d.data(), nullptr), CUBLAS_STATUS_INVALID_VALUE);
}

TEST(CublasLtCalls, RefuseABiasThatIsMissingOrUnaligned) {
  const Product product(bf16, 16, 16, 16, CUBLASLT_EPILOGUE_BIAS);
  const OnGpu<std::uint16_t> data(std::vector<std::uint16_t>(1024, 0));
  EXPECT_EQ(product.run(data.data(), data.data(), data.data() + 512, nullptr),
            CUBLAS_STATUS_INVALID_VALUE)
      << "BIAS_POINTER is null";
  product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER,
              static_cast<const void*>(reinterpret_cast<const char*>(data.data()) + 1));
  EXPECT_EQ(product.run(data.data(), data.data(), data.data() + 512, nullptr),
            CUBLAS_STATUS_INVALID_VALUE);
  product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(data.data()));
  EXPECT_EQ(product.run(data.data(), data.data(), data.data() + 512, nullptr),
            CUBLAS_STATUS_SUCCESS);
}

TEST(CublasLtCalls, RefuseAForeignAlgorithm) {
  const Product product(f32, 16, 16, 16);
  const Product other(f64, 16, 16, 16);
  const OnGpu<double> data(std::vector<double>(1024, 1));
  const cublasLtMatmulAlgo_t nothing{};
  EXPECT_EQ(product.run(data.data(), data.data(), data.data() + 512, &nothing),
            CUBLAS_STATUS_INVALID_VALUE);
  const auto found = other.found();
  EXPECT_EQ(product.run(data.data(), data.data(), data.data() + 512, &found[0].algo),
            CUBLAS_STATUS_INVALID_VALUE);
}

TEST(CublasLtCalls, RefuseAnotherDevicesStream) {
  const Product product(f32, 16, 16, 16);
  const OnGpu<float> data(std::vector<float>(1024, 1));
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(product.run(data.data(), data.data(), data.data() + 512, nullptr, stream),
            CUBLAS_STATUS_INVALID_VALUE)
      << "the handle is of device 0";
  cudaStreamDestroy(stream);
  cudaSetDevice(0);
  EXPECT_EQ(product.run(data.data(), data.data(), data.data() + 512, nullptr),
            CUBLAS_STATUS_SUCCESS);
  cudaDeviceSynchronize();
}

TEST(CublasLtStreams, AFaultOfAnOperandSticksToTheContext) {
  // In a process of its own: nothing heals a context.
  const auto run = [](bool writes) {
    const Product product(f32, 16, 16, 16);
    const OnGpu<float> a(std::vector<float>(256, 1));
    const OnGpu<float> b(256);  // never written
    const OnGpu<float> d(256);
    if (writes) cudaMemset(b.data(), 0, 1024);
    EXPECT_EQ(product.run(a.data(), b.data(), d.data(), nullptr), CUBLAS_STATUS_SUCCESS);
    std::exit(cudaDeviceSynchronize() == cudaSuccess ? 0 : 3);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run(true), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(run(false), testing::ExitedWithCode(3), "cublasLtMatmul, matrix B");
}

}  // namespace
}  // namespace emulator
