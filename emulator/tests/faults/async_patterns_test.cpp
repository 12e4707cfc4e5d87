#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"

// libcu++, cooperative groups and cuda::ptx for compute capabilities 8.0 and 9.0: right results in
// every order, and no false alarm.
namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 10;

std::vector<int> numbers(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1000);
  return values;
}

class AsyncPatterns : public testing::TestWithParam<const char*> {
 protected:
  AsyncPatterns() : test(std::string("async_patterns_") + GetParam()) {}

  void expect_turned_around(const char* kernel) {
    constexpr unsigned blocks = 3;
    for (const unsigned threads : {32U, 96U, 256U}) {
      const auto values = numbers(std::size_t{blocks} * threads);
      const auto in = test.device.upload(values),
                 out = test.device.allocate(values.size() * sizeof(int));
      for_seeds(test.kernels, seeds, [&] {
        test.expect_none(kernel, {.grid = {blocks}, .block = {threads}}, in, out);
        const auto found = test.device.download<int>(out, values.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          ASSERT_EQ(found[i], values[i / threads * threads + threads - 1 - i % threads]);
      });
    }
  }

  // `threads` of each batch hold numbers; each adds those at the other end of all batches.
  void expect_sums(const char* kernel, unsigned threads, unsigned helpers) {
    constexpr int batches = 7;
    const auto values = numbers(std::size_t{batches} * threads);
    const auto in = test.device.upload(values), out = test.device.allocate(threads * sizeof(int));
    const Shape shape{.grid = {1},
                      .block = {threads + helpers},
                      .dynamic_shared_bytes = 2 * threads * sizeof(int)};
    for_seeds(test.kernels, seeds, [&] {
      test.expect_none(kernel, shape, in, out, batches);
      const auto found = test.device.download<int>(out, threads);
      for (std::size_t i = 0; i < threads; ++i) {
        int sum = 0;
        for (std::size_t batch = 0; batch < batches; ++batch)
          sum += values[batch * threads + threads - 1 - i];
        ASSERT_EQ(found[i], sum);
      }
    });
  }

  FaultTest test;
};

INSTANTIATE_TEST_SUITE_P(, AsyncPatterns, testing::Values("sm80", "sm90"),
                         [](const auto& each) { return each.param; });

TEST_P(AsyncPatterns, BarrierOfAGroup) { expect_turned_around("barrier_of_a_group"); }
TEST_P(AsyncPatterns, BarrierOfThreads) { expect_turned_around("barrier_of_threads"); }
TEST_P(AsyncPatterns, GroupCopy) { expect_turned_around("group_copy"); }
TEST_P(AsyncPatterns, BlockPipeline) { expect_sums("block_pipeline", 128, 0); }
TEST_P(AsyncPatterns, WarpSpecializedPipeline) { expect_sums("warp_specialized_pipeline", 96, 32); }
TEST_P(AsyncPatterns, ThreadPipeline) { expect_sums("thread_pipeline", 128, 0); }

TEST_P(AsyncPatterns, DroppedArrivals) {
  const auto out = test.device.allocate(64 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("dropped_arrivals", {.grid = {1}, .block = {128}}, out);
    EXPECT_EQ(test.device.download<int>(out, 64), std::vector<int>(64, 128));
  });
}

TEST_P(AsyncPatterns, CountedArrivals) {
  const auto out = test.device.allocate(128 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("counted_arrivals", {.grid = {1}, .block = {128}}, out);
    const auto found = test.device.download<int>(out, 128);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], 127 - i);
  });
}

class BulkPatterns : public AsyncPatterns {};
INSTANTIATE_TEST_SUITE_P(, BulkPatterns, testing::Values("sm90"),
                         [](const auto& each) { return each.param; });

TEST_P(BulkPatterns, BarrierOfTransactions) { expect_turned_around("barrier_of_transactions"); }

TEST_P(BulkPatterns, RoundTrip) {
  const auto values = numbers(512);
  const auto in = test.device.upload(values), out = test.device.allocate(512 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("bulk_round_trip", {.grid = {2}, .block = {256}}, in, out);
    const auto found = test.device.download<int>(out, 512);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], values[i] + 1);
  });
}

}  // namespace
}  // namespace emulator::test
