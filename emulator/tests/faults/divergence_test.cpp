#include <vector>

#include "emulator/tests/faults/support.h"

namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 10;
constexpr Report divergent{FaultKind::divergent_barrier, std::nullopt, 0, std::nullopt};

void check_pair(const char* wrong, const char* right, unsigned threads) {
  FaultTest test("divergence");
  const auto out = test.device.allocate(threads * sizeof(int));
  const Shape shape{.grid = {1}, .block = {threads}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none(right, shape, out);
    test.expect_fault(divergent, wrong, shape, out);
  });
}

TEST(Divergence, BarrierInHalfAWarp) {
  check_pair("barrier_in_half_a_warp", "barrier_for_all", 64);
}

TEST(Divergence, ShuffleWithAbsentLanes) {
  check_pair("shuffle_with_absent_lanes", "shuffle_with_present_lanes", 32);
}

TEST(Divergence, ShuffleFromAnAbsentLane) {
  FaultTest test("divergence");
  const auto out = test.device.allocate(32 * sizeof(int));
  const Shape warp{.grid = {1}, .block = {32}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("absent_value_dropped", warp, out);
    test.expect_fault({FaultKind::uninitialised_read, std::nullopt, 0, 15}, "absent_value_used",
                      warp, out);
  });
}

TEST(Divergence, ShuffleWithoutOneself) {
  check_pair("shuffle_without_oneself", "shuffle_with_present_lanes", 32);
}

TEST(Divergence, SyncwarpWithAbsentLanes) {
  check_pair("syncwarp_with_absent_lanes", "shuffle_with_present_lanes", 32);
}

TEST(Divergence, BarrierInALoop) {
  FaultTest test("divergence");
  const auto out = test.device.allocate(64 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("barrier_in_a_loop", {.grid = {1}, .block = {64}}, out, 1);
    test.expect_fault(divergent, "barrier_in_a_loop", {.grid = {1}, .block = {64}}, out, 2);
  });
}

// Two warps at barriers that wait for 64 threads each: nobody can go on.
TEST(Divergence, Deadlock) {
  FaultTest test("divergence");
  const auto out = test.device.allocate(64 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("crossed_barriers", {.grid = {1}, .block = {64}}, out, 0);
    test.expect_fault({FaultKind::endless, std::nullopt, 0, std::nullopt}, "crossed_barriers",
                      {.grid = {1}, .block = {64}}, out, 1);
  });
}

// Blocks may wait for one another: those that spin let the others run.
TEST(Divergence, SpinningThreadsLetOthersRun) {
  FaultTest test("divergence");
  const auto out = test.device.allocate(8 * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    const auto flag = test.device.upload(std::vector<int>(1));
    test.expect_none("wait_for_flag", {.grid = {8}, .block = {32}}, flag, out);
  });
}

}  // namespace
}  // namespace emulator::test
