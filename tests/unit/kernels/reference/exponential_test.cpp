// Exponentials in two doubles, against 50 digits.
#include "kernels/reference/exponential.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/core/philox.h"

namespace assay::reference {
namespace {

using Digits = boost::multiprecision::cpp_bin_float_50;

/// Largest relative error of e^(x + rest) for numbers drawn from [low, high].
double largest_error(double low, double high) {
  double largest = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double share = static_cast<double>(random_bits(1, 2, i) >> 11U) * 0x1p-53;
    const double x = low + (high - low) * share;
    const double rest = x * 0x1p-54 * (2 * share - 1);
    const TwoDoubles y = exponential(x, rest);
    const Digits wanted = exp(Digits(x) + Digits(rest));
    const Digits error = abs((Digits(y.value) - wanted + Digits(y.rest)) / wanted);
    EXPECT_LE(abs(Digits(y.rest)), Digits(y.value) * 0x1p-53) << x << ": value is not the nearest";
    largest = std::max(largest, static_cast<double>(error));
  }
  return largest;
}

TEST(Exponential, HasTwiceThePrecisionOfADouble) {
  EXPECT_LT(largest_error(-1, 0), 0x1p-68);
  EXPECT_LT(largest_error(-1e-6, 0), 0x1p-98);
  EXPECT_LT(largest_error(-600, 0), 0x1p-68);
}

TEST(Exponential, EndsInSubnormalNumbersAndZero) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(exponential(0, 0).value, 1);
  EXPECT_EQ(exponential(-744, 0).value, std::exp(-744.0));
  EXPECT_EQ(exponential(-744, 0).value, 2 * std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(exponential(-746, 0).value, 0);
  EXPECT_EQ(exponential(-1e300, 1e283).value, 0);
  EXPECT_EQ(exponential(-1e300, 1e283).rest, 0);
  EXPECT_EQ(exponential(-infinity, 0).value, 0);
  EXPECT_TRUE(std::isnan(exponential(std::nan(""), 0).value));
}

}  // namespace
}  // namespace assay::reference
