#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"

// Races must be found whatever the order of execution, and their mended twins pass in every order.
namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 10;
constexpr Report a_race{FaultKind::race, std::nullopt, std::nullopt, std::nullopt};

// Keys that hit each counter from several warps.
std::vector<unsigned> keys(std::size_t count) {
  std::vector<unsigned> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<unsigned>(i * 2654435761u >> 7) % 8;
  return values;
}

TEST(SharedRace, BetweenWriteAndRead) {
  FaultTest test("shared_races");
  const auto out = test.device.allocate(2 * 256 * sizeof(int));
  const Shape shape{.grid = {2}, .block = {256}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("reverse_with_barrier", shape, out);
    EXPECT_EQ(test.device.download<int>(out, 256)[3], 252);
    test.expect_fault(a_race, "reverse_without_barrier", shape, out);
  });
}

TEST(SharedRace, BetweenReadAndTheNextWrite) {
  FaultTest test("shared_races");
  const auto out = test.device.allocate(128 * sizeof(int));
  const Shape shape{.grid = {1}, .block = {128}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("rotate_with_second_barrier", shape, out);
    test.expect_fault(a_race, "rotate_without_second_barrier", shape, out);
  });
}

TEST(SharedRace, BetweenWrites) {
  FaultTest test("shared_races");
  const auto out = test.device.allocate(128 * sizeof(int));
  for (const unsigned threads : {32U, 128U}) {  // in one warp and across warps
    const Shape shape{.grid = {1}, .block = {threads}};
    for_seeds(test.kernels, seeds, [&] {
      test.expect_none("one_writes_one", shape, out);
      test.expect_fault(a_race, "all_write_one", shape, out);
    });
  }
}

TEST(SharedRace, InWarpSynchronousCode) {
  FaultTest test("shared_races");
  const auto in = test.device.upload(std::vector<int>(32, 2));
  const auto out = test.device.allocate(sizeof(int));
  const Shape shape{.grid = {1}, .block = {32}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("warp_sum_with_syncwarp", shape, in, out);
    EXPECT_EQ(test.device.download<int>(out, 1)[0], 64);
    test.expect_fault(a_race, "warp_sum_without_syncwarp", shape, in, out);
  });
}

TEST(SharedRace, OfCounters) {
  FaultTest test("shared_races");
  const auto in = test.device.upload(keys(256));
  const auto out = test.device.allocate(8 * sizeof(int));
  const Shape shape{.grid = {1}, .block = {256}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("atomic_histogram", shape, in, out);
    test.expect_fault(a_race, "plain_histogram", shape, in, out);
  });
}

TEST(SharedRace, BetweenAtomicsAndARead) {
  FaultTest test("shared_races");
  const auto in = test.device.upload(keys(128));
  const auto out = test.device.allocate(128 * sizeof(int));
  const Shape shape{.grid = {1}, .block = {128}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("atomic_sum_with_barrier", shape, in, out);
    test.expect_fault(a_race, "atomic_sum_without_barrier", shape, in, out);
  });
}

TEST(BlockRace, OfCounters) {
  FaultTest test("block_races");
  const auto in = test.device.upload(keys(512));
  for_seeds(test.kernels, seeds, [&] {
    const auto counts = test.device.upload(std::vector<int>(8));
    test.expect_none("atomic_histogram", {.grid = {4}, .block = {128}}, in, counts);
    test.expect_fault(a_race, "plain_histogram", {.grid = {4}, .block = {128}}, in, counts);
  });
}

TEST(SharedRace, NotBetweenNeighboursInAWord) {
  FaultTest test("shared_races");
  const auto out = test.device.allocate(128 * sizeof(int));
  const Shape shape{.grid = {1}, .block = {128}};
  for_seeds(test.kernels, seeds, [&] {
    for (const char* kernel : {"own_bytes", "own_halves", "word_of_halves_with_barrier"})
      test.expect_none(kernel, shape, out);
    for (const char* kernel : {"other_bytes", "other_halves", "word_of_halves_without_barrier"})
      test.expect_fault(a_race, kernel, shape, out);
  });
}

