// What a file of choices holds of an algorithm, and of the plan that it was chosen for.
#include "kernels/cuda/kept_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

#include "kernels/core/block_format.h"

namespace assay::cuda {
namespace {

TEST(KeptChoice, AnAlgorithmIsRestoredFromItsDigits) {
  cublasLtMatmulAlgo_t algorithm{};
  for (std::uint64_t& word : algorithm.data) word = 0xfedcba9876543210 + (&word - algorithm.data);
  const std::string digits = digits_of(algorithm);
  EXPECT_EQ(digits.substr(0, 32), "fedcba9876543210fedcba9876543211");
  const auto restored = algorithm_of(digits);
  ASSERT_TRUE(restored);
  EXPECT_TRUE(std::equal(std::begin(algorithm.data), std::end(algorithm.data), restored->data));
  for (const std::string& other : {std::string(), digits.substr(1), digits + "0",
                                   "x" + digits.substr(1), "-" + digits.substr(1)}) {
    EXPECT_FALSE(algorithm_of(other)) << other;
  }
}

TEST(KeptChoice, PlansThatDifferHaveDifferentTexts) {
  const MatmulPlan plan{.m = 1, .n = 2, .k = 3};
  std::set<std::string> texts{plan_text(plan, 0), plan_text(plan, 16)};
  const auto add = [&](auto field, auto value) {
    MatmulPlan other = plan;
    other.*field = value;
    texts.insert(plan_text(other, 0));
  };
  for (const auto field : {&MatmulPlan::m, &MatmulPlan::n, &MatmulPlan::k, &MatmulPlan::batch,
                           &MatmulPlan::a_leading, &MatmulPlan::b_leading, &MatmulPlan::d_leading,
                           &MatmulPlan::a_stride, &MatmulPlan::b_stride, &MatmulPlan::d_stride}) {
    add(field, std::int64_t{99});
  }
  for (const auto field : {&MatmulPlan::factors, &MatmulPlan::result, &MatmulPlan::scale}) {
    add(field, CUDA_R_16F);
  }
  add(&MatmulPlan::a_transposed, true);
  add(&MatmulPlan::b_transposed, true);
  add(&MatmulPlan::compute, CUBLAS_COMPUTE_64F);
  add(&MatmulPlan::epilogue, CUBLASLT_EPILOGUE_BIAS);
  add(&MatmulPlan::fast_accumulation, std::int8_t{1});
  const BlockFormat e8m0{32, 1, false, 16};
  const BlockFormat e4m3{16, 2, true, 6};
  add(&MatmulPlan::blocks, &e8m0);
  add(&MatmulPlan::blocks, &e4m3);
  EXPECT_EQ(texts.size(), 2U + 10 + 3 + 5 + 2);
}

}  // namespace
}  // namespace assay::cuda
