#include <cublasLt.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "tests/cuda_emulator/libraries/number.h"
#include "tests/cuda_emulator/tests/libraries_support.h"

namespace emulator {
namespace {

const EmulatedGpus gpus("h100", 2);
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

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

constexpr Types f32{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
constexpr Types f64{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
constexpr Types tf32{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
constexpr Types i8{CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I};
constexpr Types f16{CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
constexpr Types bf16{CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
constexpr Types f8{CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
constexpr Types f8_f32{CUDA_R_8F_E4M3, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};

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

TEST(CublasLtProducts, OfFp32AndFp64StayWithinTheBoundOfTheirSums) {
  Numbers numbers(1);
  const Reference reference(68, 37, 300, [&] { return double(float(numbers.real())); });
  const auto judge = [&](double roundoff) {
    return [&, roundoff](const auto& d) {
      for (std::size_t i = 0; i < d.size(); ++i) {
        EXPECT_LE(std::fabs(d[i] - reference.sums[i]), 301 * roundoff * reference.magnitudes[i]);
      }
    };
  };
  const Product single(f32, 68, 37, 300);
  EXPECT_GE((for_each_algorithm<float, float>(single, converted<float>(reference.a),
                                              converted<float>(reference.b), reference.sums.size(),
                                              judge(0x1p-24))),
            5);
  const Product twice(f64, 68, 37, 300);
  EXPECT_GE((for_each_algorithm<double, double>(twice, reference.a, reference.b,
                                                reference.sums.size(), judge(0x1p-53))),
            5);
}

TEST(CublasLtProducts, OfIntegersAreExact) {
  Numbers numbers(2);
  const Reference reference(36, 19, 128,
                            [&] { return double(std::int8_t(numbers.next() & 0xff)); });
  const Product product(i8, 36, 19, 128);
  EXPECT_GE((for_each_algorithm<std::int8_t, std::int32_t>(
                product, converted<std::int8_t>(reference.a), converted<std::int8_t>(reference.b),
                reference.sums.size(),
                [&](const auto& d) {
                  for (std::size_t i = 0; i < d.size(); ++i) EXPECT_EQ(d[i], reference.sums[i]);
                })),
            3);
}

TEST(CublasLtProducts, OfSmallFloatsRoundOnceFromFp32) {
  Numbers numbers(3);
  // Matrix units cut off: twice FP32's roundoff, once for each step and once for each product.
  constexpr double roundoff = 0x1p-23;
  const auto run = [&](const Types& types, const FloatFormat& format, double result_roundoff) {
    const Reference reference(
        64, 33, 256, [&] { return double(decode(encode(numbers.real(), format), format)); });
    const Product product(types, 64, 33, 256);
    // Partial sums in the result's type would round more often.
    product.prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                   std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    const FloatFormat& result = types.result == CUDA_R_16F ? binary16 : bfloat16;
    const int ran = for_each_algorithm<std::uint16_t, std::uint16_t>(
        product, encoded<std::uint16_t>(reference.a, format),
        encoded<std::uint16_t>(reference.b, format), reference.sums.size(), [&](const auto& d) {
          for (std::size_t i = 0; i < d.size(); ++i) {
            const double value = decode(d[i], result);
            EXPECT_LE(
                std::fabs(value - reference.sums[i]),
                256 * roundoff * reference.magnitudes[i] + result_roundoff * std::fabs(value));
          }
        });
    EXPECT_GE(ran, 4);
  };
  run(f16, binary16, 2 * 0x1p-11);
  run(bf16, bfloat16, 2 * 0x1p-8);
}

TEST(CublasLtProducts, OfFp8AreBetterWithPromotion) {
  Numbers numbers(4);
  const Reference reference(64, 64, 1024,
                            [&] { return double(decode(encode(numbers.real(), e4m3), e4m3)); });
  const auto error = [&](std::int8_t fast) {
    const Product product(f8_f32, 64, 64, 1024);
    product.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast);
    double worst = 0;
    for_each_algorithm<std::uint8_t, float>(
        product, encoded<std::uint8_t>(reference.a, e4m3), encoded<std::uint8_t>(reference.b, e4m3),
        reference.sums.size(), [&](const auto& d) {
          for (std::size_t i = 0; i < d.size(); ++i) {
            worst = std::max(worst, std::fabs(d[i] - reference.sums[i]) / reference.magnitudes[i]);
          }
        });
    return worst;
  };
  const double fast = error(1);
  EXPECT_LT(error(0), fast);
  EXPECT_LT(fast, 32 * 0x1p-13) << "14 bits, cut off at each step of 32 products";
}

TEST(CublasLtProducts, Tf32CutsItsFactorsAndFp32DoesNot) {
  // (1 + 2^-12) * 1 is 1 in TF32.
  const std::vector<float> a(16 * 64, 1 + 0x1p-12F);
  const std::vector<float> b(8 * 64, 1.0F);
  const auto sum = [&](const Types& types) {
    const Product product(types, 16, 8, 64);
    std::set<float> seen;
    for_each_algorithm<float, float>(product, a, b, 16 * 8,
                                     [&](const auto& d) { seen.insert(d.begin(), d.end()); });
    return seen;
  };
  EXPECT_EQ(sum(tf32), std::set{64.0F});
  EXPECT_EQ(sum(f32), std::set{64 + 0x1p-6F});
  const WithFault fault("tf32_for_f32");
  EXPECT_EQ(sum(f32), std::set{64.0F});
}

TEST(CublasLtProducts, SumInDifferentOrders) {
  Numbers numbers(5);
  const Reference reference(64, 8, 512, [&] { return double(float(numbers.real())); });
  const Product product(f32, 64, 8, 512);
  std::set<std::vector<float>> seen;
  const int ran = for_each_algorithm<float, float>(
      product, converted<float>(reference.a), converted<float>(reference.b), reference.sums.size(),
      [&](const auto& d) { seen.insert(d); });
  EXPECT_GE(seen.size(), 4U) << "of " << ran;
}

TEST(CublasLtProducts, ComeBatchByBatchWithPaddingThatIsNeverRead) {
  // Three products of 2 x 2 by 2 x 1, with a leading dimension of 4 whose padding nobody wrote.
  const Product product(f32, 2, 1, 2);
  const std::int32_t batch = 3;
  for (const auto& [layout, leading, stride] :
       {std::tuple{product.a, std::int64_t{4}, std::int64_t{8}},
        std::tuple{product.b, std::int64_t{4}, std::int64_t{4}},
        std::tuple{product.d, std::int64_t{4}, std::int64_t{4}}}) {
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, 4);
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &leading, 8);
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                     8);
  }
  const OnGpu<float> a(24);
  const OnGpu<float> b(12);
  for (int i = 0; i < batch; ++i) {
    const float columns[2][2] = {{1, 2}, {3, float(i)}};
    for (int column = 0; column < 2; ++column) {
      cudaMemcpy(a.data() + i * 8 + column * 4, columns[column], 8, cudaMemcpyHostToDevice);
    }
    const float x[2] = {1, 10};
    cudaMemcpy(b.data() + i * 4, x, 8, cudaMemcpyHostToDevice);
  }
  const OnGpu<float> d(12);
  const auto found = product.found();
  ASSERT_FALSE(found.empty());
  ASSERT_EQ(product.run(a.data(), b.data(), d.data(), nullptr), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < batch; ++i) {
    float y[2];
    cudaMemcpy(y, d.data() + i * 4, 8, cudaMemcpyDeviceToHost);
    EXPECT_EQ(y[0], 21);
    EXPECT_EQ(y[1], 3 + 10.0F * float(i));
  }
}

/// Sums of one product of x with 1 for each x, through an epilogue, in bf16.
std::vector<float> through_epilogue(std::uint32_t epilogue, const std::vector<float>& xs,
                                    float bias_value) {
  constexpr std::int64_t k = 8;
  const auto m = static_cast<std::int64_t>(xs.size());
  const Product product(bf16, m, 8, k, epilogue);
  std::vector<std::uint16_t> a(xs.size() * k);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    for (std::size_t l = 0; l < k; ++l) {
      a[i * k + l] = as<std::uint16_t>(l == 0 ? xs[i] : 0, bfloat16);
    }
  }
  const OnGpu<std::uint16_t> a_data(a);
  const OnGpu<std::uint16_t> b(std::vector<std::uint16_t>(8 * k, as<std::uint16_t>(1, bfloat16)));
  const OnGpu<std::uint16_t> bias(
      std::vector<std::uint16_t>(xs.size(), as<std::uint16_t>(bias_value, bfloat16)));
  const OnGpu<std::uint16_t> d(xs.size() * 8);
  if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
    product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.data()));
    product.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16BF);
  }
  EXPECT_EQ(product.run(a_data.data(), b.data(), d.data(), nullptr), CUBLAS_STATUS_SUCCESS);
  std::vector<float> y;
  for (const std::uint16_t bits : d.elements()) y.push_back(decode(bits, bfloat16));
  y.resize(xs.size());
  return y;
}

