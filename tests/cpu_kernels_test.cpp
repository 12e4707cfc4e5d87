// What of the CPU's kernels shows only on rare operands, or on tensors too large for a unit test.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/base/bfloat16.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/streaming.h"
#include "kernels/op.h"

namespace assay::cpu {
namespace {

TEST(StreamOut, CopiesAnyBytesToAnyAddressAndNoneBeside) {
  std::array<std::uint8_t, 512> from{};
  std::iota(from.begin(), from.end(), std::uint8_t{1});
  for (std::size_t offset = 0; offset < 64; ++offset) {
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 200U, 320U}) {
      alignas(64) std::array<std::uint8_t, 512> to{};
      stream_out(to.data() + offset, from.data() + 3, bytes);
      end_streaming();
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool is_copied = i >= offset && i < offset + bytes;
        ASSERT_EQ(to[i], is_copied ? from[i - offset + 3] : 0)
            << offset << " " << bytes << " " << i;
      }
    }
  }
}

/// a b + c by the kernel of bf16.
float fma_of(float a, float b, float c) {
  const Op& op = *find_op("fma");
  Params one;
  one.set("n", std::int64_t{1});
  const OpInstance instance = instantiate(op, DType::bf16, one);
  const auto device = make_backend()->open(0);
  const auto stream = device->create_stream();
  const std::array inputs{BFloat16(a), BFloat16(b), BFloat16(c)};
  BFloat16 y;
  device->prepare(instance, {stream.get(), {&inputs[0], &inputs[1], &inputs[2]}, {&y}})->launch();
  return static_cast<float>(y);
}

TEST(FusedMultiplyAdd, OfBf16GoesBeyondTheRangeOfItsProductsAndBack) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fma_of(0x1p64F, 0x1p64F, -0x1p127F), 0x1p127F);
  EXPECT_EQ(fma_of(0x1p64F, -0x1p64F, 0x1p127F), -0x1p127F);
  EXPECT_EQ(fma_of(0x1p127F, 0x1p127F, 1), infinity);
  EXPECT_EQ(fma_of(0x1p127F, 0x1p127F, -infinity), -infinity);
  EXPECT_EQ(fma_of(0x1p127F, -0x1p127F, infinity), infinity);
  EXPECT_TRUE(std::isnan(fma_of(infinity, 1, -infinity)));
  EXPECT_TRUE(std::isnan(fma_of(infinity, 0, 1)));
}

TEST(FusedMultiplyAdd, OfBf16KeepsTheSignOfWhatIsTooSmall) {
  EXPECT_TRUE(std::signbit(fma_of(-0x1p-100F, 0x1p-100F, 0)));
  EXPECT_FALSE(std::signbit(fma_of(0x1p-100F, 0x1p-100F, -0.0F)));
  EXPECT_FALSE(std::signbit(fma_of(-0.0F, 1, 0))) << "-0 + 0";
  EXPECT_EQ(fma_of(0x1p-100F, 0x1p-100F, 1), 1);
}

// These products lie in the middle between two bf16. What is added is far below an f32's last bit.
TEST(FusedMultiplyAdd, OfBf16RoundsOnce) {
  EXPECT_EQ(fma_of(1 + 0x1p-7F, 1.5F, 0), 1.5F + 0x1p-6F) << "to even";
  EXPECT_EQ(fma_of(1 + 0x1p-7F, 1.5F, -0x1p-60F), 1.5F + 0x1p-7F);
  EXPECT_EQ(fma_of(1 + 0x3p-7F, 1.5F, 0), 1.5F + 0x4p-7F) << "to even";
  EXPECT_EQ(fma_of(1 + 0x3p-7F, 1.5F, 0x1p-60F), 1.5F + 0x5p-7F);
}

}  // namespace
}  // namespace assay::cpu
