// Prefix sums of neighbours in a register.
#include "kernels/cpu/neighbours.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace assay::cpu {
namespace {

template <class A>
class NeighboursOf : public testing::Test {};

using Sums = testing::Types<float, double, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(NeighboursOf, Sums);

TYPED_TEST(NeighboursOf, AreSummedFromAllBeforeOn) {
  using Register = Neighbours<TypeParam>;
  std::array<TypeParam, 2 * Register::count> x;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<TypeParam>(1 << i);
  std::array<TypeParam, x.size()> y{};
  Register before;
  before.set(100);
  for (std::size_t i = 0; i < x.size(); i += Register::count) {
    Register sums;
    sums.load(x.data() + i);
    sums.scan();
    sums.store(y.data() + i, before);
  }
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i], static_cast<TypeParam>(100 + (2 << i) - 1)) << i;
  EXPECT_EQ(before.sum(), y.back());
}

}  // namespace
}  // namespace assay::cpu
