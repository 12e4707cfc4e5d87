#include "harness/input/generate.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "harness/input/distributions.h"
#include "harness/input/drawn_scale.h"
#include "harness/input/exact_data.h"
#include "harness/input/panel.h"
#include "harness/plan/case.h"
#include "kernels/core/block_format.h"

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
  // Element i does not depend on the length of the tensor (where the data do not depend on K).
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
    if (std::isnormal(x)) exponents.insert(std::ilogb(x));
    negative += std::signbit(x) ? 1 : 0;
  }
  EXPECT_EQ(exponents.size(), 254U) << "-126 to 127";
  EXPECT_NEAR(negative, 50000, 6 * std::sqrt(25000));
}

TEST(Generate, StratifiedDataStayInTheDomain) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/exp/f32/n=100000"), {1, 0, 0, 0});
  int relevant = 0;
  for (const float x : tensor.as<float>()) {
    const float magnitude = std::abs(x);
    if (!(magnitude < std::numeric_limits<float>::max())) continue;  // special values
    ASSERT_GE(x, -104);
    ASSERT_LE(x, 89);
    relevant += std::abs(x) > 0x1p-24F ? 1 : 0;
  }
  EXPECT_GT(relevant, 50000) << "exp of the others is 1";
}

TEST(Generate, OneInThirtyTwoStratifiedElementsIsSpecial) {
  const HostTensor tensor = tensor_of(op_of("tensor_ops/exp/f32/n=100000"), {1, 0, 0, 0});
  int nans = 0;
  int infinite = 0;
  int subnormal = 0;
  for (const float x : tensor.as<float>()) {
    nans += std::isnan(x) ? 1 : 0;
    infinite += std::isinf(x) ? 1 : 0;
    subnormal += std::fpclassify(x) == FP_SUBNORMAL ? 1 : 0;
  }
  const double each = 100000.0 / 32 / 8;
  EXPECT_NEAR(nans, each, 6 * std::sqrt(each));
  EXPECT_NEAR(infinite, each, 6 * std::sqrt(each));
  EXPECT_GE(subnormal, each);
}

TEST(Generate, Of16BitFloatsEveryValueComesOnce) {
  for (const char* id : {"tensor_ops/exp/f16/n=65536", "tensor_ops/exp/bf16/n=65536"}) {
    const HostTensor tensor = tensor_of(op_of(id), {1, 0, 0, 0});
    const auto* words = reinterpret_cast<const std::uint16_t*>(tensor.bytes().data());
    EXPECT_EQ(std::set<std::uint16_t>(words, words + 65536).size(), 65536U) << id;
  }
}

TEST(Generate, WhatIsCastFitsItsTarget) {
  const auto check = [](const char* id, double low, double high) {
    const HostTensor tensor = tensor_of(op_of(id), {1, 0, 0, 0});
    visit_dtype(tensor.spec().dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_integral_v<T>) {
        double least = 0;
        double greatest = 0;
        for (const T element : tensor.as<T>()) {
          const double x = std::trunc(widen(element));
          ASSERT_TRUE(x >= low && x <= high) << id << ": " << x;
          least = std::min(least, x);
          greatest = std::max(greatest, x);
        }
        EXPECT_GT(greatest, high / 3) << id;
        EXPECT_LE(least, low / 3) << id;
      }
    });
  };
  check("tensor_ops/cast/f32/to=u8,n=100000", 0, 255);
  check("tensor_ops/cast/f32/to=i8,n=100000", -128, 127);
  check("tensor_ops/cast/f16/to=u8,n=65536", 0, 255);
  check("tensor_ops/cast/bf16/to=i64,n=65536", -0x1p63, 0x1p63 - 1);
  check("tensor_ops/cast/f64/to=i16,n=1003", -32768, 32767);
  check("tensor_ops/cast/f32/to=u32,n=1003", 0, 0x1p32 - 1);
  check("tensor_ops/cast/f32/to=u64,n=1003", 0, 0x1p64 - 1);
}

/// Casts to bool that go through another type.
TEST(Generate, WhatIsCastToBoolIsOftenLostOnAWayThroughAnotherType) {
  const auto lost = []<class T>(const char* id, auto through, std::type_identity<T>) {
    const HostTensor tensor = tensor_of(op_of(id), {1, 0, 0, 0});
    int falsely = 0;
    int zeros = 0;
    for (const T x : tensor.as<T>()) {
      zeros += x == T{} ? 1 : 0;
      falsely += x != T{} && !through(x) ? 1 : 0;
    }
    EXPECT_GT(zeros, 100) << id;
    return falsely;
  };
  const auto whole = [](auto x) { return std::trunc(x) != 0; };
  const auto low_half = [](auto x) { return static_cast<std::int32_t>(x) != 0; };
  const auto in_f32 = [](double x) { return static_cast<float>(x) != 0; };
  EXPECT_GT(lost("tensor_ops/cast/f32/to=bool,n=1003", whole, std::type_identity<float>{}), 100);
  EXPECT_GT(lost("tensor_ops/cast/f64/to=bool,n=1003", in_f32, std::type_identity<double>{}), 20);
  EXPECT_GT(
      lost("tensor_ops/cast/i64/to=bool,n=1003", low_half, std::type_identity<std::int64_t>{}),
      100);
  const HostTensor truths = tensor_of(op_of("tensor_ops/cast/bool/to=f32,n=1003"), {1, 0, 0, 0});
  const auto ones = std::ranges::count(truths.as<Bool8>(), 1, &Bool8::bits);
  const auto others = std::ranges::count(truths.as<Bool8>(), 0, &Bool8::bits);
  EXPECT_EQ(ones + others, 1003);
  EXPECT_GT(std::min(ones, others), 400);
}

