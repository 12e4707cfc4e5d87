#include "harness/input/generate.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "harness/case.h"
#include "harness/input/exact_data.h"

namespace assay::input {
namespace {

OpInstance op_of(const char* case_id) { return parse_case_id(case_id).op; }

HostTensor tensor_of(const OpInstance& op, const TensorKey& key) {
  HostTensor tensor(op.signature.inputs.at(static_cast<std::size_t>(key.input)));
  generate(op, passes(op).at(static_cast<std::size_t>(key.pass)), key, tensor);
  return tensor;
}

bool same(const HostTensor& a, const HostTensor& b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

TEST(Generate, ElementsDoNotDependOnThreadsOrOnTheTensorsLength) {
  const int threads = omp_get_max_threads();
  for (const char* id : {"tensor_ops/add/f32/n=100001", "tensor_ops/sum/f64/n=100001",
                         "transfers/memcpy/u8/from=host,to=host,bytes=100001,threads=one"}) {
    const OpInstance op = op_of(id);
    for (int pass : {0, 1}) {
      const TensorKey key{7, pass, 0, 0};
      const HostTensor parallel = tensor_of(op, key);
      omp_set_num_threads(1);
      const HostTensor serial = tensor_of(op, key);
      omp_set_num_threads(threads);
      EXPECT_TRUE(same(parallel, serial)) << id;
    }
  }
  // Whole tensor or a shorter one: element i is the same (where the data do not depend on K).
  const HostTensor longer = tensor_of(op_of("tensor_ops/add/f32/n=40001"), {});
  const HostTensor shorter = tensor_of(op_of("tensor_ops/add/f32/n=1001"), {});
  EXPECT_TRUE(std::ranges::equal(shorter.bytes(), longer.bytes().first(shorter.bytes().size())));
}

TEST(Generate, SeedPassRankAndInputEachGiveOtherData) {
  const OpInstance op = op_of("tensor_ops/add/f64/n=64");
  const HostTensor base = tensor_of(op, {1, 1, 0, 0});
  EXPECT_TRUE(same(base, tensor_of(op, {1, 1, 0, 0})));
  EXPECT_FALSE(same(base, tensor_of(op, {2, 1, 0, 0})));
  EXPECT_FALSE(same(base, tensor_of(op, {1, 0, 0, 0})));
  EXPECT_FALSE(same(base, tensor_of(op, {1, 1, 1, 0})));
  EXPECT_FALSE(same(base, tensor_of(op, {1, 1, 0, 1})));
}

TEST(Generate, UniformDataFillTheirRange) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/add/f32/n=100000"), {1, 1, 0, 0});
  const auto x = tensor.as<float>();
  const auto [low, high] = std::ranges::minmax(x);
  EXPECT_GE(low, -1);
  EXPECT_LE(high, 1);
  EXPECT_LT(low, -0.999F);
  EXPECT_GT(high, 0.999F);
  double sum = 0;
  for (const float value : x) sum += value;
  EXPECT_NEAR(sum / 100000, 0, 6 * std::sqrt(1.0 / 3 / 100000)) << "six standard errors";
}

TEST(Generate, StratifiedDataReachEveryExponent) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/add/f32/n=100000"), {1, 0, 0, 0});
  std::set<int> exponents;
  int negative = 0;
  for (const float x : tensor.as<float>()) {
    exponents.insert(std::ilogb(x));
    negative += x < 0 ? 1 : 0;
  }
  EXPECT_EQ(exponents.size(), 254U) << "-126 to 127";
  EXPECT_NEAR(negative, 50000, 6 * std::sqrt(25000));
}

TEST(Generate, StratifiedDataStayInTheDomain) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/exp/f32/n=100000"), {1, 0, 0, 0});
  int relevant = 0;
  for (const float x : tensor.as<float>()) {
    ASSERT_GE(x, -104);
    ASSERT_LE(x, 89);
    relevant += std::abs(x) > 0x1p-24F ? 1 : 0;
  }
  EXPECT_GT(relevant, 50000) << "exp of the others is 1";
}

