// Data of which an output of few bits shows each element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "harness/input/generate.h"
#include "harness/plan/case.h"
#include "kernels/ops/borders.h"
#include "kernels/reference/reference.h"

namespace assay::input {
namespace {

struct Launch {
  std::vector<std::vector<HostTensor>> inputs{1};
  std::vector<double> results;
};

/// Launches of the passes of this name.
std::vector<Launch> launches_of(const char* case_id, std::string_view name) {
  const OpInstance op = parse_case_id(case_id).op;
  const reference::Reference reference = reference::find(op);
  std::vector<Launch> launches;
  for (int pass = 0; const Pass& p : passes(op)) {
    const int index = pass++;
    if (p.name != name) continue;
    Launch& launch = launches.emplace_back();
    for (int i = 0; i < std::ssize(op.signature.inputs); ++i) {
      HostTensor& tensor = launch.inputs[0].emplace_back(op.signature.inputs[std::size_t(i)]);
      generate(op, p, {7, index, 0, i}, tensor);
    }
    const reference::Problem problem{op, launch.inputs};
    const reference::State state = reference::solve(reference, problem);
    const auto n = static_cast<std::size_t>(output_elements(op.signature));
    launch.results.resize(n);
    std::vector<double> rest(n);
    std::vector<double> scale(n);
    reference.values(problem, state, 0, {launch.results, rest, scale});
  }
  return launches;
}

TEST(FewTerms, AreThoseAtBordersInTurns) {
  const std::vector<std::int64_t> places = borders(1003);
  std::vector<float> sum(1003);
  const auto launches = launches_of("tensor_ops/norm2/f32/n=1003", "few_terms");
  ASSERT_EQ(launches.size(), 2U);
  for (const Launch& launch : launches) {
    for (std::size_t i = 0; const float x : launch.inputs[0][0].as<float>()) {
      EXPECT_TRUE(x == 0 || sum[i] == 0) << i;
      sum[i++] += x;
    }
  }
  for (std::int64_t i = 0; i < 1003; ++i) {
    const float x = sum[static_cast<std::size_t>(i)];
    const bool is_border = std::ranges::binary_search(places, i);
    EXPECT_TRUE(is_border ? x >= 1 && x <= 2 : x == 0) << i << ": " << x;
  }
}

class SingleLayers : public testing::TestWithParam<const char*> {};

TEST_P(SingleLayers, HaveSumsThatTheDtypeHoldsAndNoActivationChanges) {
  const double most =
      std::ldexp(1.0, std::min(11, precision_bits(parse_case_id(GetParam()).op.format)));
  const auto launches = launches_of(GetParam(), "single_layers");
  EXPECT_FALSE(launches.empty());
  for (const Launch& launch : launches) {
    for (const double y : launch.results) {
      ASSERT_EQ(y, std::round(y));
      ASSERT_GE(y, 9);
      ASSERT_LE(y, most);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SingleLayers,
    testing::Values("linear/linear_stack/bf16/batch=64,in=256,width=256,layers=4,bias=1,act=relu",
                    "linear/linear_stack/bf16/batch=16,in=10,width=16,layers=3,bias=1,act=gelu",
                    "linear/linear_stack/bf16/batch=16,in=7,width=33,layers=5,bias=1,act=none",
                    "linear/linear_stack/f16/batch=64,in=256,width=255,layers=12,bias=1,act=relu",
                    "linear/linear_stack/f32/batch=8,in=3,width=1000,layers=2,bias=0,act=none",
                    "linear/linear_stack/f64/batch=8,in=300,width=2,layers=2,bias=1,act=gelu_tanh",
                    "linear/linear_stack/tf32/batch=16,in=64,width=64,layers=3,bias=1,act=none"),
    [](const auto& test) {
      std::string text = test.param;
      std::erase_if(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return text;
    });

TEST(SingleLayers, AreNotOfOneNumberThatCancelsItself) {
  const auto launches = launches_of(
      "linear/linear_stack/f16/batch=16,in=1,width=16,layers=2,bias=1,act=gelu", "single_layers");
  for (const Launch& launch : launches) {
    EXPECT_TRUE(std::ranges::all_of(launch.results, [](double y) { return y >= 9; }));
  }
}

TEST(SmallSums, AreOfWholeNumbersAndMostlyPositive) {
  for (const char* id : {"linear/f32/batch=1,in=4096,out=1000,bias=0,act=none",
                         "linear/f32/batch=65,in=1025,out=1,bias=0,act=none"}) {
    std::ptrdiff_t positive = 0;
    std::ptrdiff_t all = 0;
    for (const Launch& launch : launches_of(id, "small_sums")) {
      for (const HostTensor& input : launch.inputs[0]) {
        for (const float x : input.as<float>()) {
          ASSERT_EQ(x, std::round(x));
          ASSERT_TRUE(std::abs(x) >= 6 && std::abs(x) <= 9) << x;
        }
      }
      positive += std::ranges::count_if(launch.results, [](double y) { return y > 0; });
      all += std::ssize(launch.results);
    }
    EXPECT_GT(positive, all * 9 / 10) << id;
  }
}

}  // namespace
}  // namespace assay::input