TEST(Generate, CastsRoundedTwiceAreOftenWrong) {
  // Rounding to bfloat16 through f32 is wrong where the f32 is a tie and the element is none.
  const auto taken_for_ties = [](const auto& elements) {
    return std::ranges::count_if(elements, [](auto x) {
      const auto nearest = static_cast<float>(x);
      return (std::bit_cast<std::uint32_t>(nearest) & 0xffffU) == 0x8000U &&
             static_cast<long double>(nearest) != static_cast<long double>(x);
    });
  };
  const HostTensor wide = tensor_of(op_of("tensor_ops/cast/f64/to=bf16,n=1003"), {1, 0, 0, 0});
  const HostTensor whole = tensor_of(op_of("tensor_ops/cast/i64/to=bf16,n=1003"), {1, 0, 0, 0});
  EXPECT_GT(taken_for_ties(wide.as<double>()), 20);
  EXPECT_GT(taken_for_ties(whole.as<std::int64_t>()), 50);
}

TEST(Generate, EverySpecialValueComesInRowsOfItsOwn) {
  const OpInstance op = op_of("tensor_ops/softmax/f32/rows=2000,cols=7");
  const Passes all = passes(op);
  const auto pass = static_cast<int>(std::ranges::find_if(all, &Pass::has_specials) - all.begin());
  const HostTensor tensor = tensor_of(op, {1, pass, 0, 0});
  int nan = 0, infinite = 0, invalid = 0, zero = 0, subnormal = 0, plain = 0;
  int infinite_twice = 0, nan_twice = 0, nan_and_infinite = 0, some_zero = 0, negative_nan = 0;
  for (std::size_t row = 0; row < 2000; ++row) {
    const auto x = tensor.as<float>().subspan(row * 7, 7);
    const auto count = [&](auto is) { return std::ranges::count_if(x, is); };
    const auto infinities = count([](float v) { return std::isinf(v); });
    nan += count([](float v) { return std::isnan(v); }) == 1 ? 1 : 0;
    infinite += infinities == 1 ? 1 : 0;
    invalid += infinities == 2 ? 1 : 0;
    zero += count([](float v) { return v == 0; }) == 7 ? 1 : 0;
    subnormal += count([](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }) == 7 ? 1 : 0;
    const auto nans = count([](float v) { return std::isnan(v); });
    const auto numbers = count([](float v) { return std::isnormal(v); });
    infinite_twice += infinities > 1 && numbers > 0 ? 1 : 0;
    nan_twice += nans > 1 && numbers > 0 ? 1 : 0;
    nan_and_infinite += nans > 0 && infinities > 0 ? 1 : 0;
    some_zero += count([](float v) { return v == 0; }) > 0 && numbers > 0 ? 1 : 0;
    negative_nan += count([](float v) { return std::isnan(v) && std::signbit(v); }) > 0 ? 1 : 0;
    plain += count([](float v) { return std::isnormal(v); }) == 7 ? 1 : 0;
  }
  for (const int rows : {nan, infinite, invalid, zero, subnormal}) EXPECT_GT(rows, 60);
  for (const int rows : {infinite_twice, nan_twice, nan_and_infinite, some_zero, negative_nan}) {
    EXPECT_GT(rows, 5);
  }
  EXPECT_GT(plain, 800);
}

TEST(Generate, SpecialValuesAreForSmallShapesOfFloats) {
  const auto count = [](const char* id) { return std::ssize(passes(op_of(id))); };
  EXPECT_EQ(count("tensor_ops/sum/f32/n=1003"), 24);
  EXPECT_EQ(count("tensor_ops/sum/i32/n=1003"), 2);
  EXPECT_EQ(count("tensor_ops/sum/f32/n=16777216"), 10);
}

