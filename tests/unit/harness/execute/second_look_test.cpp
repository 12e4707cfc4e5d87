// Ops of users: what eight runs of the reference refuse narrowly is measured again with more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/device/forwarding.h"
#include "kernels/ops/defined.h"
#include "kernels/reference/defined.h"
#include "tests/unit/timed_case.h"

namespace assay {
namespace {

constexpr double relative_deviation = 0x1p-20;
/// Deviations that the kernel errs by: more than all errors together may.
constexpr double error_deviations = 4;

class CopiesWithAnError final : public Kernel {
 public:
  CopiesWithAnError(const OpInstance& op, const Binding& binding)
      : x_(static_cast<const float*>(binding.inputs[0]), op.signature.outputs[0].elements()),
        y_(static_cast<float*>(binding.outputs[0])) {}
  void launch() override {
    std::ranges::transform(x_, y_, [](float x) {
      return static_cast<float>(x * (1 + error_deviations * relative_deviation));
    });
  }
  std::string implementation() const override { return "copies"; }

 private:
  std::span<const float> x_;
  float* y_;
};

class CopyingDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    return std::make_unique<CopiesWithAnError>(op, binding);
  }
};

/// Defines "copied", whose reference deviates by another factor in many runs than in few.
class SecondLook : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    define_ops({{.name = "copied",
                 .formula = "copied(x[n]) -> [n]",
                 .dtypes = {DType::f32},
                 .parameters = {{"n", {{5000, 0}}}},
                 .inputs = {{{std::nullopt, {"n"}}, DefinedNumbers::normal, "", ""}},
                 .outputs = {{std::nullopt, {"n"}}},
                 .terms = "1",
                 .rows = "n"}});
  }
  void SetUp() override {
    reference::measure_with([this](const reference::Problem& problem, const Effort& effort) {
      draws_.push_back(effort.draws);
      MeasuredOutput measured;
      for (const float x : problem.ranks.front().front().as<float>()) {
        measured.value.push_back(x);
        const double deviation = relative_deviation * (effort.draws > 8 ? factor_of_many_ : 1);
        measured.deviation.push_back(std::isfinite(x) ? std::abs(x) * deviation : 0);
      }
      return std::vector{measured};
    });
  }
  void TearDown() override { reference::measure_with({}); }

  static std::unique_ptr<TimedCase> verified() {
    return std::make_unique<TimedCase>(
        "copied/f32/n=5000", TimedCase::Options{},
        std::make_unique<WrappingBackend>("copying", cpu::make_backend(), [](auto real) {
          return std::make_unique<CopyingDevice>(std::move(real));
        }));
  }

  double factor_of_many_ = 8;
  std::vector<int> draws_;
};

TEST_F(SecondLook, DecidesOnALaunch) {
  EXPECT_EQ(wrong_by([] { verified(); }), "");
  EXPECT_EQ(draws_[0], 8);
  EXPECT_EQ(draws_[1], 64);
  factor_of_many_ = 1;
  EXPECT_NE(wrong_by([] { verified(); }, Check::measured_band), "");
}

TEST_F(SecondLook, DecidesOnTimedLaunches) {
  const auto timed = verified();
  draws_.clear();
  const auto judged = [&] {
    timed->sample();
    timed->finish();
  };
  EXPECT_EQ(wrong_by(judged), "");
  EXPECT_EQ(std::ranges::count(draws_, 8), std::ranges::count(draws_, 64));
  EXPECT_GT(std::ranges::count(draws_, 64), 0);
  factor_of_many_ = 1;
  EXPECT_NE(wrong_by(judged, Check::measured_band), "");
}

}  // namespace
}  // namespace assay
