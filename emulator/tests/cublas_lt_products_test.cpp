#include <limits>
#include <set>
#include <tuple>

#include "emulator/tests/cublas_lt_support.h"

namespace emulator {
namespace {

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

}  // namespace
}  // namespace emulator
