// References of elementwise ops whose corner cases people disagree on, on numbers worked out by
// hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/reference/reference.h"

namespace assay::reference {
namespace {

/// Elements of a tensor.
template <class T>
using Row = std::vector<T>;

/// Results of the reference of an op: as many elements as the first input has.
template <class Y, class T>
Row<Y> expected(const std::string& op_and_dtype, std::initializer_list<Row<T>> inputs) {
  const std::size_t n = inputs.begin()->size();
  const OpInstance op = parse_case_id("tensor_ops/" + op_and_dtype + "/n=" + std::to_string(n)).op;
  std::vector<std::vector<HostTensor>> tensors(1);
  for (std::size_t i = 0; const Row<T>& input : inputs) {
    HostTensor& tensor = tensors[0].emplace_back(op.signature.inputs.at(i++));
    std::ranges::copy(input, tensor.as<T>().begin());
  }
  Row<Y> y(n);
  const Reference reference = find(op);
  reference.bits({op, tensors}, {}, 0, std::as_writable_bytes(std::span(y)));
  return y;
}

/// With signs of zeros, which == does not tell apart.
void expect_same(const Row<float>& found, const Row<float>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(wanted[i]))
        << found[i] << " for " << wanted[i] << " at " << i;
  }
}

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(WholeNumbers, AreBelowAboveOrNext) {
  const Row<float> x{0.5F,        1.5F,      2.5F,      -0.5F,       -1.5F,       -2.5F,
                     0.49999997F, -0.3F,     -0.0F,     8388607.5F,  -8388606.5F, 3e9F,
                     infinite,    -infinite, 0x1p-149F, -0.49999997F};
  expect_same(
      expected<float, float>("floor/f32", {x}),
      {0, 1, 2, -1, -2, -3, 0, -1, -0.0F, 8388607, -8388607, 3e9F, infinite, -infinite, 0, -1});
  expect_same(expected<float, float>("ceil/f32", {x}),
              {1, 2, 3, -0.0F, -1, -2, 1, -0.0F, -0.0F, 8388608, -8388606, 3e9F, infinite,
               -infinite, 1, -0.0F});
  expect_same(expected<float, float>("round/f32", {x}),
              {0, 2, 2, -0.0F, -2, -2, 0, -0.0F, -0.0F, 8388608, -8388606, 3e9F, infinite,
               -infinite, 0, -0.0F});
}

TEST(IsNan, TellsItFromInfinities) {
  const float signalling = std::bit_cast<float>(0xff800001U);
  EXPECT_EQ((expected<std::uint8_t, float>(
                "isnan/f32", {{nan, -nan, signalling, infinite, -infinite, 0, 0x1.fffffep127F}})),
            (Row<std::uint8_t>{1, 1, 1, 0, 0, 0, 0}));
}

TEST(Clamp, LetsTheUpperEndWinAndKeepsNan) {
  expect_same(expected<float, float>("clamp/f32", {{-3, 0.25F, 9, -infinite, infinite}, {-1}, {2}}),
              {-1, 0.25F, 2, -1, 2});
  expect_same(expected<float, float>("clamp/f32", {{-3, 1, 9}, {2}, {-1}}), {-1, -1, -1});
  EXPECT_TRUE(std::isnan(expected<float, float>("clamp/f32", {{nan}, {-1}, {2}})[0]));
}

TEST(Division, RoundsDownAndLeavesTheSignOfTheDivisor) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  const Row<std::int32_t> a{7, -7, 7, -7, 6, -6, 0, least, least, 5};
  const Row<std::int32_t> b{2, 2, -2, -2, -3, 3, -9, 2, least, least};
  EXPECT_EQ((expected<std::int32_t, std::int32_t>("floor_divide/i32", {a, b})),
            (Row<std::int32_t>{3, -4, -4, 3, -2, -2, 0, least / 2, 1, -1}));
  EXPECT_EQ((expected<std::int32_t, std::int32_t>("remainder/i32", {a, b})),
            (Row<std::int32_t>{1, 1, -1, -1, 0, 0, 0, 0, 0, least + 5}));
  EXPECT_EQ((expected<std::uint8_t, std::uint8_t>("floor_divide/u8", {{255, 7, 0}, {2, 200, 1}})),
            (Row<std::uint8_t>{127, 0, 0}));
}

TEST(Shifts, KeepTheLowestBitsAndTheSign) {
  EXPECT_EQ(
      (expected<std::int32_t, std::int32_t>("shift_left/i32", {{1, 3, -1, 5}, {31, 30, 4, 0}})),
      (Row<std::int32_t>{std::numeric_limits<std::int32_t>::min(), -1 << 30, -16, 5}));
  EXPECT_EQ((expected<std::int32_t, std::int32_t>("shift_right/i32",
                                                  {{-8, -1, 7, 1 << 30}, {1, 31, 1, 30}})),
            (Row<std::int32_t>{-4, -1, 3, 1}));
  EXPECT_EQ((expected<std::uint8_t, std::uint8_t>("shift_right/u8", {{0x80, 0xff}, {7, 4}})),
            (Row<std::uint8_t>{1, 15}));
}

TEST(Bits, AreCombinedOneByOne) {
  const Row<std::int64_t> a{0b0011, -1, std::numeric_limits<std::int64_t>::min()};
  const Row<std::int64_t> b{0b0101, 0x5555, -1};
  EXPECT_EQ((expected<std::int64_t, std::int64_t>("bit_and/i64", {a, b})),
            (Row<std::int64_t>{0b0001, 0x5555, std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ((expected<std::int64_t, std::int64_t>("bit_or/i64", {a, b})),
            (Row<std::int64_t>{0b0111, -1, -1}));
  EXPECT_EQ((expected<std::int64_t, std::int64_t>("bit_xor/i64", {a, b})),
            (Row<std::int64_t>{0b0110, -0x5556, std::numeric_limits<std::int64_t>::max()}));
  EXPECT_EQ((expected<std::int64_t, std::int64_t>("bit_not/i64", {a})),
            (Row<std::int64_t>{-4, 0, std::numeric_limits<std::int64_t>::max()}));
}

}  // namespace
}  // namespace assay::reference
