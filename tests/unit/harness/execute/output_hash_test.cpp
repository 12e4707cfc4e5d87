#include "harness/execute/output_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {
namespace {

HostTensor tensor(std::string_view text) {
  HostTensor bytes(TensorSpec{.dtype = DType::u8, .shape = {std::ssize(text)}});
  std::ranges::copy(std::as_bytes(std::span(text)), bytes.bytes().begin());
  return bytes;
}

std::string hash_of(std::initializer_list<std::string_view> texts) {
  std::vector<HostTensor> tensors;
  for (const std::string_view text : texts) tensors.push_back(tensor(text));
  return output_hash(tensors);
}

// Sanity tests of xxhsum (xxHash 0.8.1), with the buffer that they fill.
TEST(OutputHash, IsThePublishedOne) {
  std::string buffer;
  std::uint64_t state = 2654435761U;
  for (int i = 0; i < 195; ++i) {
    buffer += static_cast<char>(state >> 56);
    state *= 11400714785074694797U;
  }
  const auto of_first = [&](std::size_t bytes) {
    return hash_of({std::string_view(buffer).substr(0, bytes)});
  };
  EXPECT_EQ(of_first(0), "2d06800538d394c2");
  EXPECT_EQ(of_first(1), "c44bdff4074eecdb");
  EXPECT_EQ(of_first(6), "27b56a84cd2d7325");
  EXPECT_EQ(of_first(48), "397da259ecba1f11");
  EXPECT_EQ(of_first(195), "cd94217ee362ec3a");
}

TEST(OutputHash, TakesAllRanksInTurn) {
  EXPECT_EQ(hash_of({"as", "say"}), hash_of({"assay"}));
  EXPECT_NE(hash_of({"say", "as"}), hash_of({"assay"}));
}

TEST(OutputHash, ShowsASingleBit) {
  const std::string zeros(std::size_t{1} << 16, '\0');
  for (std::size_t at = 0; at < zeros.size(); at += 997) {
    std::string other = zeros;
    other[at] = 1;
    ASSERT_NE(hash_of({other}), hash_of({zeros})) << at;
  }
}

}  // namespace
}  // namespace assay
