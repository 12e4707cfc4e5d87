#include "kernels/cpu/vectorize.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace assay::cpu {
namespace {

TEST(ParallelBlocks, CoverTheRangeOnceEachAndNoneIsEmpty) {
  for (const std::int64_t element_bytes : {1, 4, 64, 1 << 20}) {
    for (const std::int64_t n : {0, 1, 63, 64, 65, 1000, 200'000}) {
      std::mutex mutex;
      std::vector<int> covered(static_cast<std::size_t>(n));
      std::vector<std::int64_t> counts;
      parallel_blocks(n, element_bytes, [&](std::int64_t, std::int64_t first, std::int64_t count) {
        const std::scoped_lock lock(mutex);
        counts.push_back(count);
        for (std::int64_t i = first; i < first + count; ++i) ++covered[static_cast<std::size_t>(i)];
      });
      EXPECT_EQ(covered, std::vector<int>(static_cast<std::size_t>(n), 1)) << n;
      for (const std::int64_t count : counts) EXPECT_GT(count, 0) << n;
    }
  }
}

}  // namespace
}  // namespace assay::cpu
