// References of the products, on cases small enough to be computed by hand, and mistakes that their
// test data and bounds catch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harness/execute/verify_launch.h"
#include "harness/input/panel.h"
#include "tests/unit/example.h"

namespace assay::oracle {
namespace {

template <class T>
std::vector<T> as(const std::vector<double>& values) {
  std::vector<T> elements;
  for (const double value : values) {
    if constexpr (is_narrow_float<T>) {
      elements.push_back(T(static_cast<float>(value)));
    } else {
      elements.push_back(static_cast<T>(value));
    }
  }
  return elements;
}

template <class T>
class Products : public testing::Test {
 protected:
  static std::string dtype() {
    std::string found;
    for (const DType dtype : all_dtypes()) {
      visit_dtype(dtype, [&]<class U>(std::type_identity<U>) {
        if (std::is_same_v<T, U> && found.empty()) found = name(dtype);
      });
    }
    return found;
  }
};
using Floats = testing::Types<double, float, BFloat16, Float16>;
TYPED_TEST_SUITE(Products, Floats);

TYPED_TEST(Products, LinearMultipliesByTheTransposedWeightAndAddsTheBias) {
  Example linear("linear/" + this->dtype() + "/batch=1,in=2,out=2,bias=1,act=none");
  linear.set(0, as<TypeParam>({1, 2})).set(1, as<TypeParam>({3, 4, 5, 6}));
  linear.set(2, as<TypeParam>({100, -200}));
  for (const std::size_t pass : {0U, 1U}) {
    EXPECT_TRUE(linear.judge(pass, as<TypeParam>({111, -183})).passed());
    EXPECT_FALSE(linear.judge(pass, as<TypeParam>({11, 17})).passed()) << "bias skipped";
    EXPECT_FALSE(linear.judge(pass, as<TypeParam>({113, -184})).passed()) << "w not transposed";
  }
}

TYPED_TEST(Products, ReluClipsAfterTheBias) {
  Example linear("linear/" + this->dtype() + "/batch=1,in=1,out=2,bias=1,act=relu");
  linear.set(0, as<TypeParam>({1})).set(1, as<TypeParam>({-2, 3})).set(2, as<TypeParam>({4, -5}));
  EXPECT_TRUE(linear.judge(0, as<TypeParam>({2, 0})).passed());
  EXPECT_FALSE(linear.judge(0, as<TypeParam>({4, 0})).passed()) << "clipped before the bias";
  EXPECT_FALSE(linear.judge(0, as<TypeParam>({2, -2})).passed()) << "not clipped";
}

double gelu(double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

/// At -2.75 the two forms differ by 5%, which 8 bits of significand tell apart.
TYPED_TEST(Products, AGeluIsNotItsTanhForm) {
  for (const bool is_tanh : {false, true}) {
    Example linear("linear/" + this->dtype() +
                   "/batch=1,in=1,out=1,bias=0,act=" + (is_tanh ? "gelu_tanh" : "gelu"));
    linear.set(0, as<TypeParam>({-2.75})).set(1, as<TypeParam>({1}));
    for (const std::size_t pass : {0U, 1U}) {
      EXPECT_EQ(linear.judge(pass, as<TypeParam>({gelu(-2.75)})).passed(), !is_tanh);
      EXPECT_EQ(linear.judge(pass, as<TypeParam>({gelu_tanh(-2.75)})).passed(), is_tanh);
    }
  }
}

TEST(Linear, AGeluOfARoundedSumIsCaught) {
  Example linear("linear/bf16/batch=1,in=2,out=1,bias=0,act=gelu");
  linear.set(0, as<BFloat16>({-2.75, 0x1.8p-8})).set(1, as<BFloat16>({1, 1}));
  EXPECT_TRUE(linear.judge(0, as<BFloat16>({gelu(-2.75 + 0x1.8p-8)})).passed());
  EXPECT_FALSE(linear.judge(0, as<BFloat16>({gelu(-2.75)})).passed());
}

TEST(Linear, F64IsJudgedInMoreThanF64) {
  Example cancelling("linear/f64/batch=1,in=4,out=1,bias=0,act=none");
  cancelling.set<double>(0, {0x1p53, 1, 1, -0x1p53}).set<double>(1, {1, 1, 1, 1});
  EXPECT_TRUE(cancelling.judge<double>(0, {2}).passed());
  EXPECT_FALSE(cancelling.judge<double>(0, {0}).passed());
  // (1 + e)(1 - e) - 1 = -e^2, which a rounded product loses.
  Example product("linear/f64/batch=1,in=1,out=1,bias=1,act=none");
  product.set<double>(0, {1 + 0x1p-30}).set<double>(1, {1 - 0x1p-30}).set<double>(2, {-1});
  EXPECT_TRUE(product.judge<double>(0, {-0x1p-60}).passed());
  EXPECT_FALSE(product.judge<double>(0, {0}).passed());
}

TEST(Linear, IntegersGiveI32AndWrap) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  Example linear("linear/i8/batch=1,in=2,out=2,bias=1,act=none");
  linear.set<std::int8_t>(0, {-128, 127}).set<std::int8_t>(1, {-128, 127, 0, 1});
  linear.set<std::int32_t>(2, {0, most});
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  EXPECT_TRUE(linear.judge<std::int32_t>(1, {32513, least + 126}).passed());
  EXPECT_FALSE(linear.judge<std::int32_t>(1, {32767, least + 126}).passed()) << "16 bits";
  EXPECT_FALSE(linear.judge<std::int32_t>(1, {32513, most}).passed()) << "saturated";
  Example relu("linear/i8/batch=1,in=1,out=1,bias=0,act=relu");
  relu.set<std::int8_t>(0, {-128}).set<std::int8_t>(1, {127});
  EXPECT_TRUE(relu.judge<std::int32_t>(1, {0}).passed());
  EXPECT_FALSE(relu.judge<std::int32_t>(1, {-16256}).passed());
}

TYPED_TEST(Products, BatchesAreMultipliedEachByItsOwn) {
  Example product("tensor_ops/batched_matmul/" + this->dtype() + "/batch=2,m=1,n=2,k=2");
  product.set(0, as<TypeParam>({1, 2, 1, 0})).set(1, as<TypeParam>({1, 2, 3, 4, 5, 6, 7, 8}));
  for (const std::size_t pass : {0U, 1U}) {
    EXPECT_TRUE(product.judge(pass, as<TypeParam>({7, 10, 5, 6})).passed());
    EXPECT_FALSE(product.judge(pass, as<TypeParam>({5, 11, 5, 7})).passed()) << "b transposed";
    EXPECT_FALSE(product.judge(pass, as<TypeParam>({7, 10, 1, 2})).passed()) << "b of batch 0";
  }
}

// --- Panels --------------------------------------------------------------------------------------

/// Both passes of a product whose inputs repeat, and its right outputs by a reference without
/// look-up.
struct Repeating {
  OpInstance op = parse_case_id("linear/f32/batch=300,in=512,out=290,bias=1,act=relu").op;
  static constexpr std::size_t rows = 300;
  static constexpr std::size_t cols = 290;
  std::vector<RankInputs> inputs;
  std::vector<std::vector<float>> right;