TEST(Generate, LoneTermsAreOneNumberInEachLine) {
  const auto numbers = [](std::span<const float> x) {
    return std::ranges::count_if(x, [](float v) { return v != 0; });
  };
  const auto inputs_of = [](const char* id, std::string_view name, int input) {
    const OpInstance op = op_of(id);
    const Passes all = passes(op);
    const auto pass = std::ranges::find(all, name, &Pass::name) - all.begin();
    return tensor_of(op, {1, static_cast<int>(pass), 0, input});
  };
  EXPECT_EQ(numbers(inputs_of("tensor_ops/dot/f32/n=1003", "lone_terms", 0).as<float>()), 1);
  EXPECT_EQ(numbers(inputs_of("tensor_ops/dot/f32/n=1003", "lone_terms", 1).as<float>()), 1003);
  EXPECT_EQ(inputs_of("tensor_ops/sum/f32/n=0", "lone_terms", 0).as<float>().size(), 0U);
  constexpr auto layer = "linear/f32/batch=3,in=4099,out=17,bias=1,act=none";
  const HostTensor x = inputs_of(layer, "lone_terms", 0);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(numbers(x.as<float>().subspan(row * 4099, 4099)), 1);
  }
  EXPECT_EQ(numbers(inputs_of(layer, "lone_terms", 2).as<float>()), 0) << "no bias";
  const HostTensor columns =
      inputs_of("tensor_ops/sum_axis/f32/outer=3,n=101,inner=7", "lone_terms", 0);
  for (std::size_t line = 0; line < 21; ++line) {
    int numbers_of_line = 0;
    for (std::size_t row = 0; row < 101; ++row) {
      numbers_of_line += columns.as<float>()[(line / 7 * 101 + row) * 7 + line % 7] != 0 ? 1 : 0;
    }
    EXPECT_EQ(numbers_of_line, 1) << line;
  }
  for (const int cols : {1, 2, 7, 1000}) {
    const std::string id = "tensor_ops/softmax/f32/rows=5,cols=" + std::to_string(cols);
    const HostTensor logits = inputs_of(id.c_str(), "two_logits", 0);
    const auto row = static_cast<std::size_t>(cols);
    EXPECT_EQ(numbers(logits.as<float>().first(row)), std::min(2, cols));
    EXPECT_EQ(numbers(logits.as<float>().last(row)), std::min(2, cols));
  }
}

TEST(Generate, IndicesAreRowsOfTheTable) {
  const HostTensor tensor =
      tensor_of(op_of("tensor_ops/gather/f32/rows=7,cols=3,count=1000"), {1, 1, 0, 1});
  std::set<std::int64_t> rows(tensor.as<std::int64_t>().begin(), tensor.as<std::int64_t>().end());
  EXPECT_EQ(rows, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Generate, Of8BitFloatsEveryValueComes) {
  for (const char* id :
       {"tensor_ops/cast/e4m3/to=f32,n=256", "tensor_ops/cast/e5m2/to=f32,n=256"}) {
    const HostTensor tensor = tensor_of(op_of(id), {1, 0, 0, 0});
    EXPECT_EQ(std::set<std::byte>(tensor.bytes().begin(), tensor.bytes().end()).size(), 256U) << id;
  }
}

/// Counts the different values that lie exactly in the middle between two neighbours of `T`.
template <class T, class X>
std::size_t ties_among(std::span<const X> elements) {
  std::set<X> ties;
  for (unsigned code = 0; code < T::format.largest; ++code) {
    T low, high;
    low.bits = static_cast<std::uint8_t>(code);
    high.bits = static_cast<std::uint8_t>(code + 1);
    const X tie = (X{static_cast<float>(low)} + X{static_cast<float>(high)}) / 2;
    if (std::ranges::count(elements, tie) > 0) ties.insert(tie);
    if (std::ranges::count(elements, -tie) > 0) ties.insert(-tie);
  }
  return ties.size();
}

TEST(Generate, CastsTo8BitFloatsMeetTheTiesOfTheTarget) {
  const HostTensor narrow = tensor_of(op_of("tensor_ops/cast/f32/to=e4m3,n=65537"), {1, 0, 0, 0});
  EXPECT_EQ(ties_among<Float8E4M3>(narrow.as<float>()), 2U * 126) << "all, of both signs";
  const HostTensor wide = tensor_of(op_of("tensor_ops/cast/f64/to=e5m2,n=65537"), {1, 0, 0, 0});
  EXPECT_EQ(ties_among<Float8E5M2>(wide.as<double>()), 2U * 123);
}

/// Returns the bits that any element but NaN sets among those that a product in tf32 ignores.
std::uint32_t unused_bits(const HostTensor& tensor) {
  std::uint32_t found = 0;
  for (const float x : tensor.as<float>()) {
    if (!std::isnan(x)) found |= std::bit_cast<std::uint32_t>(x) & 0x1fffU;
  }
  return found;
}

TEST(Generate, ExactDataOfTf32HaveElevenBitsAndRealDataAll) {
  const OpInstance op = op_of("linear/tf32/batch=64,in=16,out=64,bias=1,act=none");
  for (const int input : {0, 1}) {
    EXPECT_EQ(unused_bits(tensor_of(op, {1, 0, 0, input})), 0U);
    EXPECT_EQ(unused_bits(tensor_of(op, {1, 2, 0, input})), 0x1fffU);
  }
  const HostTensor x = tensor_of(op, {1, 0, 0, 0});
  const auto [low, high] = std::ranges::minmax(x.as<float>());
  const float unit = std::ldexp(1.0F, drawn_exponent(op, {1, 0, 0, 0}));
  EXPECT_TRUE(low < -0.9F * unit && high > 0.9F * unit) << "dense integers of up to 10 bits";
}

TEST(Generate, SubnormalFactorsOfTf32AreNoZerosToIt) {
  const OpInstance op = op_of("linear/tf32/batch=64,in=16,out=64,bias=0,act=none");
  ASSERT_EQ(passes(op).at(1).name, "special_values");
  const HostTensor x = tensor_of(op, {1, 1, 0, 0});
  int subnormal = 0;
  for (const float element : x.as<float>()) {
    if (std::fpclassify(element) != FP_SUBNORMAL) continue;
    ++subnormal;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(element) & 0x1fffU, 0U);
  }
  EXPECT_GT(subnormal, 0);
}

