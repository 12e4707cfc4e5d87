#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "emulator/tests/faults/support.h"

// Correct kernels pass, with the right results, in 50 orders of execution.
namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 50;

std::vector<int> numbers(std::size_t count) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i * 7919 % 201) - 100;
  return values;
}

std::vector<int> sums_of_blocks(const std::vector<int>& values, std::size_t block) {
  std::vector<int> sums;
  for (std::size_t i = 0; i < values.size(); i += block) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
    sums.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(block), 0));
  }
  return sums;
}

TEST(Patterns, BlockReduceByShuffles) {
  FaultTest test("patterns");
  const auto values = numbers(3 * 256);
  const auto in = test.device.upload(values), out = test.device.allocate(3 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("block_reduce_shuffles", {.grid = {3}, .block = {256}}, in, out);
    EXPECT_EQ(test.device.download<int>(out, 3), sums_of_blocks(values, 256));
  });
}

TEST(Patterns, TreeReduceInSharedMemory) {
  FaultTest test("patterns");
  const auto values = numbers(3 * 128);
  const auto in = test.device.upload(values), out = test.device.allocate(3 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("tree_reduce", {.grid = {3}, .block = {128}, .dynamic_shared_bytes = 512}, in,
                     out);
    EXPECT_EQ(test.device.download<int>(out, 3), sums_of_blocks(values, 128));
  });
}

TEST(Patterns, TiledTranspose) {
  FaultTest test("patterns");
  const int width = 50, height = 40;
  std::vector<float> values(50 * 40), transposed(50 * 40);
  for (std::size_t y = 0; y < 40; ++y) {
    for (std::size_t x = 0; x < 50; ++x) {
      values[y * 50 + x] = transposed[x * 40 + y] = static_cast<float>(y * 50 + x);
    }
  }
  const auto in = test.device.upload(values),
             out = test.device.allocate(values.size() * sizeof(float));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("transpose", {.grid = {2, 2}, .block = {32, 8}}, in, out, width, height);
    EXPECT_EQ(test.device.download<float>(out, values.size()), transposed);
  });
}

TEST(Patterns, BlockScan) {
  FaultTest test("patterns");
  const auto values = numbers(2 * 256);
  std::vector<int> scanned(values.size());
  for (std::ptrdiff_t i = 0; i < 512; i += 256) {
    std::partial_sum(values.begin() + i, values.begin() + i + 256, scanned.begin() + i);
  }
  const auto in = test.device.upload(values), out = test.device.allocate(512 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("block_scan", {.grid = {2}, .block = {256}}, in, out);
    EXPECT_EQ(test.device.download<int>(out, 512), scanned);
  });
}

TEST(Patterns, WarpAggregatedAtomics) {
  FaultTest test("patterns");
  const auto values = numbers(512);
  std::vector<int> kept;
  for (std::size_t i = 0; i < 500; ++i) {
    if (values[i] > 0) kept.push_back(values[i]);
  }
  std::ranges::sort(kept);
  const auto in = test.device.upload(values), out = test.device.allocate(512 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    const auto count = test.device.upload(std::vector<int>(1));
    test.expect_none("warp_aggregated", {.grid = {4}, .block = {128}}, in, out, count, 500);
    ASSERT_EQ(test.device.download<int>(count, 1)[0], static_cast<int>(kept.size()));
    auto found = test.device.download<int>(out, kept.size());
    std::ranges::sort(found);
    EXPECT_EQ(found, kept);
  });
}

TEST(Patterns, WarpAggregatedByActivemask) {
  FaultTest test("patterns");
  const auto values = numbers(512);
  int positive = 0;
  for (const int x : values) positive += x > 0 ? 1 : 0;
  const auto in = test.device.upload(values);
  for_seeds(test.kernels, seeds, [&] {
    const auto count = test.device.upload(std::vector<int>(1));
    test.expect_none("warp_aggregated_by_activemask", {.grid = {4}, .block = {128}}, in, count);
    EXPECT_EQ(test.device.download<int>(count, 1)[0], positive);
  });
}

