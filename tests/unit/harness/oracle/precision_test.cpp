#include "harness/oracle/precision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "harness/execute/verify_launch.h"
#include "harness/input/generate.h"
#include "harness/oracle/compare.h"
#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay::oracle {
namespace {

/// Returns truncation to a significand of so many bits.
std::function<double(double)> cut_to_bits(int bits) {
  return [bits](double x) {
    const double unit = std::ldexp(1.0, std::ilogb(x) - bits + 1);
    return x == 0 ? 0 : std::trunc(x / unit) * unit;
  };
}

/// The real data of a product, with verdicts on outputs that are computed in different ways.
class Product {
 public:
  explicit Product(const std::string& dtype, int in = 512)
      : op_(parse_case_id("linear/" + dtype + "/batch=32,in=" + std::to_string(in) +
                          ",out=37,bias=0,act=none")
                .op),
        in_(static_cast<std::size_t>(in)),
        inputs_(generate_inputs(op_, last(), 1, 1)) {}

  /// Judges outputs with `factor` applied to each factor, and `sum` to each sum after each term.
  template <class T, class X = T, class Factor, class Sum>
  Verdict judged(const Factor& factor, const Sum& sum, std::size_t terms) const {
    const auto x = inputs_[0][0].as<X>();
    const auto w = inputs_[0][1].as<X>();
    std::vector<T> y;
    for (std::size_t row = 0; row < 32; ++row) {
      for (std::size_t col = 0; col < 37; ++col) {
        double total = 0;
        for (std::size_t i = 0; i < terms; ++i) {
          total = sum(total + factor(widen(x[row * in_ + i])) * factor(widen(w[col * in_ + i])));
        }
        y.push_back(T(static_cast<float>(total)));
      }
    }
    const reference::Reference reference = reference::find(op_);
    const reference::Problem problem{op_, inputs_, {}};
    return compare(reference, problem, reference::solve(reference, problem),
                   tolerance(rule(), op_, mode_), std::as_bytes(std::span(y)), 0);
  }
  /// Judges a unit that adds `step` products at once and cuts the sum to so many bits.
  template <class T, class X = T, class Factor>
  Verdict judged_in_steps(const Factor& factor, std::size_t step, int bits) const {
    std::size_t added = 0;
    const auto cut = cut_to_bits(bits);
    return judged<T, X>(factor, [&](double total) {
      added = added % in_ + 1;
      return added % step == 0 || added == in_ ? cut(total) : total;
    });
  }
  Product& declared(const MathMode& mode) {
    mode_ = mode;
    return *this;
  }
  const MathMode& mode() const { return mode_; }
  const OpInstance& op() const { return op_; }
  std::string note_of(const Verdict& verdict) const { return note(verdict, rule(), op_, mode_); }

  template <class T, class X = T, class Factor, class Sum>
  Verdict judged(const Factor& factor, const Sum& sum) const {
    return judged<T, X>(factor, sum, in_);
  }

  std::string objection_to(const Verdict& verdict) const {
    std::string text;
    for (const Objection& found : objections(verdict, rule(), op_, mode_))
      text += found.text + "; ";
    return text;
  }
  Precision of(const Verdict& verdict) const { return precision(verdict, rule(), op_, mode_); }
  Rule rule() const { return passes(op_).back().rule; }

 private:
  int last() const { return static_cast<int>(passes(op_).size()) - 1; }