TEST(SharedRace, NotOfAReadThatASwapChecks) {
  FaultTest test("shared_races");
  const auto out = test.device.allocate(128 * sizeof(int));
  const Shape shape{.grid = {1}, .block = {128}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("swap_in_a_loop", shape, out);
    EXPECT_EQ(test.device.download<int>(out, 1)[0], 100);
    test.expect_fault(a_race, "swap_of_another", shape, out);
  });
}

TEST(WarpRace, WithoutABarrier) {
  FaultTest test("warp_races");
  const Shape shape{.grid = {2}, .block = {128}};
  for_seeds(test.kernels, seeds, [&] {
    const auto data = test.device.upload(std::vector<int>(128));
    const Shape one{.grid = {1}, .block = {128}};
    test.expect_none("reverse_with_barrier", one, data);
    test.expect_none("shift_with_barrier", one, data);
    test.expect_fault(a_race, "reverse_without_barrier", one, data);
    test.expect_fault(a_race, "shift_without_barrier", one, data);
    test.expect_none("raise_flag", shape, data);
    test.expect_none("count_atomically", shape, data);
    test.expect_fault(a_race, "count_plainly", one, data);
  });
}

TEST(WarpRace, NotWhereOneHandsOverToTheOther) {
  FaultTest test("warp_races");
  const Shape shape{.grid = {1}, .block = {96}};
  for_seeds(test.kernels, seeds, [&] {
    for (const char* kernel :
         {"hand_over_by_global_flag", "hand_over_by_shared_flag", "hand_over_by_barrier"}) {
      const auto data = test.device.upload(std::vector<int>(32)),
                 flag = test.device.upload(std::vector<int>(1));
      test.expect_none(kernel, shape, data, flag);
      EXPECT_EQ(test.device.download<int>(data, 1)[0], 8) << kernel;
    }
    const auto data = test.device.upload(std::vector<int>(32)),
               flag = test.device.upload(std::vector<int>(1));
    test.expect_fault(a_race, "hand_over_without_order", shape, data, flag);
  });
}

TEST(BlockRace, BetweenSingleThreadsOfBlocks) {
  FaultTest test("block_races");
  const auto out = test.device.upload(std::vector<int>(1));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("one_writes_one", {.grid = {8}, .block = {32}}, out);
    test.expect_fault(a_race, "all_write_one", {.grid = {8}, .block = {32}}, out);
  });
}

TEST(BlockRace, BetweenNeighbours) {
  FaultTest test("block_races");
  const auto data = test.device.upload(std::vector<int>(256));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("read_own", {.grid = {8}, .block = {32}}, data);
    test.expect_fault(a_race, "read_neighbour", {.grid = {8}, .block = {32}}, data);
  });
}

TEST(BlockRace, WithoutAFence) {
  FaultTest test("block_races");
  const auto in = test.device.upload(std::vector<int>(8 * 32, 3));
  const auto parts = test.device.allocate(8 * sizeof(int)), out = test.device.allocate(sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    const auto arrived = test.device.upload(std::vector<unsigned>(1));
    test.expect_none("last_with_fence", {.grid = {8}, .block = {32}}, in, parts, arrived, out);
    EXPECT_EQ(test.device.download<int>(out, 1)[0], 8 * 32 * 3);
    const auto again = test.device.upload(std::vector<unsigned>(1));
    test.expect_fault(a_race, "last_without_fence", {.grid = {8}, .block = {32}}, in, parts, again,
                      out);
  });
}

TEST(BlockRace, OfAMessage) {
  FaultTest test("block_races");
  const auto data = test.device.upload(std::vector<int>(1)),
             out = test.device.allocate(sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    const auto flag = test.device.upload(std::vector<int>(1));
    test.expect_none("message_with_fence", {.grid = {2}, .block = {32}}, data, flag, out);
    EXPECT_EQ(test.device.download<int>(out, 1)[0], 42);
    const auto again = test.device.upload(std::vector<int>(1));
    test.expect_fault(a_race, "message_without_fence", {.grid = {2}, .block = {32}}, data, again,
                      out);
  });
}

