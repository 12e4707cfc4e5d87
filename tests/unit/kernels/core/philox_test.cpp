#include "kernels/core/philox.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace assay {
namespace {

// The known-answer vectors that Random123 distributes for philox4x32 with 10 rounds.
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EachOfSeedStreamAndIndexChangesTheBits) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed : {1U, 2U}) {
    for (std::uint64_t stream : {0U, 1U, 65536U}) {
      for (std::uint64_t index = 0; index < 100; ++index) {
        seen.insert(random_bits(seed, stream, index));
      }
    }
  }
  EXPECT_EQ(seen.size(), 600U);
}

TEST(Philox, ManyAtOnceAreTheSameAsOneByOne) {
  constexpr std::uint64_t carries = 0xfffffff8;  // into the upper half of the counter
  for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 100U}) {
    std::vector<std::array<std::uint64_t, 2>> pairs(count);
    random_pairs(0x123456789abcdef0, 0xfedcba9876543210, carries, pairs);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(pairs[i], random_pair(0x123456789abcdef0, 0xfedcba9876543210, carries + i)) << i;
    }
  }
}

}  // namespace
}  // namespace assay