TEST(Generate, Bf16PartsAreOneNumberInEachRowOfXAndAllOfW) {
  const OpInstance op = op_of("linear/bf16x9/batch=16,in=64,out=33,bias=1,act=none");
  ASSERT_EQ(passes(op).at(1).name, "bf16_parts");
  const auto is_number = [](float x) {
    int exponent = 0;
    return std::abs(std::ldexp(std::frexp(x, &exponent), 20)) == 528143;
  };
  const HostTensor x = tensor_of(op, {1, 1, 0, 0});
  const auto rows = x.as<float>();
  for (std::size_t row = 0; row < 16; ++row) {
    EXPECT_EQ(std::ranges::count_if(rows.subspan(row * 64, 64), is_number), 1);
    EXPECT_EQ(std::ranges::count(rows.subspan(row * 64, 64), 0.0F), 63);
  }
  EXPECT_EQ(std::ranges::count_if(tensor_of(op, {1, 1, 0, 1}).as<float>(), is_number), 33 * 64);
  EXPECT_EQ(std::ranges::count(tensor_of(op, {1, 1, 0, 2}).as<float>(), 0.0F), 33) << "no bias";
}

TEST(Generate, ExactDataOfTf32StacksStayExactThroughEveryLayer) {
  const OpInstance op =
      op_of("linear/linear_stack/tf32/batch=2,in=64,width=64,layers=3,bias=1,act=none");
  const ExactIntegers exact = exact_integers(op);
  const double per_row = std::ceil(64.0 / static_cast<double>(exact.stride));
  const double most = ((per_row + 1) * per_row + 1) * per_row + 1;
  EXPECT_EQ(exact.limit, 1);
  EXPECT_LE(most, 0x1p11);
}

TEST(Generate, ExactDataOfE4M3FitItAndSumsOf14Bits) {
  for (const int in : {16, 64, 1024, 4096, 16384}) {
    const OpInstance op =
        op_of(("linear/e4m3/batch=2,in=" + std::to_string(in) + ",out=2,bias=0,act=none").c_str());
    const auto m = static_cast<double>(exact_integers(op).limit);
    EXPECT_GE(m, 1);
    EXPECT_LE(m, 16) << "4 bits of significand";
    EXPECT_LE(m * m * in, 0x1p14);
    EXPECT_TRUE(m == 16 || (m + 1) * (m + 1) * in > 0x1p14) << "as large as can be";
  }
}

TEST(Generate, ExactDataOfBlocksFitSumsOf24BitsAndScalesDiffer) {
  for (const char* dtype : {"mxfp8", "mxfp4", "nvfp4"}) {
    for (const char* rest : {"in=64,out=32,bias=0,act=none", "in=11008,out=32,bias=1,act=gelu",
                             "in=131072,out=32,bias=0,act=none"}) {
      const std::string id = std::string("linear/") + dtype + "/batch=4," + rest;
      const OpInstance op = op_of(id.c_str());
      const BlockFormat& format = *block_format(op.format);
      const std::size_t scales = op.signature.inputs.size() - 2;
      const HostTensor elements = tensor_of(op, {1, 0, 0, 1});
      const HostTensor powers = tensor_of(op, {1, 0, 0, static_cast<int>(scales) + 1});
      std::vector<float> values(static_cast<std::size_t>(op.params.integer("in")) * 32);
      dequantize(format, elements.as<std::uint8_t>().data(), powers.as<std::uint8_t>().data(),
                 values);
      const double unit = exact_integers(op).scale(op, 1);
      double largest = 0;
      int zeros = 0;
      for (const float value : values) {
        EXPECT_EQ(std::trunc(value / unit), value / unit) << id;
        largest = std::max(largest, std::abs(value / unit));
        zeros += value == 0 ? 1 : 0;
      }
      EXPECT_EQ(zeros, 0) << id;
      EXPECT_GE(largest, 8) << id;
      EXPECT_LE(largest * largest * static_cast<double>(op.signature.terms), 0x1p24) << id;
      const auto codes = powers.as<std::uint8_t>();
      EXPECT_EQ(std::set<std::uint8_t>(codes.begin(), codes.end()).size(), 4U) << id;
    }
  }
}