  Repeating() {
    for (const int pass : {0, 1}) {
      inputs.push_back(generate_inputs(op, pass, 1, 1));
      std::vector<double> value(rows * cols), rest(rows * cols), scale(rows * cols);
      const reference::Reference reference = reference::find(op);
      const reference::Problem whole{op, inputs.back()};
      reference.values(whole, reference::solve(reference, whole), 0, {value, rest, scale});
      right.emplace_back(value.begin(), value.end());
    }
  }

  bool accepts(int pass, const std::vector<float>& output) const {
    const auto at = static_cast<std::size_t>(pass);
    const reference::Reference reference = reference::find(op);
    const reference::Problem problem{op, inputs[at], input::panel(op, pass)};
    const reference::State state = reference::solve(reference, problem);
    EXPECT_EQ(state.size(), pass == 0 ? 127U * 127U * 3U : 131U * 131U * 3U);
    return compare(reference, problem, state, tolerance(passes(op).at(at).rule, op),
                   std::as_bytes(std::span(output)), 0)
        .passed();
  }

  /// Returns the right output with a 16 x 16 tile from `down` rows and `across` columns further on.
  std::vector<float> misplaced(int pass, std::size_t down, std::size_t across) const {
    const std::vector<float>& y = right[static_cast<std::size_t>(pass)];
    std::vector<float> output = y;
    for (std::size_t r = 0; r < 16; ++r) {
      for (std::size_t c = 0; c < 16; ++c) {
        output[r * cols + c] = y[(r + down) * cols + c + across];
      }
    }
    return output;
  }
};

TEST(Panels, OnePeriodJudgesTheWholeOutput) {
  const Repeating product;
  for (const int pass : {0, 1}) {
    std::vector<float> output = product.right[static_cast<std::size_t>(pass)];
    EXPECT_TRUE(product.accepts(pass, output));
    output.back() += 1;
    EXPECT_FALSE(product.accepts(pass, output));
  }
}

TEST(Panels, ATileThatIsMisplacedByAPeriodIsCaughtByTheOtherPass) {
  const Repeating product;
  const auto caught = [&](int pass, std::size_t down, std::size_t across) {
    return !product.accepts(pass, product.misplaced(pass, down, across));
  };
  for (const auto& [down, across] : {std::pair{127U, 0U}, {0U, 127U}, {127U, 127U}}) {
    EXPECT_FALSE(caught(0, down, across)) << "a period of this pass: it cannot tell";
    EXPECT_TRUE(caught(1, down, across)) << down << ", " << across;
  }
  for (const auto& [down, across] : {std::pair{131U, 0U}, {0U, 131U}, {131U, 131U}}) {
    EXPECT_TRUE(caught(0, down, across)) << down << ", " << across;
    EXPECT_FALSE(caught(1, down, across)) << "a period of this pass: it cannot tell";
  }
  EXPECT_TRUE(caught(0, 16, 0) && caught(1, 0, 16));
}

TEST(Panels, IntegersAreLookedUpToo) {
  const OpInstance op = parse_case_id("linear/i8/batch=140,in=3,out=150,bias=1,act=none").op;
  const RankInputs inputs = generate_inputs(op, 0, 1, 1);
  const reference::Reference reference = reference::find(op);
  const reference::Problem whole{op, inputs};
  std::vector<std::int32_t> output(140 * 150);
  reference.bits(whole, reference::solve(reference, whole), 0,
                 std::as_writable_bytes(std::span(output)));
  const reference::Problem problem{op, inputs, input::panel(op, 0)};
  const auto judge = [&] {
    return compare(reference, problem, reference::solve(reference, problem),
                   tolerance(passes(op)[0].rule, op), std::as_bytes(std::span(output)), 0);
  };
  EXPECT_TRUE(judge().passed());
  ++output.back();
  EXPECT_EQ(judge().mismatches, 1);
}

// --- Stacks --------------------------------------------------------------------------------------

TYPED_TEST(Products, AStackFeedsEachLayerWithTheOneBefore) {
  Example stack("linear/linear_stack/" + this->dtype() +
                "/batch=1,in=2,width=2,layers=2,bias=1,act=relu");
  stack.set(0, as<TypeParam>({1, 2}));
  stack.set(1, as<TypeParam>({3, 4, 5, -6})).set(2, as<TypeParam>({1, 2}));  // 12, and -5: 0
  stack.set(3, as<TypeParam>({1, 1, 2, 3})).set(4, as<TypeParam>({-20, 5}));
  for (const std::size_t pass : {0U, 1U}) {
    EXPECT_TRUE(stack.judge(pass, as<TypeParam>({0, 29})).passed());
    EXPECT_FALSE(stack.judge(pass, as<TypeParam>({-8, 29})).passed()) << "no relu at the end";
    EXPECT_FALSE(stack.judge(pass, as<TypeParam>({0, 14})).passed()) << "nor in between";
    EXPECT_FALSE(stack.judge(pass, as<TypeParam>({0, 27})).passed()) << "first layer's bias";
  }
}

TEST(Stacks, WhatLiesBetweenLayersIsRounded) {
  Example bf16("linear/linear_stack/bf16/batch=1,in=1,width=1,layers=2,bias=1,act=none");
  bf16.set(0, as<BFloat16>({16})).set(1, as<BFloat16>({16})).set(2, as<BFloat16>({1}));
  bf16.set(3, as<BFloat16>({1})).set(4, as<BFloat16>({-256}));
  EXPECT_TRUE(bf16.judge(0, as<BFloat16>({0})).passed()) << "257, a tie, is 256";
  EXPECT_FALSE(bf16.judge(0, as<BFloat16>({1})).passed()) << "kept in f32";
  Example f16("linear/linear_stack/f16/batch=1,in=1,width=1,layers=2,bias=1,act=none");
  f16.set(0, as<Float16>({32})).set(1, as<Float16>({64})).set(2, as<Float16>({1}));
  f16.set(3, as<Float16>({1})).set(4, as<Float16>({-2048}));
  EXPECT_TRUE(f16.judge(0, as<Float16>({0})).passed()) << "2049, a tie, is 2048";
  EXPECT_FALSE(f16.judge(0, as<Float16>({1})).passed()) << "kept in f32";
}

TEST(Stacks, TheRunningBoundIsTight) {
  // 1 * 1 * 1. Layer 1: u for its product, u to round it and u for the reference's own rounding;
  // layer 2: those, and u; then the output: 5 u and what is below.
  Example stack("linear/linear_stack/f32/batch=1,in=1,width=1,layers=2,bias=0,act=none");
  stack.set<float>(0, {1}).set<float>(1, {1}).set<float>(2, {1});
  constexpr float u = 0x1p-24F;
  EXPECT_TRUE(stack.judge<float>(1, {1 + 4 * u}).passed());
  EXPECT_FALSE(stack.judge<float>(1, {1 + 6 * u}).passed());
}

/// Passes |x| through layers of |w| and |b|: no partial sum, in any order, is larger.
double largest_sum(const OpInstance& op, const RankInputs& inputs) {
  std::vector<double> h;
  for (const float x : inputs[0][0].as<float>()) h.push_back(std::abs(x));
  const auto batch = static_cast<std::size_t>(op.params.integer("batch"));
  const auto width = static_cast<std::size_t>(op.params.integer("width"));
  for (std::size_t input = 1; input < inputs[0].size(); input += 2) {
    const auto w = inputs[0][input].as<float>();
    const auto bias = inputs[0][input + 1].as<float>();
    const std::size_t fan_in = h.size() / batch;
    std::vector<double> y(batch * width);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = std::abs(bias[i % width]);
      for (std::size_t j = 0; j < fan_in; ++j) {
        y[i] += h[i / width * fan_in + j] * std::abs(w[i % width * fan_in + j]);
      }
    }
    h = y;
  }
  return *std::ranges::max_element(h);
}

constexpr auto deep = "linear/linear_stack/f32/batch=3,in=300,width=512,layers=4,bias=1,act=relu";

TEST(Stacks, ExactDataOfDeepStacksNeitherRoundNorVanish) {
  const OpInstance op = parse_case_id(deep).op;
  const RankInputs inputs = generate_inputs(op, 0, 1, 1);
  EXPECT_LE(largest_sum(op, inputs), 0x1p24);
  for (const HostTensor& tensor : inputs[0]) {
    const auto elements = tensor.as<float>();
    const auto zeros = std::ranges::count(elements, 0.0F);
    EXPECT_LT(zeros, std::ssize(elements) * 19 / 20) << "some weights, but no tensor altogether";
    EXPECT_TRUE(std::ranges::any_of(elements, [](float x) { return x < 0; }));
  }
  const reference::Reference reference = reference::find(op);
  const reference::Problem problem{op, inputs};
  std::vector<double> value(3 * 512), rest(3 * 512), scale(3 * 512);
  reference.values(problem, reference::solve(reference, problem), 0, {value, rest, scale});
  const auto clipped = std::ranges::count(value, 0.0);
  EXPECT_GT(clipped, 200) << "relu has work to do";
  EXPECT_LT(clipped, 1300);
}

/// A bound beyond the result itself lets anything pass, zeros too.
TEST(Stacks, TheBoundOfDeepStacksIsFarBelowTheirResults) {
  for (const bool gelu : {false, true}) {
    std::string id = deep;
    if (gelu) id.replace(id.find("relu"), 4, "gelu");
    const OpInstance op = parse_case_id(id).op;
    for (const int pass : {0, 1}) {
      const Rule rule = passes(op).at(static_cast<std::size_t>(pass)).rule;
      if (rule.oracle == Oracle::exact) continue;
      const RankInputs inputs = generate_inputs(op, pass, 1, 1);
      const reference::Reference reference = reference::find(op);
      const reference::Problem problem{op, inputs};
      std::vector<double> value(3 * 512), rest(3 * 512), scale(3 * 512);
      reference.values(problem, reference::solve(reference, problem), 0, {value, rest, scale});
      int telling = 0;
      for (std::size_t i = 0; i < value.size(); ++i) {
        telling += scale[i] * 0x1p-24 < 0.01 * std::abs(value[i]) ? 1 : 0;
      }
      EXPECT_GT(telling, 700) << "of 1536, " << id << ", pass " << pass;
    }
  }
}

}  // namespace
}  // namespace assay::oracle