/// Strong accesses are no race, but without a fence the second word may come later than the first.
TEST(BlockRace, BetweenTwoWordsWithOneFlag) {
  FaultTest test("block_races");
  const auto out = test.device.allocate(2 * sizeof(unsigned));
  const std::vector<unsigned> right{0x101, 0x102};
  int late = 0;
  for_seeds(test.kernels, 40, [&] {
    const auto words_after = [&](const char* kernel) {
      const auto words = test.device.upload(std::vector<unsigned>(2));
      test.expect_none(kernel, {.grid = {2}, .block = {32}}, words, out);
      return test.device.download<unsigned>(out, 2);
    };
    EXPECT_EQ(words_after("two_words_with_flags"), right);
    EXPECT_EQ(words_after("two_words_with_fence"), right);
    if (words_after("two_words_with_one_flag") != right) ++late;
  });
  EXPECT_GT(late, 0);
}

TEST(BlockRace, BetweenAtomicsAndARead) {
  FaultTest test("block_races");
  const auto out = test.device.allocate(32 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    const auto counter = test.device.upload(std::vector<int>(1));
    test.expect_none("read_by_atomics", {.grid = {4}, .block = {32}}, counter, out);
    test.expect_fault(a_race, "read_during_atomics", {.grid = {4}, .block = {32}}, counter, out);
  });
}

TEST(BlockRace, NotBetweenNeighboursInAWord) {
  FaultTest test("block_races");
  const auto data = test.device.upload(std::vector<int>(256)),
             out = test.device.allocate(32 * sizeof(int));
  const Shape shape{.grid = {200}, .block = {32}};
  for_seeds(test.kernels, seeds, [&] {
    for (const char* kernel : {"own_bytes", "own_halves"}) test.expect_none(kernel, shape, data);
    for (const char* kernel : {"other_bytes", "other_halves"})
      test.expect_fault(a_race, kernel, shape, data);
    test.expect_fault(a_race, "words_of_halves", {.grid = {2}, .block = {32}}, data, out);
  });
}

TEST(BlockRace, NotOfAReadThatASwapChecks) {
  FaultTest test("block_races");
  for_seeds(test.kernels, seeds, [&] {
    const auto largest = test.device.upload(std::vector<float>(1)),
               sum = test.device.upload(std::vector<double>(1));
    test.expect_none("swap_in_a_loop", {.grid = {64}, .block = {64}}, largest);
    EXPECT_EQ(test.device.download<float>(largest, 1)[0], 1008.0F);
    test.expect_none("add_in_a_loop", {.grid = {8}, .block = {32}}, sum);
    EXPECT_EQ(test.device.download<double>(sum, 1)[0], 256.0);
    const auto sums = test.device.upload(std::vector<unsigned>(33));
    test.expect_none("add_to_each", {.grid = {16}, .block = {32}}, sums);
    EXPECT_EQ(test.device.download<unsigned>(sums, 32), std::vector<unsigned>(32, 16));
    const auto zeros = test.device.upload(std::vector<unsigned>(33));
    test.expect_fault(a_race, "add_beside", {.grid = {16}, .block = {32}}, zeros);
  });
}

// Launches are ordered: what one wrote another may read.
TEST(BlockRace, NotBetweenLaunches) {
  FaultTest test("block_races");
  const auto data = test.device.upload(std::vector<int>(256));
  for_seeds(test.kernels, 4, [&] {
    for (int launch = 0; launch < 3; ++launch) {
      test.expect_none("read_own", {.grid = {8}, .block = {32}}, data);
      test.expect_none("read_own", {.grid = {2}, .block = {128}}, data);
    }
  });
}

}  // namespace
}  // namespace emulator::test
