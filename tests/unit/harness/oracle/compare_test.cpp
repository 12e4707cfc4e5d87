// Outputs that each oracle passes and outputs that it catches, on small problems.
#include "harness/oracle/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/example.h"

namespace assay::oracle {
namespace {

constexpr float nan_f32 = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity_f32 = std::numeric_limits<float>::infinity();

TEST(Compare, OneLowMantissaBitFailsAnExactOp) {
  Example add("tensor_ops/add/f32/n=3");
  add.set<float>(0, {1, 2, 3}).set<float>(1, {10, 20, 30});
  EXPECT_TRUE(add.judge<float>(1, {11, 22, 33}).passed());
  const Verdict v = add.judge<float>(1, {11, std::nextafter(22.0F, 99.0F), 33});
  EXPECT_EQ(v.mismatches, 1);
  EXPECT_EQ(v.worst.index, 1);
  EXPECT_EQ(v.expected(), "22");
  EXPECT_EQ(v.worst.expected_bits ^ v.worst.actual_bits, 1U);
  EXPECT_EQ(v.max_ulp, 1);
}

TEST(Compare, OnlyWhatHasABoundHasARatioToIt) {
  Example add("tensor_ops/add/f32/n=1");
  add.set<float>(0, {1}).set<float>(1, {10});
  EXPECT_FALSE(add.judge<float>(1, {11}).max_bound_ratio);
  const Verdict exact = add.judge<float>(1, {12});
  EXPECT_FALSE(exact.max_bound_ratio);
  EXPECT_EQ(exact.worst.allowed, 0);

  Example sum("tensor_ops/sum/f32/n=2");
  sum.set<float>(0, {0.5F, 0.25F});
  EXPECT_FALSE(sum.judge<float>(0, {0.75F}).max_bound_ratio) << "exact data";
  EXPECT_EQ(sum.judge<float>(1, {0.75F}).max_bound_ratio, 0);
  Verdict bounded = sum.judge<float>(1, {1});
  EXPECT_GT(bounded.max_bound_ratio.value_or(0), 1);
  EXPECT_GT(bounded.worst.allowed, 0);
  bounded.merge(exact);
  EXPECT_GT(bounded.max_bound_ratio.value_or(0), 1) << "also beside what has none";
}

TEST(Compare, ComputingWhatIsExpectedIsPartOfTheTime) {
  const auto share = [](const char* case_id) {
    const Example example(case_id);
    const auto reference = reference::find(example.op);
    const reference::Problem problem{example.op, example.inputs};
    const HostTensor output(example.op.signature.outputs[0]);
    double part = -1;
    compare(reference, problem, reference::solve(reference, problem),
            tolerance(passes(example.op).at(1).rule, example.op), output.bytes(), 0, &part);
    return part;
  };
  for (const char* case_id : {"tensor_ops/add/f32/n=5000", "tensor_ops/exp/f64/n=5000"}) {
    EXPECT_GT(share(case_id), 0) << case_id;
    EXPECT_LT(share(case_id), 1) << case_id;
  }
  EXPECT_EQ(share("tensor_ops/add/f32/n=0"), 0);
}

TEST(Compare, NaNNeverPassesWhereANumberIsExpected) {
  Example add("tensor_ops/add/f32/n=2");
  add.set<float>(0, {1, 2}).set<float>(1, {1, 2});
  EXPECT_EQ(add.judge<float>(1, {2, nan_f32}).mismatches, 1);

  Example sum("tensor_ops/sum/f32/n=2");
  sum.set<float>(0, {0.5F, 0.25F});
  for (std::size_t pass : {0U, 1U}) {
    const Verdict v = sum.judge<float>(pass, {nan_f32});
    EXPECT_EQ(v.mismatches, 1) << pass;
    EXPECT_TRUE(std::isinf(v.max_abs_error));
    EXPECT_EQ(v.actual(), "0x7fc00000");
  }
  Example exp("tensor_ops/exp/f32/n=1");
  exp.set<float>(0, {1});
  EXPECT_EQ(exp.judge<float>(1, {nan_f32}).mismatches, 1);
  EXPECT_EQ(exp.judge<float>(1, {infinity_f32}).mismatches, 1);
}

TEST(Compare, NaNAndInfinityPassWhereTheyAreExpected) {
  Example add("tensor_ops/add/f32/n=3");
  add.set<float>(0, {nan_f32, infinity_f32, infinity_f32}).set<float>(1, {1, 1, -infinity_f32});
  float other_nan = 0;
  const std::uint32_t payload = 0x7fc12345;
  std::memcpy(&other_nan, &payload, sizeof other_nan);
  EXPECT_TRUE(add.judge<float>(1, {other_nan, infinity_f32, nan_f32}).passed());
  EXPECT_EQ(add.judge<float>(1, {1.0F, nan_f32, -infinity_f32}).mismatches, 3);

  Example exp("tensor_ops/exp/f32/n=2");
  exp.set<float>(0, {88.9F, nan_f32});  // finite as a double, infinite as a float
  const Verdict overflowed = exp.judge<float>(1, {infinity_f32, nan_f32});
  EXPECT_TRUE(overflowed.passed());
  EXPECT_EQ(overflowed.max_abs_error, 0);
  exp.set<float>(0, {1000, nan_f32});
  EXPECT_TRUE(exp.judge<float>(1, {infinity_f32, nan_f32}).passed());
  EXPECT_EQ(exp.judge<float>(1, {std::numeric_limits<float>::max(), 0}).mismatches, 2);
}

TEST(Compare, TheSumBoundIsTight) {
  // Terms of magnitude 1 that cancel: allowed (1 + u) L u S + u |y| = 2 u 2 and nothing for y = 0.
  Example sum("tensor_ops/sum/f32/n=2");
  sum.set<float>(0, {1, -1});
  EXPECT_TRUE(sum.judge<float>(1, {0x1p-22F}).passed());
  EXPECT_FALSE(sum.judge<float>(1, {0x1.01p-22F}).passed());
  EXPECT_FALSE(sum.judge<float>(0, {0x1p-22F}).passed()) << "exact data allow nothing";
  EXPECT_TRUE(sum.judge<float>(0, {-0.0F}).passed()) << "the sign of a zero sum is not fixed";
}

TEST(Compare, TheSignOfAZeroProductIsThatOfItsFactors) {
  Example product("tensor_ops/prod/f32/n=2");
  product.set<float>(0, {-0.0F, 3});
  constexpr int special_values = 1;
  EXPECT_TRUE(product.judge<float>(special_values, {-0.0F}).passed());
  const Verdict other = product.judge<float>(special_values, {0.0F});
  EXPECT_FALSE(other.passed());
  EXPECT_EQ(other.improbable, 0) << "no bound allows it";
}

TEST(Compare, ALongSumIsJudgedInMoreThanDoublePrecision) {
  // 2^53 + 1 + 1 - 2^53: plain double arithmetic gives 0.
  Example sum("tensor_ops/sum/f64/n=4");
  sum.set<double>(0, {0x1p53, 1, 1, -0x1p53});
  EXPECT_TRUE(sum.judge<double>(0, {2}).passed());
  EXPECT_FALSE(sum.judge<double>(0, {0}).passed());
}

TEST(Compare, TheFunctionBoundCountsUlpsOfTheExpectedValue) {
  Example exp("tensor_ops/exp/f32/n=1");
  exp.set<float>(0, {0});
  const float ulp_of_one = std::numeric_limits<float>::epsilon();
  EXPECT_TRUE(exp.judge<float>(1, {1 + 4 * ulp_of_one}).passed());
  EXPECT_FALSE(exp.judge<float>(1, {1 + 5 * ulp_of_one}).passed());
}

TEST(Compare, SoftmaxOfEqualLogitsIsUniform) {
  Example softmax("tensor_ops/softmax/f64/rows=2,cols=2");
  softmax.set<double>(0, {1000, 1000, 0, std::log(3.0)});
  EXPECT_TRUE(softmax.judge<double>(1, {0.5, 0.5, 0.25, 0.75}).passed());
  const Verdict swapped = softmax.judge<double>(1, {0.5, 0.5, 0.75, 0.25});
  EXPECT_EQ(swapped.mismatches, 2);
  EXPECT_EQ(swapped.worst.index, 2) << "0.5 of 0.25 is further off than 0.5 of 0.75";
}

TEST(Compare, LinearIsXTimesWTransposedPlusBias) {
  Example linear("linear/f32/batch=1,in=2,out=2,bias=1,act=relu");
  linear.set<float>(0, {1, 2}).set<float>(1, {3, 4, 5, 6}).set<float>(2, {100, -1000});
  EXPECT_TRUE(linear.judge<float>(0, {111, 0}).passed());
  EXPECT_FALSE(linear.judge<float>(0, {111, -983}).passed()) << "relu skipped";
  EXPECT_FALSE(linear.judge<float>(0, {11, 0}).passed()) << "bias skipped";
  EXPECT_FALSE(linear.judge<float>(0, {113, 0}).passed()) << "w not transposed";
}

TEST(Compare, BFloat16ResultsAreRoundedOnce) {
  Example linear("linear/bf16/batch=1,in=2,out=1,bias=0,act=none");
  const auto bf16 = [](float x) { return BFloat16(x); };
  // 256 * 1 + 1 * 1 = 257, between the bf16 neighbours 256 and 258: the tie goes to even, 256.
  linear.set<BFloat16>(0, {bf16(256), bf16(1)}).set<BFloat16>(1, {bf16(1), bf16(1)});
  EXPECT_TRUE(linear.judge<BFloat16>(0, {bf16(256)}).passed());
  EXPECT_FALSE(linear.judge<BFloat16>(0, {bf16(258)}).passed());
  EXPECT_TRUE(linear.judge<BFloat16>("real_data", {bf16(258)}).passed()) << "within u_out |y|";
  EXPECT_FALSE(linear.judge<BFloat16>("real_data", {bf16(260)}).passed());
}

TEST(Compare, IntegersWrapAndAreAlwaysExact) {
  Example square("tensor_ops/square/i64/n=3");
  square.set<std::int64_t>(0, {1, 2, std::int64_t{1} << 40});
  EXPECT_TRUE(square.judge<std::int64_t>(1, {1, 4, 0}).passed());
  EXPECT_FALSE(square.judge<std::int64_t>(1, {1, 4, 1}).passed());
}

TEST(Compare, AnOutputOfAnotherSizeIsAnErrorAndNotARightOne) {
  Example add("tensor_ops/add/f32/n=2");
  add.set<float>(0, {1, 2}).set<float>(1, {1, 2});
  EXPECT_THROW(add.judge<float>(1, {2}), std::logic_error);
  EXPECT_THROW(add.judge<float>(1, {}), std::logic_error);
}

TEST(Compare, EveryElementIsJudgedAlsoWhenThereAreMany) {
  constexpr std::size_t n = 100003;
  Example add("tensor_ops/add/f32/n=100003");
  std::vector<float> a(n, 1), y(n, 2);
  add.set(0, a).set(1, a);
  EXPECT_EQ(add.judge(1, y).elements, static_cast<std::int64_t>(n));
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{1023}, std::size_t{1024}, n - 1}) {
    y[wrong] = 3;
    const Verdict v = add.judge(1, y);
    EXPECT_EQ(v.mismatches, 1) << wrong;
    EXPECT_EQ(v.worst.index, static_cast<std::int64_t>(wrong));
    y[wrong] = 2;
  }
}

