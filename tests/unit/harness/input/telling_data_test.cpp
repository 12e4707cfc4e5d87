// Data of which an output of few bits shows each element.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/input/distributions.h"
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
    if (reference.values == nullptr) continue;  // exact: none is needed
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

TEST(SpecialValues, OfATensorThatIsOneRowAreOfEveryKind) {
  std::set<std::array<std::int64_t, 5>> kinds;
  for (const Launch& launch : launches_of("tensor_ops/sum/f32/n=1003", "special_values")) {
    const auto some = [x = launch.inputs[0][0].as<float>()](auto is, std::int64_t many = 2) {
      return std::min<std::int64_t>(many, std::ranges::count_if(x, is));
    };
    kinds.insert({some([](float x) { return std::isnan(x); }),
                  some([](float x) { return std::isinf(x) && x > 0; }),
                  some([](float x) { return std::isinf(x) && x < 0; }, 1003),
                  some([](float x) { return x == 0; }, 1003),
                  some([](float x) { return std::fpclassify(x) == FP_SUBNORMAL; })});
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(lone_fates));
}

TEST(SpecialValues, OfSumsThatRunOnAreEachTheFirstInSomeTurn) {
  std::set<std::string> first;
  for (const Launch& launch : launches_of("tensor_ops/scan/f32/n=1003", "special_values")) {
    const auto x = launch.inputs[0][0].as<float>();
    const auto spoils = std::ranges::find_if(x, [](float one) { return !std::isfinite(one); });
    ASSERT_NE(spoils, x.end());
    first.insert(std::isnan(*spoils) ? "NaN" : *spoils > 0 ? "inf" : "-inf");
  }
  EXPECT_EQ(first, (std::set<std::string>{"NaN", "inf", "-inf"}));
}

TEST(Needles, LieBetweenBordersTooAloneAndTwice) {
  const std::vector<std::int64_t> places = borders(1003);
  int elsewhere = 0;
  int twice = 0;
  for (const char* name : {"needles", "nan"}) {
    for (const Launch& launch : launches_of("tensor_ops/reduce_max/f32/n=1003", name)) {
      const auto x = launch.inputs[0][0].as<float>();
      const auto is_greatest = [greatest = std::ranges::max(x)](float one) {
        return std::isnan(one) || one == greatest;
      };
      const auto first = std::ranges::find_if(x, is_greatest) - x.begin();
      elsewhere += std::ranges::binary_search(places, first) ? 0 : 1;
      twice += std::ranges::count_if(x, is_greatest) == 2 ? 1 : 0;
    }
  }
  EXPECT_GE(elsewhere, 8);
  EXPECT_GE(twice, 5);
}

TEST(TwoPowers, HaveProductsThatAreExactInAnyOrder) {
  bool has_subnormal_factor = false;
  std::set<bool> is_small;
  for (const std::string dtype : {"f64", "f32", "bf16", "f16"}) {
    const std::string id = "tensor_ops/prod_axis/" + dtype + "/outer=2,n=101,inner=9";
    for (const Launch& launch : launches_of(id.c_str(), "two_powers")) {
      for (const double y : launch.results) {
        EXPECT_EQ(std::exp2(std::round(std::log2(std::abs(y)))), std::abs(y)) << id;
        is_small.insert(std::abs(y) < 0.01);
      }
      if (dtype != "f32") continue;
      int others = 0;
      for (const float x : launch.inputs[0][0].as<float>()) {
        EXPECT_NE(x, 0);
        has_subnormal_factor |= std::fpclassify(x) == FP_SUBNORMAL;
        others += std::abs(x) == 1 ? 0 : 1;
      }
      constexpr int lines = 18;
      EXPECT_EQ(others, lines * 3 / 2) << "every second line has the reciprocal too";
    }
  }
  EXPECT_TRUE(has_subnormal_factor);
  EXPECT_EQ(is_small.size(), 2U);
}

TEST(WholePowers, AreDividedByEachOtherWithoutError) {
  std::set<double> sizes;
  for (const Launch& launch : launches_of("tensor_ops/norm2/f64/n=61", "exact_data")) {
    for (const double x : launch.inputs[0][0].as<double>()) sizes.insert(std::abs(x));
  }
  for (const double size : sizes) EXPECT_EQ(std::exp2(std::round(std::log2(size))), size);
  EXPECT_GT(sizes.size(), 3U);
}

TEST(Outliers, LieFarAboveAllOthersAtEachBorderOnce) {
  std::vector<std::int64_t> places;
  for (const Launch& launch : launches_of("tensor_ops/softmax/f64/rows=1,cols=1003", "outliers")) {
    const auto x = launch.inputs[0][0].as<double>();
    const auto high = std::ranges::max_element(x);
    places.push_back(high - x.begin());
    constexpr double overflows = 710;  // in exp of f64
    EXPECT_EQ(std::ranges::count_if(x, [&](double of) { return of > *high - overflows; }), 1);
  }
  std::ranges::sort(places);
  EXPECT_EQ(places, borders(1003));
}

