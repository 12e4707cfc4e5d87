#include "kernels/ops/op.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

OpInstance make(std::string_view op, DType dtype, const std::vector<std::string>& assignments) {
  Params params;
  for (const std::string& assignment : assignments) {
    const auto parts = split(assignment, '=');
    params.set(parts[0], parse_parameter(*find_op(op), parts[0], parts[1]));
  }
  return instantiate(*find_op(op), dtype, params);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Ops, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Op& op : op_table()) EXPECT_TRUE(names.insert(op.name).second) << op.name;
  EXPECT_FALSE(names.empty());
}

TEST(Ops, LinearStatesItsTensorsAndWork) {
  const OpInstance op =
      make("linear", DType::bf16, {"batch=2", "in=3", "out=5", "bias=1", "act=relu"});
  const Signature& s = op.signature;
  ASSERT_EQ(s.inputs.size(), 3U);
  EXPECT_EQ(s.inputs[0].shape, (Shape{2, 3}));
  EXPECT_EQ(s.inputs[1].shape, (Shape{5, 3}));
  EXPECT_EQ(s.inputs[2].shape, (Shape{5}));
  EXPECT_EQ(s.outputs[0].shape, (Shape{2, 5}));
  EXPECT_EQ(s.flops, 2 * 5 * (2 * 3 + 1));
  EXPECT_EQ(s.bytes, 2 * (6 + 15 + 5 + 10));
  EXPECT_EQ(s.terms, 4) << "three products and the bias";
  EXPECT_EQ(s.factors_per_term, 2);
}

TEST(Ops, ParametersComeOutInTheOpsOrder) {
  const OpInstance op =
      make("linear", DType::f32, {"act=none", "bias=0", "out=5", "in=3", "batch=2"});
  EXPECT_EQ(op.params.text(), "batch=2,in=3,out=5,bias=0,act=none");
  EXPECT_EQ(op.signature.inputs.size(), 2U);
}

TEST(Ops, WrongParametersAreRefusedWithTheValidChoices) {
  const Op& linear = *find_op("linear");
  EXPECT_NE(refusal([&] { parse_parameter(linear, "act", "rellu"); }).find("did you mean 'relu'"),
            std::string::npos);
  EXPECT_NE(refusal([&] { parse_parameter(linear, "bacth", "1"); }).find("did you mean 'batch'"),
            std::string::npos);
  for (const char* number : {"0", "-1", "1.5", "", "1e3", "0x10", " 1", "99999999999999999999"}) {
    EXPECT_NE(
        refusal([&] { parse_parameter(linear, "batch", number); }).find("whole number from 1"),
        std::string::npos)
        << number;
  }
  EXPECT_NE(refusal([&] { parse_parameter(linear, "bias", "2"); }).find("from 0 to 1"),
            std::string::npos);
  EXPECT_NE(refusal([&] { make("linear", DType::f32, {"batch=1"}); }).find("'in'"),
            std::string::npos);
  EXPECT_NE(refusal([&] { make("exp", DType::i64, {"n=1"}); }).find("valid: f64, f32"),
            std::string::npos);
}

TEST(Ops, SizesBeyondAnyMemoryAreRefusedBeforeTheyOverflow) {
  EXPECT_NE(refusal([&] {
              make("softmax", DType::f64, {"rows=17592186044416", "cols=17592186044416"});
            }).find("too large"),
            std::string::npos);
}

}  // namespace
}  // namespace assay
