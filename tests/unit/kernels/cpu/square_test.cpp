// Squares of words, transposed in registers.
#include "kernels/cpu/square.h"

#include <gtest/gtest.h>

namespace assay::cpu {
namespace {

template <class Word>
class Squares : public testing::Test {};

using Words = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Squares, Words);

TYPED_TEST(Squares, HaveRowsForColumns) {
  constexpr std::size_t side = Square<TypeParam>::side;
  constexpr std::size_t x_step = side + 3;
  constexpr std::size_t y_step = side + 5;
  std::array<TypeParam, side * x_step> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<TypeParam>(i);
  std::array<TypeParam, side * y_step> y{};
  Square<TypeParam> square;
  square.load(x.data(), x_step);
  square.transpose();
  square.store(y.data(), y_step);
  for (std::size_t r = 0; r < side; ++r) {
    for (std::size_t c = 0; c < y_step; ++c) {
      const TypeParam expected = c < side ? x[c * x_step + r] : TypeParam{0};
      EXPECT_EQ(y[r * y_step + c], expected) << r << ", " << c;
    }
  }
}

}  // namespace
}  // namespace assay::cpu