TEST(Generate, SpecialValuesOfBlocksAreThoseOfTheirFormats) {
  for (const char* dtype : {"mxfp8", "mxfp4", "nvfp4"}) {
    const std::string id =
        std::string("linear/") + dtype + "/batch=64,in=64,out=64,bias=0,act=none";
    const OpInstance op = op_of(id.c_str());
    const BlockFormat& format = *block_format(op.format);
    const HostTensor elements = tensor_of(op, {1, 1, 0, 0});
    const HostTensor scales = tensor_of(op, {1, 1, 0, 2});
    std::vector<float> values(64 * 64);
    dequantize(format, elements.as<std::uint8_t>().data(), scales.as<std::uint8_t>().data(),
               values);
    EXPECT_TRUE(std::ranges::any_of(values, [](float x) { return std::isnan(x); })) << id;
    EXPECT_TRUE(std::ranges::none_of(values, [](float x) { return std::isinf(x); })) << id;
    int rows_of_zeros = 0;
    for (std::size_t row = 0; row < 64; ++row) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * 64);
      rows_of_zeros += std::all_of(first, first + 64, [](float x) { return x == 0; }) ? 1 : 0;
    }
    EXPECT_GT(rows_of_zeros, 0) << id;
  }
}

TEST(Generate, E4M3HasItsLargestNumbersForInfinities) {
  const OpInstance op = op_of("linear/e4m3/batch=64,in=16,out=64,bias=0,act=none");
  const HostTensor x = tensor_of(op, {1, 1, 0, 0});
  int largest = 0, nan = 0;
  for (const Float8E4M3 element : x.as<Float8E4M3>()) {
    largest += (element.bits & 0x7fU) == 0x7eU ? 1 : 0;
    nan += (element.bits & 0x7fU) == 0x7fU ? 1 : 0;
  }
  EXPECT_GT(largest, 0);
  EXPECT_GT(nan, 0);
}

TEST(Generate, FactorsMultiplyWithoutOverflow) {
  for (const char* id : {"tensor_ops/prod/f32/n=100003", "tensor_ops/prod/f16/n=100003"}) {
    const OpInstance op = op_of(id);
    const HostTensor tensor = tensor_of(op, {1, 0, 0, 0});
    double product = 1;
    int factors = 0;
    visit_dtype(op.dtype(), [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_integral_v<T>) {
        for (const T element : tensor.as<T>()) {
          const double x = static_cast<float>(element);
          product *= x;
          factors += std::abs(x) != 1 ? 1 : 0;
          ASSERT_TRUE(std::abs(x) == 0.5 || std::abs(x) == 1 || std::abs(x) == 2);
        }
      }
    });
    const int most = largest_exponent(op.dtype());
    EXPECT_GT(factors, most / 2) << id;
    EXPECT_LE(std::abs(std::ilogb(product)), most) << id;
  }
}

/// Bytes of row r of a matrix.
std::string row_bytes(const HostTensor& tensor, std::size_t row) {
  const auto cols = static_cast<std::size_t>(tensor.spec().shape.at(1)) * sizeof(float);
  const auto bytes = tensor.bytes().subspan(row * cols, cols);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Panels, RowsRepeatWithAnotherPrimeInEachPass) {
  const OpInstance op = op_of("linear/f32/batch=300,in=8,out=400,bias=1,act=none");
  for (const auto& [pass, period] : {std::pair{0, 127}, std::pair{1, 131}}) {
    const auto p = static_cast<std::size_t>(period);
    EXPECT_EQ(panel(op, pass).rows, period);
    EXPECT_EQ(panel(op, pass).cols, period);
    for (const int input : {0, 1}) {
      const HostTensor tensor = tensor_of(op, {1, pass, 0, input});
      EXPECT_EQ(row_bytes(tensor, 0), row_bytes(tensor, p));
      EXPECT_EQ(row_bytes(tensor, 5), row_bytes(tensor, 5 + 2 * p));
      EXPECT_NE(row_bytes(tensor, 0), row_bytes(tensor, 1));
      EXPECT_NE(row_bytes(tensor, 0), row_bytes(tensor, p - 1));
    }
    const HostTensor bias = tensor_of(op, {1, pass, 0, 2});
    EXPECT_EQ(bias.as<float>()[3], bias.as<float>()[3 + p]);
  }
}