TEST(Dot, HasZerosByInfinitiesInBothOrders) {
  constexpr auto meet = [](std::span<const float> a, std::span<const float> b) {
    const auto is_nan = [](float x) { return std::isnan(x); };
    if (std::ranges::any_of(a, is_nan) || std::ranges::any_of(b, is_nan)) return false;
    bool found = false;
    for (std::size_t i = 0; i < a.size(); ++i) found |= a[i] == 0 && std::isinf(b[i]);
    return found;
  };
  int zero_first = 0;
  int zero_second = 0;
  for (const Launch& launch : launches_of("tensor_ops/dot/f32/n=1003", "special_values")) {
    const auto a = launch.inputs[0][0].as<float>();
    const auto b = launch.inputs[0][1].as<float>();
    zero_first += meet(a, b) ? 1 : 0;
    zero_second += meet(b, a) ? 1 : 0;
  }
  EXPECT_GE(zero_first, 1);
  EXPECT_GE(zero_second, 1);
}

TEST(Dot, HasFactorsWhoseLargestAreTooLargeTogether) {
  const auto launches = launches_of("tensor_ops/dot/f32/n=1003", "apart");
  ASSERT_EQ(launches.size(), 1U);
  const auto a = launches[0].inputs[0][0].as<float>();
  const auto b = launches[0].inputs[0][1].as<float>();
  EXPECT_TRUE(std::isinf(std::ranges::max(a) * std::ranges::max(b)));
  EXPECT_EQ(launches[0].results[0], 0);
  EXPECT_TRUE(launches_of("tensor_ops/dot/f32/n=1003", "large").empty()) << "for f16 alone";
  for (const Launch& launch : launches_of("tensor_ops/dot/f16/n=1024", "large")) {
    const float product =
        widen(launch.inputs[0][0].as<Float16>()[0]) * widen(launch.inputs[0][1].as<Float16>()[0]);
    EXPECT_TRUE(std::isinf(widen(round_to<Float16>(product))));
    EXPECT_EQ(launch.results[0], 0);
  }
}

TEST(Ordered, AreInEachOrderOnce) {
  std::set<std::string> kinds;
  for (const Launch& launch : launches_of("tensor_ops/sort/f32/n=1003", "ordered")) {
    const auto x = launch.inputs[0][0].as<float>();
    std::int64_t falls = 0;
    for (std::size_t i = 1; i < x.size(); ++i) falls += x[i] < x[i - 1] ? 1 : 0;
    kinds.insert(falls == 0      ? "ascending"
                 : falls == 1    ? "two halves"
                 : falls <= 6    ? "a few exchanged"
                 : falls == 1002 ? "descending"
                                 : "few small ones, then any");
    EXPECT_LT(std::ranges::min(x), 16) << "from 0 on";
    EXPECT_GT(std::ranges::max(x), 1e8);
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(orders));
}

TEST(AnyBits, HaveNansThatSignalAndNumbers) {
  int signals = 0;
  int numbers = 0;
  for (const Launch& launch : launches_of("tensor_ops/copy/f32/n=1003", "any_bits")) {
    for (const float x : launch.inputs[0][0].as<float>()) {
      constexpr std::uint32_t quiet = 1U << 22U;
      signals += std::isnan(x) && (std::bit_cast<std::uint32_t>(x) & quiet) == 0 ? 1 : 0;
      numbers += std::isfinite(x) ? 1 : 0;
    }
  }
  EXPECT_GT(signals, 50);
  EXPECT_GT(numbers, 500);
}

TEST(Ties, AreHalvesOfBothSignsAndOfAllSizes) {
  std::set<int> sizes;
  std::size_t negative = 0;
  for (const Launch& launch : launches_of("tensor_ops/round/f64/n=65537", "ties")) {
    for (const double x : launch.inputs[0][0].as<double>()) {
      ASSERT_EQ(std::abs(x - std::trunc(x)), 0.5) << x;
      sizes.insert(std::ilogb(x));
      negative += x < 0 ? 1 : 0;
    }
  }
  EXPECT_GT(negative, 2U * 65537U);
  for (const int size : {-1, 0, 3, 9, 12, 21, 39, 50}) EXPECT_TRUE(sizes.contains(size)) << size;
}

template <class T, class Word>
void expect_nan_in_turns(const char* case_id) {
  const auto launches = launches_of(case_id, "masks");
  ASSERT_EQ(launches.size(), 2U);
  std::ptrdiff_t infinite = 0;
  std::ptrdiff_t of_one_bit = 0;
  constexpr auto infinity = std::bit_cast<Word>(std::numeric_limits<T>::infinity());
  for (std::ptrdiff_t i = 0; i < 1003; ++i) {
    for (std::ptrdiff_t turn = 0; turn < 2; ++turn) {
      const T x = launches[std::size_t(turn)].inputs[0][0].template as<T>()[std::size_t(i)];
      of_one_bit +=
          std::isnan(x) && std::popcount(std::bit_cast<Word>(std::abs(x)) - infinity) == 1;
      EXPECT_EQ(std::isnan(x), (i + turn) % 2 == 0) << case_id << " " << i;
      infinite += std::isinf(x) ? 1 : 0;
    }
  }
  EXPECT_GT(infinite, 150) << case_id;
  EXPECT_GT(of_one_bit, 350) << case_id;
}

