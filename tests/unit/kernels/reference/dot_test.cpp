#include "kernels/reference/dot.h"

#include <gtest/gtest.h>

#include <array>

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

}  // namespace
}  // namespace assay::reference