TEST(Panels, PeriodsOfBothPassesTellEveryRowApart) {
  for (const std::int64_t out : {1, 64}) {
    for (const std::int64_t rows : {1, 127, 128, 257, 258, 16000, 16637, 50000, 200000}) {
      const std::string extents =
          "batch=" + std::to_string(rows) + ",in=1,out=" + std::to_string(out);
      const OpInstance op = op_of(("linear/f32/" + extents + ",bias=0,act=none").c_str());
      const std::int64_t first = panel(op, 0).rows;
      const std::int64_t second = panel(op, 1).rows;
      EXPECT_TRUE(first == rows || first * second > rows) << extents;
      EXPECT_EQ(first == rows, rows <= (out == 1 ? 257 : 127)) << extents;
    }
  }
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

TEST(ExactData, SumsInHalfPrecisionAreScaledToStayFinite) {
  const OpInstance op = op_of("linear/f16/batch=3,in=1000,out=3,bias=1,act=none");
  const ExactIntegers exact = exact_integers(op);
  const double largest = static_cast<double>(exact.limit) * static_cast<double>(exact.limit) *
                         exact.scale(op, 0) * exact.scale(op, 1);
  EXPECT_LE(1001 * largest, 65504);
  EXPECT_EQ(exact.scale(op, 0) * exact.scale(op, 1), exact.scale(op, 2)) << "the bias is a term";
}

TEST(ExactData, SumsBehindAGeluAreOfTheOrderOfOne) {
  const OpInstance op = op_of("linear/f32/batch=64,in=1024,out=64,bias=0,act=gelu");
  const HostTensor x = tensor_of(op, {1, 0, 0, 0});
  const HostTensor w = tensor_of(op, {1, 0, 0, 1});
  double squares = 0;
  for (std::size_t row = 0; row < 64; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 1024; ++i) {
      sum += static_cast<double>(x.as<float>()[row * 1024 + i]) *
             static_cast<double>(w.as<float>()[row * 1024 + i]);
    }
    squares += sum * sum;
  }
  EXPECT_NEAR(std::sqrt(squares / 64), 1.5, 0.8);
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

/// Elements of a tensor as doubles.
std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> values;
  visit_dtype(tensor.spec().dtype, [&]<class T>(std::type_identity<T>) {
    for (const T x : tensor.as<T>()) {
      values.push_back(widen(x));
    }
  });
  return values;
}

/// Exponent of the lowest bit that is set.
int lowest_bit(double x) {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(digits));
}

/// True if every partial sum of `terms` is a number of `bits` bits: because all are multiples of a
/// unit and their magnitudes sum to at most 2^bits of them; and in several random orders.
bool is_exact_in_any_order(std::vector<double> terms, int bits, std::uint64_t seed) {
  double magnitude = 0;
  int unit = 2000;
  for (const double term : terms) {
    magnitude += std::abs(term);
    if (term != 0) unit = std::min(unit, lowest_bit(term));
  }
  if (magnitude > std::ldexp(1.0, bits + unit)) return false;
  const auto fits = [&](double sum) {
    int exponent = 0;
    const double digits = std::ldexp(std::frexp(sum, &exponent), bits);
    return digits == std::trunc(digits);
  };
  for (int order = 0; order < 4; ++order) {
    double sum = 0;
    for (const double term : terms) {
      sum += term;
      if (!fits(sum)) return false;
    }
    if (order == 2) {
      std::ranges::sort(terms);
      continue;
    }
    for (std::size_t i = terms.size(); i > 1; --i) std::swap(terms[i - 1], terms[mix(++seed) % i]);
  }
  return true;
}

/// Terms of output (row, col) of a product x W^T + b.
std::vector<double> terms_of(const OpInstance& op, const std::vector<std::vector<double>>& inputs,
                             std::size_t row, std::size_t col) {
  const auto k = static_cast<std::size_t>(op.signature.inputs[0].shape[1]);
  std::vector<double> terms;
  for (std::size_t i = 0; i < k; ++i) {
    terms.push_back(inputs[0][row * k + i] * inputs[1][col * k + i]);
  }
  if (inputs.size() > 2) terms.push_back(inputs[2][col]);
  return terms;
}

