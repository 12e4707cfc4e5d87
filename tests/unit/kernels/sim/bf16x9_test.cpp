// Factors in three bf16 parts, as simulated devices split them.
#include "kernels/sim/bf16x9.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/core/philox.h"

namespace assay::sim {
namespace {

bool is_bf16(float x) { return (std::bit_cast<std::uint32_t>(x) & 0xffffU) == 0; }

TEST(Bf16Parts, SumToEachNumberThatIsNotTiny) {
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(1, 2, i)));
    if (!std::isfinite(x)) continue;
    const auto [first, second, third] = bf16_parts(x);
    EXPECT_TRUE(is_bf16(first) && is_bf16(second) && is_bf16(third)) << x;
    const double lost = static_cast<double>(x) - first - second - third;
    EXPECT_LT(std::abs(lost), 0x1p-133) << x;
    if (std::abs(x) >= 0x1p-110F) {
      EXPECT_EQ(lost, 0) << x;
    }
  }
}

TEST(Bf16Parts, AreCutTowardsZeroSoThatNoneOverflows) {
  constexpr float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(bf16_parts(largest)[0], 0x1.fep127F);
  EXPECT_EQ(bf16_parts(-largest)[0], -0x1.fep127F);
  EXPECT_EQ(bf16_parts(528143), (std::array<float, 3>{0x1p19F, 3840, 15}));
  EXPECT_EQ(bf16_parts(0x1p-149F), (std::array<float, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace assay::sim
