#include "harness/input/given_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/input/generate.h"
#include "harness/plan/case.h"
#include "harness/plan/plan.h"
#include "kernels/ops/defined.h"
#include "tests/unit/example.h"

namespace assay::input {
namespace {

DefinedOp op_named(const std::string& name, const std::string& refusal) {
  return {.name = name,
          .formula = name,
          .dtypes = {DType::f32},
          .parameters = {},
          .inputs = {{{std::nullopt, {"4"}}, DefinedNumbers::given_or_any, "", ""},
                     {{DType::i64, {"2"}}, DefinedNumbers::given, "", ""}},
          .outputs = {{std::nullopt, {"4"}}},
          .terms = "1",
          .is_ring = true,
          .rows = "",
          .refusal = refusal};
}

/// Defines ops whose code draws the seed itself as each number.
class GivenData : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    define_ops({op_named("given_data", ""), op_named("given_refused", "mine.py:3: no")});
  }
  void SetUp() override {
    draw_given_with([&](const OpInstance& op, std::uint64_t seed) {
      seeds_.push_back(seed);
      std::vector<HostTensor> inputs;
      for (const TensorSpec& spec : op.signature.inputs) inputs.emplace_back(spec);
      std::ranges::fill(inputs[0].as<float>(), static_cast<float>(seed % 1000));
      std::ranges::fill(inputs[1].as<std::int64_t>(), static_cast<std::int64_t>(seed));
      return inputs;
    });
  }
  void TearDown() override { draw_given_with({}); }

  /// The second input of a launch, and how often its inputs were drawn.
  std::int64_t labels_of(std::uint64_t seed, int pass) {
    const Pass rules = passes(op_).back();
    HostTensor x(op_.signature.inputs[0]);
    HostTensor labels(op_.signature.inputs[1]);
    generate(op_, rules, {.seed = seed, .pass = pass, .input = 0}, x);
    generate(op_, rules, {.seed = seed, .pass = pass, .input = 1}, labels);
    EXPECT_EQ(x.as<float>()[3], static_cast<float>(seeds_.back() % 1000));
    return labels.as<std::int64_t>()[1];
  }

  OpInstance op_ = parse_case_id("given_data/f32").op;
  std::vector<std::uint64_t> seeds_;
};

TEST_F(GivenData, InputsOfALaunchAreDrawnTogether) {
  const std::int64_t label = labels_of(11, 0);
  ASSERT_EQ(seeds_.size(), 1U);
  EXPECT_EQ(label, static_cast<std::int64_t>(seeds_[0]));
}

TEST_F(GivenData, EachSeedAndPassDrawsAnew) {
  const std::int64_t first = labels_of(21, 0);
  EXPECT_NE(labels_of(22, 0), first);
  EXPECT_NE(labels_of(21, 1), first);
  EXPECT_EQ(labels_of(21, 0), first);
}

TEST_F(GivenData, OtherDataReplaceThoseThatAnyNumberMayBeIn) {
  std::vector<std::string> names;
  for (const Pass& pass : passes(op_)) {
    names.emplace_back(pass.name);
    EXPECT_EQ(pass.data_of(1).distribution, Distribution::given) << pass.name;
    EXPECT_EQ(pass.data_of(0).distribution == Distribution::given, pass.name == "real_data");
  }
  EXPECT_EQ(names.front(), "exact_data");
  EXPECT_EQ(names.size(), 8U);
}

TEST_F(GivenData, AnOpWithoutParametersHasAnIdWithoutThem) {
  EXPECT_EQ(parse_case_id("given_data/f32").id(), "given_data/f32");
}

TEST_F(GivenData, WhatNothingCanJudgeIsSkippedWithItsReason) {
  const Case test = parse_case_id("given_refused/f32");
  const DeviceId cpu{std::string(host_kind), 0};
  const BackendTraits host{.kind = std::string(host_kind)};
  const auto plan = make_plan({&test, 1}, {&cpu, 1}, {&host, 1}, {});
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].skip_reason, "unsupported: mine.py:3: no");
}

}  // namespace
}  // namespace assay::input