TEST(ExactData, EveryPartialSumOfAScaledProductIsExact) {
  for (const char* dtype : {"f64", "f32", "tf32", "bf16", "f16", "e4m3"}) {
    for (const char* rest : {"in=64,out=5,bias=0,act=none", "in=1008,out=5,bias=1,act=none",
                             "in=512,out=5,bias=1,act=gelu", "in=4096,out=5,bias=0,act=relu"}) {
      const std::string id = std::string("linear/") + dtype + "/batch=6," + rest;
      const OpInstance op = op_of(id.c_str());
      const int bits =
          op.format == DType::e4m3 ? 14 : std::min(53, precision_bits(accumulator(op)));
      for (const std::uint64_t seed : {1U, 2U, 3U}) {
        std::vector<std::vector<double>> inputs;
        for (int i = 0; i < std::ssize(op.signature.inputs); ++i) {
          inputs.push_back(values_of(tensor_of(op, {seed, 0, 0, i})));
        }
        for (std::size_t row = 0; row < 6; ++row) {
          for (std::size_t col = 0; col < 5; ++col) {
            const std::vector<double> terms = terms_of(op, inputs, row, col);
            EXPECT_TRUE(is_exact_in_any_order(terms, bits, seed)) << id;
            EXPECT_LE(std::abs(std::accumulate(terms.begin(), terms.end(), 0.0)),
                      largest_exponent(output_dtype(op)) == 15 ? 65504.0 : 1e30);
          }
        }
      }
    }
  }
}

TEST(ExactData, EveryPartialSumOfAScaledReductionIsExact) {
  for (const char* dtype : {"f64", "f32", "bf16", "f16"}) {
    for (const char* name : {"sum", "mean", "scan", "dot", "norm2"}) {
      const std::string id = std::string("tensor_ops/") + name + "/" + dtype + "/n=4099";
      const OpInstance op = op_of(id.c_str());
      for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        std::vector<double> terms = values_of(tensor_of(op, {seed, 0, 0, 0}));
        if (op.signature.factors_per_term == 2) {
          const int last = static_cast<int>(op.signature.inputs.size()) - 1;
          const std::vector<double> other = values_of(tensor_of(op, {seed, 0, 0, last}));
          for (std::size_t i = 0; i < terms.size(); ++i) terms[i] *= other[i];
        }
        EXPECT_TRUE(is_exact_in_any_order(terms, precision_bits(accumulator(op)), seed)) << id;
      }
    }
  }
}

/// Number of elements among the first 64 that are no whole numbers.
std::ptrdiff_t fractions(const HostTensor& tensor) {
  const std::vector<double> values = values_of(tensor);
  return std::count_if(values.begin(), values.begin() + 64,
                       [](double x) { return std::trunc(x) != x; });
}

TEST(DrawnScales, MakeExactDataFractions) {
  for (const char* id : {"tensor_ops/sum/f32/n=4096", "tensor_ops/dot/f32/n=4096",
                         "linear/f32/batch=64,in=64,out=64,bias=1,act=none"}) {
    const OpInstance op = op_of(id);
    int with_fractions = 0;
    std::set<int> exponents;
    for (std::uint64_t seed = 1; seed <= 64; ++seed) {
      with_fractions += fractions(tensor_of(op, {seed, 0, 0, 0})) > 0 ? 1 : 0;
      exponents.insert(drawn_exponent(op, {seed, 0, 0, 0}));
    }
    EXPECT_EQ(exponents.size(), 13U) << id;
    EXPECT_GT(with_fractions, 55) << id;
  }
}

TEST(DrawnScales, GiveExactAndRealDataTheSameSizes) {
  for (const char* id :
       {"tensor_ops/sum/f32/n=4096", "tensor_ops/dot/bf16/n=65536", "tensor_ops/norm2/f32/n=65536",
        "tensor_ops/sum/f16/n=1048576", "linear/tf32/batch=64,in=64,out=64,bias=1,act=none"}) {
    const OpInstance op = op_of(id);
    std::array<std::set<int>, 2> binades;
    for (const bool is_real : {false, true}) {
      const int pass = is_real ? static_cast<int>(passes(op).size()) - 1 : 0;
      for (std::uint64_t seed = 1; seed <= 64; ++seed) {
        const std::vector<double> x = values_of(tensor_of(op, {seed, pass, 0, 0}));
        binades.at(is_real ? 1 : 0).insert(std::ilogb(*std::ranges::max_element(x)));
      }
    }
    EXPECT_LE(std::abs(*binades[0].begin() - *binades[1].begin()), 1) << id;
    EXPECT_LE(std::abs(*binades[0].rbegin() - *binades[1].rbegin()), 1) << id;
  }
}

TEST(DrawnScales, RowsOfAProductWithoutBiasHaveTheirOwn) {
  const OpInstance op = op_of("linear/bf16/batch=64,in=64,out=64,bias=0,act=none");
  for (const int input : {0, 1}) {
    const std::vector<double> x = values_of(tensor_of(op, {1, 0, 0, input}));
    std::set<int> tops;
    for (std::size_t row = 0; row < 64; ++row) {
      double most = 0;
      for (std::size_t i = 0; i < 64; ++i) most = std::max(most, std::abs(x[row * 64 + i]));
      tops.insert(std::ilogb(most));
    }
    EXPECT_GE(tops.size(), 4U) << input;
  }
}

/// The power of two of which a number is an odd multiple.
int unit_exponent(double x) {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(digits));
}