TEST(Masks, OfFloatsAreNanOrANumberWhichMayBeInfinite) {
  expect_nan_in_turns<double, std::uint64_t>("tensor_ops/isnan/f64/n=1003");
  expect_nan_in_turns<float, std::uint32_t>("tensor_ops/isnan/f32/n=1003");
  const auto narrow = launches_of("tensor_ops/isnan/bf16/n=1003", "masks");
  for (std::size_t i = 0; const BFloat16 x : narrow.at(0).inputs[0][0].as<BFloat16>()) {
    EXPECT_EQ(std::isnan(static_cast<float>(x)), i++ % 2 == 0);
  }
}

TEST(Clamp, OfBytesHasNoNegativeEnd) {
  const auto launches = launches_of("tensor_ops/clamp/u8/n=3", "around_zero");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].inputs[0][1].as<std::uint8_t>()[0], 0);
  EXPECT_EQ(launches[0].inputs[0][2].as<std::uint8_t>()[0], 1);
}

TEST(IsNan, HasSomeWhereItIsTimed) {
  const auto launches = launches_of("tensor_ops/isnan/f32/n=1003", "real_data");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(passes(parse_case_id("tensor_ops/isnan/f32/n=1003").op).back().name, "real_data");
  const auto x = launches[0].inputs[0][0].as<float>();
  EXPECT_GT(std::ranges::count_if(x, [](float e) { return std::isnan(e); }), 100);
}

TEST(RmsNorm, MultipliesSubnormalNumbersWithoutError) {
  const auto launches = launches_of("tensor_ops/rmsnorm/f32/rows=2053,cols=1", "tiny");
  ASSERT_EQ(launches.size(), 1U);
  const float weight = launches[0].inputs[0][1].as<float>()[0];
  for (const float x : launches[0].inputs[0][0].as<float>()) {
    ASSERT_EQ(double{x * weight}, double{x} * double{weight});
    ASSERT_LT(x, std::numeric_limits<float>::min());
  }
}

TEST(RmsNorm, HasOutliersThatNoProbableBoundJudges) {
  for (const Pass& pass : passes(parse_case_id("tensor_ops/rmsnorm/f32/rows=16,cols=1003").op)) {
    if (pass.name == "outliers") {
      EXPECT_EQ(pass.rule.unbiased_terms, 0);
    }
    if (pass.name == "real_data") {
      EXPECT_GT(pass.rule.unbiased_terms, 0);
    }
  }
}

template <class T>
void expect_divisors(const char* case_id) {
  std::set<int> widths;
  bool is_negative_somewhere = false;
  bool has_all_bits = false;
  for (const Launch& launch : launches_of(case_id, "all_sizes")) {
    for (const T b : launch.inputs[0][1].as<T>()) {
      EXPECT_TRUE(b != 0 && (std::is_unsigned_v<T> || b != static_cast<T>(-1))) << case_id;
      is_negative_somewhere |= b < 0;
      has_all_bits |= b == std::numeric_limits<T>::max();
      widths.insert(std::bit_width(static_cast<std::make_unsigned_t<T>>(b < 0 ? ~b : b)));
    }
  }
  EXPECT_EQ(is_negative_somewhere, std::is_signed_v<T>) << case_id;
  EXPECT_TRUE(has_all_bits) << case_id;
  EXPECT_EQ(std::ssize(widths), std::numeric_limits<T>::digits) << case_id;
}

TEST(Divisors, AreOfEachSizeAndNeitherZeroNorMinusOne) {
  expect_divisors<std::int64_t>("tensor_ops/floor_divide/i64/n=65537");
  expect_divisors<std::int32_t>("tensor_ops/remainder/i32/n=65537");
  expect_divisors<std::uint8_t>("tensor_ops/remainder/u8/n=65537");
}

TEST(SumsOfF16, HavePartsBeyondIt) {
  constexpr double f16_max = 65504;
  int parts = 0;
  const auto launches = launches_of("tensor_ops/sum_axis/f16/outer=20,n=61,inner=1", "large");
  ASSERT_EQ(launches.size(), 1U);
  for (std::size_t line = 0; line < 20; ++line) {
    double sum = 0;
    double most = 0;
    for (const Float16 x : launches[0].inputs[0][0].as<Float16>().subspan(line * 61, 61)) {
      sum += widen(x);
      most = std::max(most, std::abs(sum));
    }
    parts += most > f16_max && std::abs(sum) < f16_max ? 1 : 0;
  }
  EXPECT_GE(parts, 2);
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