  OpInstance op_;
  std::size_t in_;
  RankInputs inputs_;
  MathMode mode_;
};

constexpr MathMode truncating{.rounding = MathMode::Rounding::truncation, .step = 16};

double same(double x) { return x; }
double to_f32(double x) { return static_cast<float>(x); }
/// Returns rounding to a significand of so many bits.
std::function<double(double)> to_bits(int bits) {
  return [bits](double x) {
    const double unit = std::ldexp(1.0, std::ilogb(x) - bits + 1);
    return x == 0 ? 0 : std::nearbyint(x / unit) * unit;
  };
}

TEST(EffectiveBits, OfAChainInF32AreWhatTheFormulaSays) {
  for (const int in : {16, 512, 4096}) {
    const Product product("f32", in);
    const Verdict verdict = product.judged<float>(same, to_f32);
    EXPECT_TRUE(verdict.passed());
    EXPECT_EQ(product.objection_to(verdict), "");
    EXPECT_NEAR(*product.of(verdict).effective_bits, 24 + 1.75 - std::log2(in) / 2, 0.3) << in;
  }
}

TEST(EffectiveBits, ACorrectlyRoundedResultIsNotTooGood) {
  for (const int in : {1, 2, 512}) {
    const Product product("f32", in);
    EXPECT_EQ(product.objection_to(product.judged<float>(same, same)), "") << in;
  }
}

TEST(EffectiveBits, ShowWhatTheBoundLetsThrough) {
  const Product product("f32", 4096);
  const Verdict tf32 = product.judged<float>(to_bits(11), to_f32);
  EXPECT_TRUE(tf32.passed()) << "within the bound of 4096 terms";
  EXPECT_NEAR(*product.of(tf32).effective_bits, 11.9, 0.3);
  EXPECT_NE(product.objection_to(tf32).find("computed in less precision"), std::string::npos);
  const Verdict three_bf16 = product.judged<float>(to_bits(16), to_f32);
  EXPECT_TRUE(three_bf16.passed());
  EXPECT_NE(product.objection_to(three_bf16), "");
  const Verdict short_loop = product.judged<float>(same, to_f32, 4095);
  EXPECT_NE(product.objection_to(short_loop), "");
}

TEST(EffectiveBits, Tf32IsRightWhetherItsFactorsAreRoundedOrCut) {
  for (const int in : {1, 16, 512, 4096}) {
    const Product product("tf32", in);
    const Verdict rounded = product.judged<float>(to_bits(11), to_f32);
    EXPECT_TRUE(rounded.passed());
    EXPECT_EQ(product.objection_to(rounded) + product.note_of(rounded), "") << in;
    EXPECT_NEAR(*product.of(rounded).effective_bits, 11.9, 0.3) << in;
    const Verdict cut = product.judged<float>(cut_to_bits(11), to_f32);
    EXPECT_TRUE(cut.passed());
    EXPECT_EQ(product.objection_to(cut) + product.note_of(cut), "") << in;
    EXPECT_NEAR(*product.of(cut).effective_bits, 10.5, 0.3) << in;
  }
}

TEST(EffectiveBits, Tf32OfEightBitsShowsAndOfAllBitsIsNoted) {
  const Product product("tf32", 512);
  const Verdict of_bf16 = product.judged<float>(to_bits(8), to_f32);
  EXPECT_NE(product.objection_to(of_bf16).find("computed in less precision"), std::string::npos);
  const Verdict of_ten = product.judged<float>(cut_to_bits(10), to_f32);
  EXPECT_NE(product.objection_to(of_ten).find("computed in less precision"), std::string::npos);
  // A library may ignore that tf32 is allowed: right results, but not the intended measurement.
  const Verdict plain = product.judged<float>(same, to_f32);
  EXPECT_TRUE(plain.passed());
  EXPECT_EQ(product.objection_to(plain), "");
  EXPECT_NE(product.note_of(plain).find("more precise than tf32"), std::string::npos);
}

// Halves of the smallest number of f64 are not numbers of f64: their sum must not become 0.
TEST(SumBound, ProductsBelowTheSmallestNumberOfF64MayEachBeRounded) {
  const OpInstance op = parse_case_id("tensor_ops/batched_matmul/f64/batch=1,m=1,n=1,k=6").op;
  const oracle::Tolerance t = oracle::tolerance(passes(op).back().rule, op, {});
  EXPECT_GE(t.absolute, 4 * 0x1p-1074) << "six halves, and one of the result";
  EXPECT_LE(t.absolute, 5 * 0x1p-1074);
}

TEST(SumBound, Tf32AllowsBothFactorsToBeCutAndNoMore) {
  const Product product("tf32", 1);
  EXPECT_TRUE(product.judged<float>(cut_to_bits(11), to_f32).passed());
  EXPECT_FALSE(product.judged<float>(cut_to_bits(9), to_f32).passed());
  EXPECT_EQ(tolerance(product.rule(), product.op()).description,
            "sum_bound(L=1,u=2^-24,factors=11bits)");
}

TEST(MathModes, AnAccumulatorThatTruncatesPassesWhereItIsDeclared) {
  for (const char* dtype : {"f32", "tf32"}) {
    const std::function<double(double)> factor =
        dtype == std::string("tf32") ? cut_to_bits(11) : same;
    Product product(dtype, 4096);
    const Verdict undeclared = product.judged_in_steps<float>(factor, 16, 24);
    // TF32's own factors hide the truncation.
    EXPECT_EQ(product.objection_to(undeclared).empty(), dtype == std::string("tf32"));
    product.declared(truncating);
    const Verdict verdict = product.judged_in_steps<float>(factor, 16, 24);
    EXPECT_TRUE(verdict.passed());
    EXPECT_EQ(product.objection_to(verdict), "");
  }
}

TEST(MathModes, TruncatedSumsKeepWhatTheFormulaSays) {
  for (const int in : {16, 512, 4096}) {
    Product product("f32", in);
    product.declared(truncating);
    const Verdict verdict = product.judged_in_steps<float>(same, 16, 24);
    EXPECT_EQ(product.objection_to(verdict), "") << in;
    // The last truncation alone leaves p + 0.3.
    EXPECT_NEAR(*product.of(verdict).effective_bits, std::min(24.3, 24 + 1.25 - std::log2(in / 16)),
                0.5)
        << in;
  }
}

TEST(MathModes, WhatIsWorseThanDeclaredShows) {
  Product product("f32", 4096);
  product.declared(truncating);
  EXPECT_NE(product.objection_to(product.judged_in_steps<float>(same, 1, 24)), "") << "each step";
  EXPECT_NE(product.objection_to(product.judged_in_steps<float>(same, 16, 22)), "") << "22 bits";
}

TEST(MathModes, SumsOf14BitsBehindE4M3PassWhereTheyAreDeclared) {
  Product product("e4m3", 512);
  const auto judged = [&] { return product.judged_in_steps<BFloat16, Float8E4M3>(same, 32, 14); };
  EXPECT_NE(product.objection_to(judged()), "");
  product.declared(
      {.accumulator_bits = 14, .rounding = MathMode::Rounding::truncation, .step = 32});
  const Verdict verdict = judged();
  EXPECT_TRUE(verdict.passed());
  EXPECT_EQ(product.objection_to(verdict), "");
}

TEST(MathModes, AreShownWhereTheyAreNotTheDefault) {
  const auto text = [](const char* id, const MathMode& mode) {
    const OpInstance op = parse_case_id(id).op;
    return tolerance(passes(op).back().rule, op, mode).description;
  };
  const char* f16 = "linear/f16/batch=2,in=64,out=2,bias=0,act=none";
  EXPECT_EQ(text(f16, {}), "sum_bound(L=64,u=2^-24)");
  EXPECT_EQ(text(f16, {.rounding = MathMode::Rounding::truncation}),
            "sum_bound(L=64,u=2^-23,truncating)");
  EXPECT_EQ(text(f16, truncating), "sum_bound(L=68,u=2^-23,truncating,step=16)");
  EXPECT_EQ(text("linear/e4m3/batch=2,in=64,out=2,bias=0,act=none",
                 {.accumulator_bits = 14, .rounding = MathMode::Rounding::truncation, .step = 32}),
            "sum_bound(L=66,u=2^-13,truncating,step=32)");
  EXPECT_EQ(
      text("linear/linear_stack/tf32/batch=2,in=2,width=2,layers=2,bias=0,act=none", truncating),
      "running_bound(u=2^-24,truncating,step=16,factors=11bits)");
  EXPECT_EQ(text("linear/tf32/batch=2,in=64,out=2,bias=0,act=none", {.factor_bits = 24}),
            "sum_bound(L=64,u=2^-24)")
      << "a device that says that it uses all bits is held to that";
  EXPECT_EQ(text("linear/tf32/batch=2,in=64,out=2,bias=0,act=none", {.factor_bits = 8}),
            "sum_bound(L=64,u=2^-24,factors=11bits)")
      << "fewer than the dtype has are not to be declared";
}

TEST(WorstElement, OneThatIsFarOffShowsAmongMany) {
  const Product product("f32");
  Verdict verdict = product.judged<float>(same, to_f32);
  verdict.largest_error *= 2;
  EXPECT_EQ(product.objection_to(verdict), "");
  verdict.largest_error *= 20;
  EXPECT_NE(product.objection_to(verdict).find("the worst of many"), std::string::npos);
}

TEST(Misrounded, ShowsSumsInHalfPrecisionBehind16BitOutputs) {
  const Product product("f16");
  const Verdict right = product.judged<Float16>(same, to_f32);
  EXPECT_EQ(product.objection_to(right), "");
  EXPECT_LT(*product.of(right).misrounded_fraction, 0.006);
  // An output of 11 bits hides 16 bits, but the share of wrong roundings shows them.
  const Verdict narrow = product.judged<Float16>(same, to_bits(16));
  EXPECT_TRUE(narrow.only_improbable()) << "within the proved bound of each element";
  EXPECT_GT(*product.of(narrow).misrounded_fraction, 0.02);
  EXPECT_NE(product.objection_to(narrow).find("correctly rounded"), std::string::npos);
}

TEST(Precision, NaNIsAnObjection) {
  const Product product("f32");
  Verdict verdict = product.judged<float>(same, to_f32);
  verdict.error_squares = std::nan("");
  EXPECT_NE(product.objection_to(verdict), "");
}

TEST(Precision, FewOutputsSayNothing) {
  const OpInstance op = parse_case_id("linear/f32/batch=5,in=512,out=7,bias=0,act=none").op;
  const Rule rule = passes(op).back().rule;
  EXPECT_EQ(description(rule, op), "");
  EXPECT_FALSE(precision(Verdict{}, rule, op).effective_bits);
}

TEST(DifferentOutputs, AreHundredsHoweverFewRowsAProductHas) {
  const auto outputs = [](const std::string& extents) {
    return distinct_outputs(parse_case_id("linear/f32/" + extents + ",bias=0,act=none").op);
  };
  for (const char* extents :
       {"batch=1,in=64,out=1000", "batch=2,in=64,out=4096", "batch=4096,in=64,out=1",
        "batch=500,in=64,out=500", "batch=4096,in=4096,out=4096"}) {
    EXPECT_GE(outputs(extents), enough_outputs) << extents;
  }
  EXPECT_EQ(outputs("batch=2,in=64,out=3"), 6);
  EXPECT_EQ(outputs("batch=1,in=64,out=1000"), 263) << "not 1000: they repeat";
}

TEST(DifferentOutputs, AreNoneWhereTermsShareMemory) {
  const OpInstance op =
      parse_case_id("views/linear_dw/f32/batch=66,in=130,out=257,view=expanded").op;
  EXPECT_EQ(distinct_outputs(op), 0);
  EXPECT_EQ(description(passes(op).back().rule, op), "");
}

}  // namespace
}  // namespace assay::oracle
