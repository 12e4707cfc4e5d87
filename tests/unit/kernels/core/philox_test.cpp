#include "kernels/core/philox.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace assay {
namespace {

// Known-answer vectors of Random123 for philox4x32 with 10 rounds. They fix which words of the
// counter and the key hold the index, the stream and the seed.
TEST(Philox, GivesThePublishedVectors) {
  using Pair = std::array<std::uint64_t, 2>;
  EXPECT_EQ(random_pair(0, 0, 0), (Pair{0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c}));
  constexpr std::uint64_t ones = 0xffffffffffffffff;
  EXPECT_EQ(random_pair(ones, ones, ones), (Pair{0x41c83b0e408f276d, 0x6d5451fda20bc7c6}));
  EXPECT_EQ(random_pair(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (Pair{0x94fdccebd16cfe09, 0x24126ea15001e420}));
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
  constexpr std::uint64_t seed = 0x123456789abcdef0;
  constexpr std::uint64_t stream = 0xfedcba9876543210;
  constexpr std::uint64_t carries = 0xfffffff8;  // into the upper half of the counter
  for (const std::size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 31U, 100U, 257U}) {
    std::vector<std::uint64_t> words(count);
    random_words(seed, stream, carries, words);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(words[i], random_bits(seed, stream, 2 * carries + i)) << i;
    }
  }
}

}  // namespace
}  // namespace assay
