// Keys are in the order of the elements whose bits they come from.
#include "kernels/core/sort_key.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/core/dtype.h"

namespace assay {
namespace {

template <class T>
class SortKeys : public testing::Test {};
using SortedTypes = testing::Types<double, float, BFloat16, Float16, std::int64_t, std::int32_t,
                                   std::int8_t, std::uint8_t>;
TYPED_TEST_SUITE(SortKeys, SortedTypes);

template <class T>
bool is_nan(T x) {
  return std::isnan(widen(x));
}

/// Bits of all kinds: the lowest and highest words, those next to zeros and infinities, and others.
template <class T>
std::vector<Word<sizeof(T)>> some_bits() {
  using W = Word<sizeof(T)>;
  std::vector<W> all;
  for (const W middle :
       {W{0}, sign_bit<W>, infinity_bits<T>, static_cast<W>(infinity_bits<T> | sign_bit<W>)}) {
    for (const int step : {-2, -1, 0, 1, 2}) all.push_back(static_cast<W>(middle + step));
  }
  std::uint64_t word = 1;
  for (int i = 0; i < 200; ++i) {
    word = word * 6364136223846793005U + 1442695040888963407U;
    all.push_back(static_cast<W>(word >> (64 - 8 * sizeof(W))));
  }
  return all;
}

TYPED_TEST(SortKeys, AreInTheOrderOfNumbersAndNanIsTheGreatest) {
  using T = TypeParam;
  const auto value = [](auto bits) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else {
      return widen(std::bit_cast<T>(bits));
    }
  };
  for (const auto a : some_bits<T>()) {
    for (const auto b : some_bits<T>()) {
      const auto x = value(a);
      const auto y = value(b);
      const bool is_before = x < y || (y != y && x == x);
      EXPECT_EQ(key_of_equals<T>(a) < key_of_equals<T>(b), is_before) << +x << " " << +y;
      EXPECT_TRUE(!is_before || key_of<T>(a) < key_of<T>(b)) << +x << " " << +y;
    }
  }
}

TYPED_TEST(SortKeys, GiveBackTheBitsOfNumbers) {
  using T = TypeParam;
  for (const auto bits : some_bits<T>()) {
    const bool is_number = !is_nan(std::bit_cast<T>(bits));
    EXPECT_EQ(is_key_of_nan<T>(key_of<T>(bits)), !is_number) << +bits;
    if (is_number) {
      EXPECT_EQ(bits_of_key<T>(key_of<T>(bits)), bits) << +bits;
    } else {
      EXPECT_TRUE(is_nan(std::bit_cast<T>(bits_of_key<T>(key_of<T>(bits))))) << +bits;
    }
  }
}

}  // namespace
}  // namespace assay
