// Errors that the check of a whole product finds, and the conditions that it relies on.
#include "harness/oracle/freivalds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/execute/verify_launch.h"
#include "harness/input/generate.h"
#include "tests/unit/example.h"

namespace assay::oracle {
namespace {

/// y = x W^T + b on the exact data of a product that is judged as a whole.
template <class In, class Out>
class Layer {
 public:
  explicit Layer(const std::string& case_id)
      : example_(case_id), y_(HostTensor(example_.op.signature.outputs[0])) {
    example_.inputs = generate_inputs(example_.op, 0, 1, 1);
    const auto x = example_.inputs[0][0].as<In>();
    const auto w = example_.inputs[0][1].as<In>();
    const bool has_bias = example_.inputs[0].size() > 2;
    const TensorSpec& of_x = example_.op.signature.inputs[0];
    const TensorSpec& of_w = example_.op.signature.inputs[1];
    const auto k = static_cast<std::size_t>(of_x.line_elements());
    const std::size_t m = x.size() / k;
    const std::size_t n = w.size() / k;
    const auto at = [](const TensorSpec& spec, std::size_t line, std::size_t place) {
      return static_cast<std::size_t>(
          spec.element_of_line(static_cast<std::int64_t>(line), static_cast<std::int64_t>(place)));
    };
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = has_bias ? static_cast<double>(example_.inputs[0][2].as<Out>()[j]) : 0;
        for (std::size_t c = 0; c < k; ++c) {
          sum += static_cast<double>(x[at(of_x, i, c)]) * static_cast<double>(w[at(of_w, j, c)]);
        }
        y()[i * n + j] = static_cast<Out>(sum);
      }
    }
  }

  std::span<Out> y() { return y_.template as<Out>(); }
  std::vector<HostTensor>& inputs() { return example_.inputs[0]; }
  Verdict judged() { return freivalds({example_.op, example_.inputs}, y_.bytes()); }

 private:
  Example example_;
  HostTensor y_;
};

constexpr const char* f32_case = "linear/f32/batch=129,in=1024,out=131,bias=1,act=none";

TEST(Freivalds, IsTheRuleOfLargeProductsThatAreNotRounded) {
  const auto rule = [](const std::string& id) {
    return passes(parse_case_id(id).op).at(0).rule.oracle;
  };
  EXPECT_EQ(rule(f32_case), Oracle::freivalds);
  EXPECT_EQ(rule("linear/f64/batch=256,in=512,out=256,bias=0,act=none"), Oracle::freivalds);
  EXPECT_EQ(rule("linear/i8/batch=256,in=512,out=256,bias=0,act=none"), Oracle::freivalds);
  EXPECT_EQ(rule("linear/bf16/batch=256,in=512,out=256,bias=0,act=none"), Oracle::exact);
  EXPECT_EQ(rule("linear/f32/batch=256,in=512,out=256,bias=0,act=relu"), Oracle::exact);
  EXPECT_EQ(rule("linear/f32/batch=16,in=512,out=33,bias=0,act=none"), Oracle::exact);
}

TEST(Freivalds, PassesTheProductOfEachDtype) {
  EXPECT_TRUE((Layer<float, float>(f32_case).judged().passed()));
  EXPECT_TRUE((Layer<double, double>("linear/f64/batch=129,in=1024,out=131,bias=1,act=none")
                   .judged()
                   .passed()));
  Layer<std::int8_t, std::int32_t> bytes("linear/i8/batch=129,in=1024,out=131,bias=1,act=none");
  const Verdict v = bytes.judged();
  EXPECT_TRUE(v.passed());
  EXPECT_EQ(v.elements, 129 * 131);
}