TEST(Generate, TheTopExponentOfADomainIsNotLumpedAtItsEnd) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/exp/f32/n=100000"), {1, 0, 0, 0});
  const auto at_end = std::ranges::count(tensor.as<float>(), 89.0F);
  EXPECT_LT(at_end, 10) << "of 100000";
}

TEST(Generate, UniqueWordsNeverRepeat) {
  const HostTensor tensor =
      tensor_of(op_of("transfers/memcpy/u8/from=host,to=host,bytes=800000,threads=one"), {});
  const auto* words = reinterpret_cast<const std::uint64_t*>(tensor.bytes().data());
  const std::set<std::uint64_t> distinct(words, words + 100000);
  EXPECT_EQ(distinct.size(), 100000U);
}

TEST(ExactData, LimitsFollowTheFormula) {
  const auto limit = [](const char* id) { return exact_integers(op_of(id)).limit; };
  const auto stride = [](const char* id) { return exact_integers(op_of(id)).stride; };
  EXPECT_EQ(limit("tensor_ops/sum/f32/n=16"), 1 << 20);
  EXPECT_EQ(limit("tensor_ops/sum/f32/n=16777216"), 1);
  EXPECT_EQ(stride("tensor_ops/sum/f32/n=16777216"), 1);
  EXPECT_EQ(limit("tensor_ops/sum/f32/n=16777217"), 1);
  EXPECT_EQ(stride("tensor_ops/sum/f32/n=16777217"), 2) << "beyond 2^24 terms";
  EXPECT_EQ(limit("linear/f32/batch=1,in=1024,out=1,bias=0,act=none"), 128);
  EXPECT_EQ(limit("linear/bf16/batch=1,in=4,out=1,bias=0,act=none"), 256)
      << "capped by the eight bits of the input";
}

TEST(ExactData, EveryOrderOfSummationIsExact) {
  const OpInstance op = op_of("tensor_ops/sum/f32/n=4099");
  const HostTensor tensor = tensor_of(op, {1, 0, 0, 0});
  std::vector<float> x(tensor.as<float>().begin(), tensor.as<float>().end());
  const auto sum = [&] {
    float total = 0;
    for (const float value : x) total += value;
    return total;
  };
  const float forwards = sum();
  std::ranges::reverse(x);
  EXPECT_EQ(sum(), forwards);
  std::ranges::sort(x);  // the largest partial sums of all orders
  EXPECT_EQ(sum(), forwards);
}

TEST(ExactData, BeyondAllExactSumsOneElementOfEachRunIsLeft) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/sum/f32/n=50331648"), {1, 0, 0, 0});
  const auto x = tensor.as<float>();  // 3 * 2^24
  std::array<int, 3> at_place{};
  for (std::size_t run = 0; run < 30000; ++run) {
    int left = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (x[3 * run + i] == 0) continue;
      ++left;
      ++at_place.at(i);
    }
    ASSERT_EQ(left, 1) << run;
  }
  for (const int count : at_place) EXPECT_NEAR(count, 10000, 6 * std::sqrt(30000 * 2.0 / 9));
}

TEST(Generate, AdditionsOfDoublesRound) {
  const OpInstance op = op_of("tensor_ops/add/f64/n=10000");
  const HostTensor a = tensor_of(op, {1, 1, 0, 0});
  const HostTensor b = tensor_of(op, {1, 1, 0, 1});
  int rounded = 0;
  for (std::size_t i = 0; i < 10000; ++i) {
    const double x = a.as<double>()[i];
    const double y = b.as<double>()[i];
    const double sum = x + y;
    rounded += sum - x != y || sum - y != x ? 1 : 0;
  }
  EXPECT_GT(rounded, 2000);
}

TEST(ExactData, SignsAloneAreNotInBalance) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/sum/f32/n=16777216"), {1, 0, 0, 0});
  double sum = 0;
  for (const float x : tensor.as<float>().first(100000)) {
    ASSERT_EQ(std::abs(x), 1.0F);
    sum += x;
  }
  EXPECT_NEAR(sum / 100000, 0.8, 0.02);
}

}  // namespace
}  // namespace assay::input
