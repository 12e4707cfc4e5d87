#include "reports/files/key_index.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(KeyIndex, FindsWhatWasPutInAndNothingElse) {
  KeyIndex index;
  std::vector<std::size_t> keys;
  const auto hash = [](std::size_t key) { return key * 0x9E3779B97F4A7C15U; };
  for (std::size_t i = 0; i < 10'000; ++i) {
    keys.push_back(3 * i);
    index.insert(hash(keys.back()), static_cast<std::uint32_t>(i));
  }
  for (std::size_t key = 0; key < 30'000; ++key) {
    const auto place = index.find(hash(key), [&](std::uint32_t at) { return keys[at] == key; });
    ASSERT_EQ(place, key % 3 == 0 ? key / 3 : KeyIndex::absent) << key;
  }
}

TEST(KeyIndex, TellsKeysOfOneHashApart) {
  KeyIndex index;
  for (std::uint32_t i = 0; i < 2000; ++i) index.insert(7, i);
  for (const std::uint32_t wanted : {0U, 1023U, 1999U}) {
    EXPECT_EQ(index.find(7, [&](std::uint32_t place) { return place == wanted; }), wanted);
  }
  EXPECT_EQ(index.find(7, [](std::uint32_t) { return false; }), KeyIndex::absent);
}

}  // namespace
}  // namespace assay