constexpr std::size_t look_back_blocks = 20;

/// Expects prefix sums of what `run(in, out)` launches.
void expect_prefix_sums(FaultTest& test, auto run) {
  const auto values = numbers(look_back_blocks * 32);
  std::vector<int> scanned(values.size());
  std::partial_sum(values.begin(), values.end(), scanned.begin());
  const auto in = test.device.upload(values),
             out = test.device.allocate(values.size() * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    run(in, out);
    EXPECT_EQ(test.device.download<int>(out, values.size()), scanned);
  });
}
constexpr Shape look_back_shape{.grid = {look_back_blocks}, .block = {32}};

void expect_look_back(const char* kernel) {
  FaultTest test("patterns");
  expect_prefix_sums(test, [&](auto in, auto out) {
    const auto ticket = test.device.upload(std::vector<unsigned>(1));
    const auto flags = test.device.upload(std::vector<unsigned>(look_back_blocks));
    const auto sums = test.device.allocate(look_back_blocks * sizeof(int)),
               prefixes = test.device.allocate(look_back_blocks * sizeof(int));
    test.expect_none(kernel, look_back_shape, in, out, ticket, flags, sums, prefixes);
  });
}

TEST(Patterns, DecoupledLookBack) { expect_look_back("look_back"); }

/// A flag that is read late, of two that were released there, still came with the first value.
TEST(Patterns, DecoupledLookBackAtPlainValues) { expect_look_back("look_back_at_plain_values"); }

TEST(Patterns, DecoupledLookBackInOneWord) {
  FaultTest test("patterns");
  expect_prefix_sums(test, [&](auto in, auto out) {
    const auto ticket = test.device.upload(std::vector<unsigned>(1));
    const auto words = test.device.upload(std::vector<std::uint64_t>(look_back_blocks));
    test.expect_none("look_back_packed", look_back_shape, in, out, ticket, words);
  });
}

TEST(Patterns, LastBlockReduce) {
  FaultTest test("patterns");
  const auto values = numbers(10 * 128);
  const auto in = test.device.upload(values), out = test.device.allocate(sizeof(int));
  const auto parts = test.device.allocate(10 * sizeof(int));
  const auto arrived = test.device.upload(std::vector<unsigned>(1));  // atomicInc wraps it to 0
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("last_block_reduce", {.grid = {10}, .block = {128}}, in, parts, arrived, out);
    EXPECT_EQ(test.device.download<int>(out, 1)[0],
              std::accumulate(values.begin(), values.end(), 0));
  });
}

TEST(Patterns, DoubleBuffering) {
  FaultTest test("patterns");
  const auto in = test.device.upload(std::vector<int>(128, 1)),
             out = test.device.allocate(128 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("double_buffering", {.grid = {1}, .block = {128}}, in, out, 9);
    EXPECT_EQ(test.device.download<int>(out, 128), std::vector<int>(128, 512));
  });
}

TEST(Patterns, NamedBarriers) {
  FaultTest test("patterns");
  const auto out = test.device.allocate(32 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("named_barriers", {.grid = {1}, .block = {64}}, out);
    const auto sums = test.device.download<int>(out, 32);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], 600 + 4 * (31 - i));
  });
}

TEST(Patterns, NeighbouringBytes) {
  FaultTest test("patterns");
  const auto bytes = test.device.allocate(512), halves = test.device.allocate(1024);
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("neighbouring_bytes", {.grid = {2}, .block = {256}}, bytes, halves);
    EXPECT_EQ(test.device.download<std::uint8_t>(bytes, 512)[257], 0);
  });
}

TEST(Patterns, EarlyReturn) {
  FaultTest test("patterns");
  const auto values = numbers(100);
  const auto in = test.device.upload(values), out = test.device.allocate(100 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("early_return", {.grid = {2}, .block = {64}}, in, out, 100);
    EXPECT_EQ(test.device.download<int>(out, 100)[99], values[99] + 1);
  });
}

}  // namespace
}  // namespace emulator::test
