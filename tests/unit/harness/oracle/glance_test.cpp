// Judging several elements at once finds what judging one after another finds.
#include "harness/oracle/glance.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/core/philox.h"

namespace assay::oracle {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Expected values of many sizes, and outputs near to them, some correctly rounded.
template <class T>
struct Outputs {
  static constexpr std::size_t n = 1000;  // no multiple of a vector
  std::vector<double> value, rest, scale;
  std::vector<T> got;

  explicit Outputs(std::uint64_t seed, int spread = 20, int exponent = 0) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto draw = [&](std::uint64_t stream) {
        return static_cast<double>(random_bits(seed, stream, i) >> 11U) * 0x1p-52 - 1;
      };
      const double y =
          i % 50 == 7 ? 0 : std::ldexp(draw(1), exponent + static_cast<int>(spread * draw(2)));
      value.push_back(y);
      rest.push_back(i % 3 == 0 ? 0 : y * 0x1p-54 * draw(3));
      scale.push_back(i % 70 == 9 ? 0 : std::abs(y) * (1 + std::abs(draw(4))));
      const double off = i % 4 == 0 ? 0 : y * 0x1p-24 * draw(5);
      got.push_back(correctly_rounded<T>(y + off, 0));
    }
  }
  reference::Values values() { return {value, rest, scale}; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(got)); }
};

class Glance : public testing::Test {
 protected:
  template <class T>
  std::optional<Verdict> glanced(Outputs<T>& run, const Tolerance& tolerance) const {
    return glance<T>(first, run.values(), tolerance, dtype_of<T>(), run.bytes(), 2, *share_);
  }
  template <class T>
  Verdict one_by_one(Outputs<T>& run, const Tolerance& tolerance) const {
    return judge_values<T>(first, run.values(), tolerance, dtype_of<T>(), run.bytes(), 2, *share_);
  }
  template <class T>
  static DType dtype_of() {
    return std::is_same_v<T, double>     ? DType::f64
           : std::is_same_v<T, float>    ? DType::f32
           : std::is_same_v<T, BFloat16> ? DType::bf16
                                         : DType::f16;
  }
  /// Demands the same verdict of both ways, and that there is one of both.
  template <class T>
  void expect_same(Outputs<T> run, const Tolerance& tolerance, const std::string& what) const {
    const Verdict each = one_by_one(run, tolerance);
    EXPECT_TRUE(each.passed()) << what;
    const auto all = glanced(run, tolerance);
    ASSERT_TRUE(all) << what;
    EXPECT_EQ(all->elements, each.elements) << what;
    EXPECT_EQ(all->mismatches, each.mismatches) << what;
    EXPECT_EQ(all->improbable, each.improbable) << what;
    EXPECT_EQ(all->max_ulp, each.max_ulp) << what;
    EXPECT_EQ(all->max_abs_error, each.max_abs_error) << what;
    EXPECT_EQ(all->max_bound_ratio, each.max_bound_ratio) << what;
    EXPECT_EQ(all->bounded, each.bounded) << what;
    EXPECT_EQ(all->misrounded, each.misrounded) << what;
    EXPECT_NEAR(all->error_squares, each.error_squares, each.error_squares * 1e-13) << what;
    EXPECT_NEAR(all->scales, each.scales, each.scales * 1e-13) << what;
    EXPECT_EQ(all->largest_error, each.largest_error) << what;
    EXPECT_EQ(all->largest_index, each.largest_index) << what;
    EXPECT_EQ(all->unknown, each.unknown) << what;
    EXPECT_EQ(all->worst.severity, each.worst.severity) << what;
    EXPECT_EQ(all->worst.allowed, each.worst.allowed) << what;
    EXPECT_EQ(all->worst.index, each.worst.index) << what;
    EXPECT_EQ(all->worst.rank, each.worst.rank) << what;
    EXPECT_EQ(all->worst.expected_bits, each.worst.expected_bits) << what;
    EXPECT_EQ(all->worst.actual_bits, each.worst.actual_bits) << what;
  }