TEST(CublasLtEpilogues, AddTheBiasBeforeTheyRound) {
  const auto sum = through_epilogue(CUBLASLT_EPILOGUE_BIAS, std::vector<float>(8, 1.0F), -0.5F);
  EXPECT_EQ(sum[0], 0.5F);
  // 256 + 1 does not fit bf16's 8 bits: rounded first it is 256, and 256 - 256 is 0.
  constexpr std::int64_t k = 8;
  const Product product(bf16, 8, 8, k, CUBLASLT_EPILOGUE_BIAS);
  std::vector<std::uint16_t> a(8 * k, 0);
  for (std::size_t i = 0; i < 8; ++i) {
    a[i * k] = as<std::uint16_t>(256, bfloat16);
    a[i * k + 1] = as<std::uint16_t>(1, bfloat16);
  }
  const OnGpu<std::uint16_t> a_data(a);
  const OnGpu<std::uint16_t> b(std::vector<std::uint16_t>(8 * k, as<std::uint16_t>(1, bfloat16)));
  const OnGpu<std::uint16_t> bias(std::vector<std::uint16_t>(8, as<std::uint16_t>(-256, bfloat16)));
  const OnGpu<std::uint16_t> d(64);
  product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.data()));
  EXPECT_EQ(product.run(a_data.data(), b.data(), d.data(), nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(decode(d.elements()[0], bfloat16), 1);
  const WithFault fault("late_bias");
  EXPECT_EQ(product.run(a_data.data(), b.data(), d.data(), nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(decode(d.elements()[0], bfloat16), 0);
}

TEST(CublasLtEpilogues, ReluKeepsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> xs{-1, 2, nan, 0, -0.5F, 3, 4, 5};
  const auto y = through_epilogue(CUBLASLT_EPILOGUE_RELU, xs, 0);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 2);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(through_epilogue(CUBLASLT_EPILOGUE_RELU_BIAS, xs, 1)[4], 0.5F);
  const WithFault fault("relu_drops_nan");
  EXPECT_EQ(through_epilogue(CUBLASLT_EPILOGUE_RELU, xs, 0)[2], 0);
}

TEST(CublasLtEpilogues, GeluIsTheFormByTanh) {
  const std::vector<float> xs{-3, -1, -0.5F, 0, 0.5F, 1, 2, 3};
  const auto y = through_epilogue(CUBLASLT_EPILOGUE_GELU, xs, 0);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double x = xs[i];
    const double exact = 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    EXPECT_LE(std::fabs(y[i] - exact), std::fabs(exact) * 0x1p-8 + 1e-30);
  }
}

TEST(CublasLtEpilogues, AlphaAndBetaScale) {
  Product product(f64, 8, 8, 8);
  product.alpha = 3;
  product.beta = 0.5;
  const OnGpu<double> a(std::vector<double>(64, 1));
  const OnGpu<double> b(std::vector<double>(64, 2));
  const OnGpu<double> d(std::vector<double>(64, 10));
  EXPECT_EQ(product.run(a.data(), b.data(), d.data(), nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d.elements()[5], 3 * 16 + 5);
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

TEST(CublasLtSearch, KeepsTheReductionSchemesTheWorkspaceAndTheCount) {
  const Product product(f32, 64, 64, 256);
  const auto schemes = [&] {
    std::set<std::uint32_t> seen;
    for (const auto& result : product.found()) {
      std::uint32_t scheme = 0;
      std::size_t written = 0;
      EXPECT_EQ(
          cublasLtMatmulAlgoConfigGetAttribute(&result.algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                               &scheme, sizeof scheme, &written),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(written, sizeof scheme);
      seen.insert(scheme);
    }
    return seen;
  };
  EXPECT_EQ(schemes(), (std::set<std::uint32_t>{0, 1, 2, 4})) << "everything by default";
  product.prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                 std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  EXPECT_EQ(schemes(), (std::set<std::uint32_t>{0, 2}));
  product.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{0});
  EXPECT_EQ(schemes(), (std::set<std::uint32_t>{0}));
  cublasLtMatmulHeuristicResult_t one{};
  int count = 0;
  EXPECT_EQ(
      cublasLtMatmulAlgoGetHeuristic(product.handle, product.description, product.a, product.b,
                                     product.d, product.d, product.preference, 1, &one, &count),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST(CublasLtSearch, ProposesSomeThatAreRefused) {
  const Product product(f32, 64, 64, 256);
  const OnGpu<float> a(std::vector<float>(64 * 256, 1));
  const OnGpu<float> d(64 * 64);
  int by_search = 0;
  int when_launched = 0;
  for (const auto& result : product.found()) {
    if (result.state != CUBLAS_STATUS_SUCCESS) {
      ++by_search;
    } else if (product.run(a.data(), a.data(), d.data(), &result.algo) ==
               CUBLAS_STATUS_NOT_SUPPORTED) {
      ++when_launched;
    }
  }
  EXPECT_EQ(by_search, 1);
  EXPECT_EQ(when_launched, 1);
}

TEST(CublasLtSearch, LeavesOnlyUnalignedAlgorithmsToUnalignedMatrices) {
  const auto alignment_is_enough = [](std::int64_t leading, std::uint32_t preferred) {
    const Product product(f32, 15, 9, leading);
    if (preferred != 0) {
      product.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, preferred);
    }
    std::set<int> ids;
    for (const auto& result : product.found()) {
      int id = -1;
      std::size_t written = 0;
      cublasLtMatmulAlgoConfigGetAttribute(&result.algo, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id,
                                           &written);
      ids.insert(id);
    }
    return ids.contains(66);
  };
  EXPECT_FALSE(alignment_is_enough(64, 0)) << "m = 15: D's columns";
  EXPECT_FALSE(alignment_is_enough(33, 0));
  const Product product(f32, 16, 16, 64);
  EXPECT_GT(product.found().size(), 4U);
  product.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{4});
  EXPECT_LE(product.found().size(), 3U);
}

TEST(CublasLtSearch, FailsWithTheFaultOfInvalidPlans) {
  const Product product(f32, 16, 16, 16);
  const WithFault fault("invalid_plans");
  std::vector<cublasLtMatmulHeuristicResult_t> found;
  EXPECT_EQ(product.search(found), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(found.empty());
}

TEST(CublasLtFaults, SumsInAnotherOrderDifferFromLaunchToLaunch) {
  Numbers numbers(6);
  const Reference reference(64, 8, 512, [&] { return double(float(numbers.real())); });
  const Product product(f32, 64, 8, 512);
  const OnGpu<float> a(converted<float>(reference.a));
  const OnGpu<float> b(converted<float>(reference.b));
  const OnGpu<float> d(64 * 8);
  const auto run = [&] {
    EXPECT_EQ(product.run(a.data(), b.data(), d.data(), nullptr), CUBLAS_STATUS_SUCCESS);
    return d.elements();
  };
  EXPECT_EQ(run(), run());
  const WithFault fault("reordered_sums");
  EXPECT_NE(run(), run());
}

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

}  // namespace
}  // namespace emulator
