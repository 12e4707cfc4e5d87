#include "emulator/machine/shared_matrix.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace emulator::test {
namespace {

/// An example of the PTX ISA, "Canonical Layouts": strides in elements of the exact layout
/// ((in_tile, tiles of 8 or more), (…)), and what the descriptor encodes.
struct Example {
  const char* name;
  unsigned element_bytes;
  bool is_mn_major;
  unsigned mode, swizzle_bits;  // Swizzle<bits, 4, 3>
  unsigned leading, stride;     // as encoded
  unsigned extent, depth;       // across and along k
  unsigned (*at)(unsigned across, unsigned along);
};
void PrintTo(const Example& e, std::ostream* out) { *out << e.name; }

constexpr Example examples[] = {
    {"K-major, no swizzle, tf32: ((8,2),(4,4)):((4,32),(1,64))", 4, false, 0, 0, 16, 8, 16, 16,
     [](unsigned i, unsigned l) { return i % 8 * 4 + i / 8 * 32 + l % 4 + l / 4 * 64; }},
    {"K-major, 32B, tf32: ((8,2),(4,4)):((8,64),(1,4))", 4, false, 3, 1, 1, 16, 16, 8,
     [](unsigned i, unsigned l) { return i % 8 * 8 + i / 8 * 64 + l % 4 + l / 4 * 4; }},
    {"MN-major, no swizzle, bf16: ((8,1,2),(8,2)):((1,8,64),(8,128))", 2, true, 0, 0, 16, 8, 16, 16,
     [](unsigned i, unsigned l) { return i % 8 + i / 8 * 64 + l % 8 * 8 + l / 8 * 128; }},
    {"MN-major, 32B, bf16: ((8,2,2),(8,2)):((1,8,128),(16,256))", 2, true, 3, 1, 16, 32, 32, 16,
     [](unsigned i, unsigned l) {
       return i % 8 + i / 8 % 2 * 8 + i / 16 * 128 + l % 8 * 16 + l / 8 * 256;
     }},
    {"MN-major, 64B, bf16: ((8,4,2),(8,2)):((1,8,256),(32,512))", 2, true, 2, 2, 32, 64, 64, 16,
     [](unsigned i, unsigned l) {
       return i % 8 + i / 8 % 4 * 8 + i / 32 * 256 + l % 8 * 32 + l / 8 * 512;
     }},
};

class SharedMatrixLayout : public testing::TestWithParam<Example> {};

TEST_P(SharedMatrixLayout, IsThatOfTheDocumentation) {
  const Example& e = GetParam();
  constexpr std::uint64_t start = 0x4800;
  const SharedMatrix matrix(start >> 4 | std::uint64_t{e.leading} << 16 |
                                std::uint64_t{e.stride} << 32 | std::uint64_t{e.mode} << 62,
                            e.element_bytes, e.is_mn_major);
  EXPECT_EQ(matrix.problem(), "");
  std::set<std::uint64_t> chunks;
  for (unsigned i = 0; i < e.extent; ++i)
    for (unsigned l = 0; l < e.depth; ++l) {
      const std::uint64_t plain = start + std::uint64_t{e.at(i, l)} * e.element_bytes;
      const std::uint64_t bits = plain >> 7 & ((1u << e.swizzle_bits) - 1);
      EXPECT_EQ(matrix.offset(i, l), plain ^ bits << 4) << i << ", " << l;
      chunks.insert(matrix.offset(i, l) / 16 * 16);
    }
  std::multiset<std::uint64_t> told;
  matrix.for_each_chunk(e.extent, e.depth, [&](std::uint64_t offset) { told.insert(offset); });
  EXPECT_EQ(told, std::multiset<std::uint64_t>(chunks.begin(), chunks.end()));
}

INSTANTIATE_TEST_SUITE_P(Examples, SharedMatrixLayout, testing::ValuesIn(examples));

TEST(SharedMatrixDescriptor, HasBitsWithoutMeaning) {
  for (const int bit : {14, 15, 30, 31, 46, 48, 52, 61})
    EXPECT_NE(SharedMatrix(std::uint64_t{1} << bit, 2, false).problem(), "") << bit;
  for (const int bit : {0, 13, 16, 29, 32, 45, 62, 63})
    EXPECT_EQ(SharedMatrix(std::uint64_t{1} << bit, 2, false).problem(), "") << bit;
  // A base offset belongs to a swizzle.
  EXPECT_NE(SharedMatrix(std::uint64_t{1} << 49, 2, false).problem(), "");
  EXPECT_EQ(SharedMatrix(std::uint64_t{1} << 49 | std::uint64_t{1} << 62, 2, false).problem(), "");
}

}  // namespace
}  // namespace emulator::test