TEST(Freivalds, JudgesGradientsWhoseLinesLieSideBySide) {
  for (const std::string id : {"linear/linear_dx/f32/batch=129,in=131,out=1024",
                               "linear/linear_dw/f32/batch=1024,in=131,out=129"}) {
    ASSERT_EQ(passes(parse_case_id(id).op).at(0).rule.oracle, Oracle::freivalds);
    Layer<float, float> gradient(id);
    EXPECT_TRUE(gradient.judged().passed()) << id;
    gradient.y()[131 * 7 + 5] += 1;
    EXPECT_EQ(gradient.judged().mismatches, 1) << id;
    EXPECT_EQ(gradient.judged().worst.index, 131 * 7 + 5) << id;
  }
}

TEST(Freivalds, FindsOneUnitInEachOfManyPlaces) {
  Layer<float, float> layer(f32_case);
  for (std::size_t at = 0; at < layer.y().size(); at += 997) {
    layer.y()[at] += 1;
    const Verdict v = layer.judged();
    EXPECT_EQ(v.mismatches, 1) << at;
    EXPECT_EQ(v.worst.index, static_cast<std::int64_t>(at));
    EXPECT_EQ(v.max_abs_error, 1);
    layer.y()[at] -= 1;
  }
  EXPECT_TRUE(layer.judged().passed());
}

TEST(Freivalds, FindsErrorsThatCancelInASum) {
  Layer<float, float> layer(f32_case);
  layer.y()[10] += 3;
  layer.y()[20] -= 3;
  EXPECT_EQ(layer.judged().mismatches, 2);
}

TEST(Freivalds, FindsWhatIsNoWholeNumber) {
  Layer<float, float> layer(f32_case);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0x1p60F}) {
    const float right = layer.y()[77];
    layer.y()[77] = value;
    const Verdict v = layer.judged();
    EXPECT_EQ(v.mismatches, 1);
    EXPECT_EQ(v.worst.index, 77);
    layer.y()[77] = right;
  }
  // A fraction more truncates to the same whole number.
  const auto at = std::ranges::find_if(layer.y(), [](float y) { return y > 0 && y < 0x1p22F; });
  ASSERT_NE(at, layer.y().end());
  *at += 0.5F;
  const Verdict v = layer.judged();
  EXPECT_EQ(v.mismatches, 1);
  EXPECT_EQ(v.worst.index, at - layer.y().begin());
}

TEST(Freivalds, FindsSwappedRowsAndAMissedBias) {
  Layer<float, float> layer(f32_case);
  std::swap_ranges(layer.y().begin(), layer.y().begin() + 131, layer.y().begin() + 50 * 131);
  EXPECT_GT(layer.judged().mismatches, 200);

  Layer<double, double> biased("linear/f64/batch=129,in=1024,out=131,bias=1,act=none");
  biased.y()[131 * 7 + 5] -= biased.inputs()[2].as<double>()[5];
  EXPECT_EQ(biased.judged().mismatches, 1);
}

TEST(Freivalds, CountsAtLeastOneElementInEachWrongRow) {
  Layer<float, float> layer(f32_case);
  for (float& y : layer.y()) y += 1;
  EXPECT_EQ(layer.judged().mismatches, 16 * 131 + (129 - 16));
}

TEST(Freivalds, TakesFactorsTimesAPowerOfTwoEach) {
  Layer<float, float> layer(f32_case);
  for (const float power : {0x1p-9F, 0x1p5F}) {
    for (float& x : layer.inputs()[0].as<float>()) x *= power;
    for (float& w : layer.inputs()[1].as<float>()) w /= power;
    EXPECT_TRUE(layer.judged().passed());
    layer.y()[500] += 1;
    EXPECT_EQ(layer.judged().mismatches, 1);
    EXPECT_EQ(layer.judged().worst.index, 500);
    layer.y()[500] -= 0.75F;
    EXPECT_EQ(layer.judged().mismatches, 1) << "a fraction";
    layer.y()[500] -= 0.25F;
  }
}

TEST(Freivalds, WantsWholeNumbersToBeginWith) {
  Layer<float, float> layer(f32_case);
  layer.inputs()[0].as<float>()[3] = 0x1.000002p-10F;
  EXPECT_THROW(layer.judged(), std::logic_error);
}

}  // namespace
}  // namespace assay::oracle