  static constexpr std::int64_t first = 5000;
  const Tolerance bound_{.scale = 0x1p-20, .ulps = 2};
  const OpInstance op_ = parse_case_id("tensor_ops/scan/f32/n=10000").op;
  const reference::Reference plain_;
  std::optional<Share> share_ = Share{plain_, op_};
};

TEST_F(Glance, FindsWhatJudgingEachElementFinds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::string what = "seed " + std::to_string(seed);
    expect_same(Outputs<float>(seed), bound_, what);
    expect_same(Outputs<double>(seed), {.scale = 0x1p-20, .ulps = 0x1p30}, what);
    expect_same(Outputs<BFloat16>(seed), {.scale = 0x1p-7, .relative = 0x1p-9}, what);
    expect_same(Outputs<Float16>(seed, 5), {.relative = 0x1p-10, .absolute = 0x1p-24}, what);
    Tolerance probable = bound_;
    probable.probable = Growth{.scale = 0x1p-22, .relative = 0x1p-22};
    expect_same(Outputs<float>(seed), probable, what);
    Tolerance signs = bound_;
    signs.signed_zero = true;
    expect_same(Outputs<float>(seed), signs, what);
  }
  expect_same(Outputs<float>(1, 15, -130), {.ulps = 2}, "subnormal numbers");
  expect_same(Outputs<double>(1, 40, -1030), {.ulps = 2e9}, "subnormal numbers of 64 bits");
}

TEST_F(Glance, CountsWithTheShareOfTheTermsBehindEachElement) {
  reference::Reference part;
  part.share = [](const OpInstance&, std::int64_t i) { return static_cast<double>(i + 1) / 1e4; };
  share_.emplace(Share{part, op_});
  Tolerance probable = bound_;
  probable.probable = Growth{.scale = 0x1p-22, .relative = 0x1p-22};
  expect_same(Outputs<float>(3), probable, "a share");
}

TEST_F(Glance, OfCorrectlyRoundedNumbersHasNoErrors) {
  Outputs<float> run(1);
  for (std::size_t i = 0; i < run.got.size(); ++i) {
    run.got[i] = correctly_rounded<float>(run.value[i], run.rest[i]);
  }
  expect_same(run, {.exact = true}, "exact");
  expect_same(run, bound_, "bound");
}

TEST_F(Glance, LeavesAnythingElseToTheOther) {
  const auto is_left = [&](auto change) {
    Outputs<float> run(1);
    EXPECT_TRUE(glanced(run, bound_));
    change(run);
    return !glanced(run, bound_);
  };
  EXPECT_TRUE(is_left([](auto& run) { run.got[999] *= 1.001F; })) << "wrong";
  EXPECT_TRUE(is_left([](auto& run) { run.got[998] = std::nanf(""); }));
  EXPECT_TRUE(is_left([](auto& run) { run.value[0] = std::nan(""); }));
  EXPECT_TRUE(is_left([](auto& run) { run.value[1] = infinity; }));
  Outputs<float> infinite(1);
  infinite.value[1] = infinity;
  EXPECT_FALSE(glanced(infinite, {.relative = 1})) << "a bound of infinity is none";
  EXPECT_TRUE(is_left([](auto& run) {
    run.value[2] = 3.5e38;  // rounds to infinity
    run.got[2] = static_cast<float>(infinity);
  }));
  Outputs<float> other_zero(1);
  other_zero.got[7] = -0.0F;
  EXPECT_TRUE(glanced(other_zero, bound_));
  Tolerance signs = bound_;
  signs.signed_zero = true;
  EXPECT_FALSE(glanced(other_zero, signs)) << "of the other sign";
  Outputs<float> run(1);
  EXPECT_FALSE(glanced(run, {.exact = true})) << "not all correctly rounded";
  EXPECT_FALSE(glanced(run, {.zero_is_exact = true})) << "a measured band";
}

}  // namespace
}  // namespace assay::oracle
