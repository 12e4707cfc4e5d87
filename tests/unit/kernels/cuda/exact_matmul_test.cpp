// The exact data on which the CUDA backend proves an algorithm for a product.
#include "kernels/cuda/exact_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "tests/unit/carried_out.h"

namespace assay::cuda {
namespace {

struct Types {
  Format format;
  DType result;
  int factor_bits;
  int sum_bits;  // bits of the accumulator
  int result_bits;
};
const std::vector<Types> all_types{
    {DType::f64, DType::f64, 53, 53, 53},           {DType::f32, DType::f32, 24, 24, 24},
    {ProductFormat::tf32, DType::f32, 11, 24, 24},  {DType::bf16, DType::bf16, 8, 24, 8},
    {DType::bf16, DType::f32, 8, 24, 24},           {DType::f16, DType::f16, 11, 24, 11},
    {DType::e4m3, DType::bf16, 4, 14, 8},           {DType::i8, DType::i32, 7, 31, 31},
    {ProductFormat::mxfp8, DType::bf16, 4, 14, 8},  {ProductFormat::nvfp4, DType::bf16, 2, 24, 8},
    {ProductFormat::bf16x9, DType::f32, 24, 24, 24}};

bool is_multiplied(const Types& types, std::int64_t in) {
  return block_format(types.format) == nullptr || in % 32 == 0;
}

/// Plan of a layer from `in` elements to 48, with extents that every type allows.
MatmulPlan plan_of(const Types& types, std::int64_t in, bool bias, const std::string& act) {
  MatmulPlan plan = layer_plan(types.format, types.result, 32, in, 48);
  plan.epilogue = epilogue_of(act, bias, types.format).value();
  return plan;
}

const std::vector<std::int64_t> extents{16, 64, 400, 784, 1024, 2560, 3072, 4096, 11008, 40960};

TEST(ExactMatmul, HasTheSumsThatItNamesAndAllOfThemAreExact) {
  for (const Types& types : all_types) {
    for (const std::int64_t in : extents) {
      if (!is_multiplied(types, in)) continue;
      const ExactMatmul exact(plan_of(types, in, false, "none"));
      SCOPED_TRACE(std::string(name(types.format)) + ", in=" + std::to_string(in));
      double magnitudes = 0;
      std::int64_t sum = 0;
      for (std::int64_t l = 0; l < in; ++l) {
        sum += exact.a_sign(l) * exact.b_sign(l);
        magnitudes += static_cast<double>(std::abs(exact.a_sign(l) * exact.b_sign(l)));
      }
      EXPECT_EQ(sum, exact.sum());
      EXPECT_EQ(exact.sum() % 2, 1);
      std::int64_t highest_row = 0;
      std::int64_t highest_column = 0;
      for (std::int64_t i = 0; i < 48; ++i) {
        highest_row = std::max(highest_row, std::abs(exact.row(i)));
        highest_column = std::max(highest_column, std::abs(exact.column(i)));
        EXPECT_EQ(exact.product(i, 5), exact.column(i) * exact.row(5) * sum);
      }
      const double product = static_cast<double>(highest_row) * static_cast<double>(highest_column);
      EXPECT_LE(static_cast<double>(std::max(highest_row, highest_column)),
                std::exp2(types.factor_bits) - (types.format == DType::i8 ? 1 : 0));
      EXPECT_LE(product * magnitudes, std::exp2(types.sum_bits - 2)) << "a bias comes on top";
      if (types.result == DType::f16) {
        EXPECT_LT(2 * product * static_cast<double>(sum), 65504);
      }
    }
  }
}

/// Expects the results of a device that computes right, and no zero in `b`.
void expect_result(const MatmulPlan& plan) {
  const ExactMatmul exact(plan);
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < plan.batch * plan.m * plan.k; ++i) {
    a.push_back(static_cast<double>(exact.a_at(i)));
  }
  for (std::int64_t i = 0; i < plan.batch * plan.k * plan.n; ++i) {
    b.push_back(static_cast<double>(exact.b_at(i)));
    EXPECT_NE(b.back(), 0);
  }
  const bool bias = plan.epilogue == CUBLASLT_EPILOGUE_BIAS;
  const std::vector<double> d = carried_out(plan, a, b);
  for (std::int64_t i = 0; i < plan.batch * plan.m * plan.n; ++i) {
    const auto sum = static_cast<std::int64_t>(d.at(static_cast<std::size_t>(i)));
    EXPECT_EQ(exact.d_at(i), exact.rounded(sum + (bias ? exact.bias(i % plan.m) : 0))) << i;
  }
}

TEST(ExactMatmul, IsWhatAPlanGivesOfLayersTheirGradientsAndBatches) {
  MatmulPlan layer = layer_plan(DType::bf16, DType::bf16, 5, 31, 7);
  expect_result(layer);
  layer.epilogue = CUBLASLT_EPILOGUE_BIAS;
  expect_result(layer);
  expect_result(dx_plan(DType::bf16, DType::bf16, 5, 31, 7));
  expect_result(dw_plan(DType::bf16, DType::bf16, 5, 31, 7));
  expect_result(batched_plan(DType::f16, DType::f16, 3, 4, 5, 33));
  expect_result(batched_plan(DType::f64, DType::f64, 2, 1, 3, 1));
}

/// Result of a device that rounds the sum before it adds the bias.
std::int64_t rounded_twice(const ExactMatmul& exact, std::int64_t r, std::int64_t c, bool relu) {
  const std::int64_t y = exact.rounded(exact.rounded(exact.product(r, c)) + exact.bias(r));
  return relu && y < 0 ? 0 : y;
}

TEST(ExactMatmul, ShowsABiasThatIsAddedToARoundedSumInTheFirstElementOfEveryShape) {
  for (const Types& types : all_types) {
    if (types.result_bits > 11) continue;
    for (const std::string act : {"none", "relu"}) {
      for (std::int64_t in = 16; in < 20000; in += 16) {
        if (!is_multiplied(types, in)) continue;
        // 15 times 3 times 3 has 8 bits: nothing is rounded off.
        if (types.format == ProductFormat::nvfp4 && in == 32) continue;
        const ExactMatmul exact(plan_of(types, in, true, act));
        ASSERT_NE(exact.expected(0, 0), rounded_twice(exact, 0, 0, act == "relu"))
            << name(types.format) << ", act=" << act << ", in=" << in;
      }
    }
  }
  for (std::int64_t in = 1; in < 16; ++in) {
    for (const Types& types : {all_types[3], all_types[5]}) {
      const ExactMatmul exact(plan_of(types, in, true, "relu"));
      ASSERT_NE(exact.expected(0, 0), rounded_twice(exact, 0, 0, true))
          << name(types.format) << ", in=" << in;
    }
  }
}

TEST(ExactMatmul, ShowsABiasOrAnActivationThatIsMissing) {
  for (const Types& types : all_types) {
    if (types.format == DType::i8) continue;  // no epilogue
    const ExactMatmul exact(plan_of(types, 64, true, "relu"));
    EXPECT_GT(exact.expected(0, 0), 0) << "zeros would be right: " << name(types.format);
    int positive = 0;
    int negative = 0;
    for (std::int64_t r = 0; r < 48; ++r) {
      EXPECT_NE(exact.bias(r), 0);
      for (std::int64_t c = 0; c < 32; ++c) {
        (exact.product(r, c) + exact.bias(r) > 0 ? positive : negative) += 1;
        EXPECT_GE(exact.expected(r, c), 0);
      }
    }
    EXPECT_GT(positive, 250);
    EXPECT_GT(negative, 250);
  }
}

TEST(ExactMatmul, RoundsAsTheResultIsRounded) {
  const ExactMatmul bf16(plan_of(all_types[3], 64, false, "none"));
  EXPECT_EQ(bf16.rounded(255), 255);
  EXPECT_EQ(bf16.rounded(257), 256) << "to even";
  EXPECT_EQ(bf16.rounded(259), 260) << "to even";
  EXPECT_EQ(bf16.rounded(-511), -512);
  const ExactMatmul f32(plan_of(all_types[1], 64, false, "none"));
  EXPECT_EQ(f32.rounded((1 << 24) - 1), (1 << 24) - 1);
}

}  // namespace
}  // namespace assay::cuda