TEST(DrawnScales, LinesOfGradientsHaveTheirOwn) {
  constexpr std::size_t terms = 64, lines = 48;
  const OpInstance op = op_of("linear/linear_dw/f32/batch=64,in=48,out=48");
  for (const int input : {0, 1}) {
    const std::vector<double> x = values_of(tensor_of(op, {1, 0, 0, input}));
    std::set<int> units;
    for (std::size_t line = 0; line < lines; ++line) {
      std::array<int, 2> of_half{1000, 1000};
      for (std::size_t place = 0; place < terms; ++place) {
        const double element = x[place * lines + line];
        int& least = of_half.at(2 * place / terms);
        if (element != 0) least = std::min(least, unit_exponent(element));
      }
      EXPECT_EQ(of_half[0], of_half[1]) << input << " " << line;
      units.insert(of_half[0]);
    }
    EXPECT_EQ(units.size(), 4U) << input;
  }
}

TEST(DrawnScales, ABiasIsATermLikeOthersBesideRowsOfTheirOwn) {
  int with_own = 0;
  for (const int in : {16, 64, 512, 2048, 4095, 4096, 16384}) {
    const OpInstance op =
        op_of(("linear/bf16/batch=2,in=" + std::to_string(in) + ",out=2,bias=1,act=none").c_str());
    if (own_scale_elements(op, passes(op).at(0), 0) == 0) continue;
    ++with_own;
    const double limit = static_cast<double>(exact_integers(op).limit);
    EXPECT_LE(limit * std::exp2(3 + 3), limit * limit) << in;
  }
  EXPECT_EQ(with_own, 5);
}

TEST(DrawnScales, OfAProductsFactorsAreOpposite) {
  const OpInstance op = op_of("linear/f16/batch=64,in=64,out=64,bias=1,act=gelu");
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    EXPECT_EQ(drawn_exponent(op, {seed, 0, 0, 0}), -drawn_exponent(op, {seed, 0, 0, 1}));
    EXPECT_EQ(drawn_exponent(op, {seed, 0, 0, 2}), 0) << "the bias";
    EXPECT_EQ(drawn_exponent(op, {seed, 0, 5, 0}), drawn_exponent(op, {seed, 0, 0, 0})) << "ranks";
    EXPECT_LE(drawn_exponent(op_of("tensor_ops/sum/f16/n=64"), {seed, 0, 0, 0}), 0);
  }
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
  const float unit = std::abs(tensor.as<float>()[0]);
  double sum = 0;
  for (const float x : tensor.as<float>().first(100000)) {
    ASSERT_EQ(std::abs(x), unit);
    sum += x / unit;
  }
  EXPECT_NEAR(sum / 100000, 0.8, 0.02);
}

TEST(Generate, LinesOfVerifiedGradientsRepeat) {
  const OpInstance op = op_of("linear/linear_dw/f32/batch=16,in=290,out=300");
  const int last = static_cast<int>(std::ssize(passes(op))) - 1;
  for (int input = 0; input < 2; ++input) {
    const auto period = static_cast<std::size_t>(rows_before_repeat(op, last, input));
    const auto lines =
        static_cast<std::size_t>(op.signature.inputs[static_cast<std::size_t>(input)].shape[1]);
    ASSERT_GT(period, 0U);
    ASSERT_LT(period, lines);
    const std::vector<double> x = values_of(tensor_of(op, {7, last, 0, input}));
    const auto differing = [&](std::size_t distance) {
      int count = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (i % lines >= distance && x[i] != x[i - distance]) ++count;
      }
      return count;
    };
    EXPECT_EQ(differing(period), 0) << input;
    EXPECT_GT(differing(1), 0) << input;
    for (std::size_t i = 0; i < lines; ++i) EXPECT_NE(x[i], x[i + lines]) << "terms repeat";
  }
}

TEST(Generate, RowsOfTimedProductsNeverRepeat) {
  const OpInstance op = op_of("linear/f32/batch=300,in=16,out=290,bias=1,act=none");
  const int last = static_cast<int>(std::ssize(passes(op))) - 1;
  for (int input = 0; input < 3; ++input) {
    const std::int64_t period = rows_before_repeat(op, last, input);
    ASSERT_GT(period, 0);
    TensorKey key{7, last, 0, input};
    const auto at = [&](const HostTensor& tensor, std::int64_t row) {
      const auto bytes = tensor.bytes();
      const std::size_t row_bytes =
          bytes.size() / static_cast<std::size_t>(tensor.spec().shape.at(0));
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(row_bytes) * row;
      return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(row_bytes));
    };
    const HostTensor verified = tensor_of(op, key);
    EXPECT_EQ(at(verified, period), at(verified, 0));
    key.may_repeat = false;
    const HostTensor timed = tensor_of(op, key);
    for (std::int64_t row = period; row < timed.spec().shape.at(0); ++row) {
      ASSERT_NE(at(timed, row), at(timed, row - period)) << input;
    }
  }
}

}  // namespace
}  // namespace assay::input
