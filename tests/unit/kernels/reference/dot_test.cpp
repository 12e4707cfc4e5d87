#include "kernels/reference/dot.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace assay::reference {
namespace {

TEST(PreciseDots, HoldFactorsOfAnySize) {
  for (const double size : {0x1p-300, 1.0, 0x1p900, 0x1p1023}) {
    const std::array<double, 3> a{size * (1 + 0x1p-52), -size, size * 0x1p-30};
    const std::array<double, 3> b{1 - 0x1p-53, 1, 0x1p-30};
    std::array<Dot, 1> dot;
    precise_dots(a.data(), b.data(), a.size(), dot);
    // The rounded products cancel but for the last one: what is left are errors of the first.
    EXPECT_EQ(dot[0].value, size * (0x1p-53 + 0x1p-60 - 0x1p-105)) << size;
    EXPECT_EQ(dot[0].rest, 0) << size;
  }
}

TEST(PreciseDots, OfOneProductAreItAndItsErrorHoweverSmall) {
  for (int exponent = -1080; exponent < -700; ++exponent) {
    for (int i = 0; i < 100; ++i) {
      // Factors of all bits, of which one is subnormal in some turns.
      const int own = i % 3 == 0 ? -1040 : i % 3 == 1 ? -exponent / 2 + exponent : 0;
      const double a = std::ldexp(1 + std::sin(i * 0.37 + exponent) / 3, own);
      const double b = std::ldexp(-1 - std::cos(i * 0.73) / 3, exponent - own);
      std::array<Dot, 1> dot;
      precise_dots(&a, &b, 1, dot);
      const double error = dot[0].value - a * b + dot[0].rest;
      EXPECT_EQ(error, std::fma(a, b, -(a * b))) << exponent << " " << i;
      if (std::abs(a * b) < 0x1p-1021) {
        EXPECT_EQ(dot[0].rest, 0) << exponent << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace assay::reference