TEST(Verdicts, ARegularStrideIsNamed) {
  constexpr std::size_t n = 4096;
  Example add("tensor_ops/add/f32/n=4096");
  std::vector<float> a(n, 1), y(n, 2);
  add.set(0, a).set(1, a);
  for (std::size_t i = 5; i < n; i += 32) y[i] = 0;
  const Verdict v = add.judge(1, y);
  EXPECT_EQ(v.mismatches, 128);
  EXPECT_EQ(v.stride(), 32);
  EXPECT_NE(v.text().find("every 32th element from [5]"), std::string::npos) << v.text();
  y[6] = 0;
  EXPECT_EQ(add.judge(1, y).stride(), 0);
}

TEST(Verdicts, TheWorstElementIsTheSameInAnyOrderOfMerging) {
  Verdict right, wrong, worse;
  right.worst = {.known = true, .mismatch = false, .severity = 0.9, .index = 1};
  wrong.mismatches = 1;
  wrong.worst = {.known = true, .mismatch = true, .severity = 2, .index = 7};
  worse.mismatches = 1;
  worse.worst = {.known = true, .mismatch = true, .severity = 3, .index = 9};
  Verdict forwards = right, backwards = worse;
  forwards.merge(wrong);
  forwards.merge(worse);
  backwards.merge(wrong);
  backwards.merge(right);
  EXPECT_EQ(forwards.worst.index, 9);
  EXPECT_EQ(backwards.worst.index, 9);
  EXPECT_EQ(forwards.mismatches, 2);
}

TEST(Fma, AProductInTheMiddleIsMovedByAFarSmallerAddend) {
  // 7 * 37/256 = 259/256 lies in the middle of the bf16 258/256 and 260/256, and no double holds
  // its sum with 2^-100.
  const auto bf16 = [](float x) { return BFloat16(x); };
  for (const float side : {-1.0F, 1.0F}) {
    Example fma("tensor_ops/fma/bf16/n=1");
    fma.set<BFloat16>(0, {bf16(7)})
        .set<BFloat16>(1, {bf16(37.0F / 256)})
        .set<BFloat16>(2, {bf16(side * 0x1p-100F)});
    const float right = (259 + side) / 256;
    const float wrong = (259 - side) / 256;
    EXPECT_TRUE(fma.judge<BFloat16>(0, {bf16(right)}).passed()) << right;
    EXPECT_FALSE(fma.judge<BFloat16>(0, {bf16(wrong)}).passed()) << wrong;
  }
}

}  // namespace
}  // namespace assay::oracle
