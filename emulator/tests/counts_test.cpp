// Counts of launches: machine/counts/counts.h.
#include "emulator/machine/counts/counts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "emulator/tests/device.h"

namespace emulator::test {
namespace {

class CountsTest : public testing::Test {
 protected:
  CountsTest() { setenv("ASSAY_EMULATOR_COUNT", "1", 1); }
  ~CountsTest() override { unsetenv("ASSAY_EMULATOR_COUNT"); }

  template <class... Arguments>
  Counts count(const std::string& kernel, const Shape& shape, const Arguments&... arguments) {
    start_counts();
    kernels_.run(kernel, shape, arguments...);
    const std::vector<KernelCounts> taken = take_counts();
    EXPECT_EQ(taken.size(), 1u);
    if (taken.size() != 1) return {};
    EXPECT_EQ(taken.front().kernel, kernel);
    EXPECT_EQ(taken.front().launches, 1u);
    EXPECT_EQ(taken.front().blocks, shape.grid.x);
    EXPECT_EQ(taken.front().threads_per_block, shape.block.x);
    return taken.front().counts;
  }

  std::uintptr_t zeros(std::size_t words) {
    return device_.upload(std::vector<std::uint32_t>(words));
  }

  Device device_;

 private:
  Kernels kernels_{device_, ptx_of("counts"), "counts.ptx"};
};

std::uint64_t of(const Counts& counts, Pipe pipe) {
  return counts.instructions[static_cast<std::size_t>(pipe)];
}

TEST_F(CountsTest, WideAccessesTouchEachSectorOnce) {
  const Counts c = count("copy_wide", {.grid = {2}, .block = {64}}, zeros(512), zeros(512));
  for (const GlobalCounts& global : {c.loads, c.stores}) {
    EXPECT_EQ(global.requests, 4u);
    EXPECT_EQ(global.lane_bytes, 2048u);
    EXPECT_EQ(global.wide_bytes, 2048u);
    EXPECT_EQ(global.sectors, 64u);
    EXPECT_EQ(global.distinct_sectors, 64u);
  }
  EXPECT_EQ(c.load_waits, 4u);
  EXPECT_EQ(c.lanes, 32 * c.issued);
}

TEST_F(CountsTest, LanesThatLieApartTouchASectorEach) {
  const Counts c = count("copy_apart", {.grid = {1}, .block = {32}}, zeros(256), zeros(32));
  EXPECT_EQ(c.loads.sectors, 32u);
  EXPECT_EQ(c.loads.lane_bytes, 128u);
  EXPECT_EQ(c.loads.wide_bytes, 0u);
  EXPECT_EQ(c.stores.sectors, 4u);
}

TEST_F(CountsTest, OneValueForAllLanesIsNoTraffic) {
  const Counts c = count("broadcast", {.grid = {3}, .block = {64}}, zeros(1), zeros(192));
  EXPECT_EQ(c.uniform_loads, 6u);
  EXPECT_EQ(c.loads.requests, 0u);
  EXPECT_EQ(c.load_waits, 6u);
}

TEST_F(CountsTest, ASectorThatAllRequestsTouchIsOne) {
  const Counts c = count("copy_row", {.grid = {3}, .block = {64}}, zeros(64), zeros(192));
  EXPECT_EQ(c.loads.requests, 6u);
  EXPECT_EQ(c.loads.sectors, 24u);
  EXPECT_EQ(c.loads.distinct_sectors, 8u);
}

TEST_F(CountsTest, AWarpWaitsOnceForLoadsThatAreUnderWayTogether) {
  const Counts c = count("two_waits", {.grid = {1}, .block = {32}}, zeros(128), zeros(32));
  EXPECT_EQ(c.loads.requests, 5u);
  EXPECT_EQ(c.load_waits, 2u);
}

TEST_F(CountsTest, NothingWaitsForLoadsOfSharedMemory) {
  const Counts c = count("padded_columns", {.grid = {1}, .block = {32}}, zeros(32));
  EXPECT_EQ(c.load_waits, 0u);
}

TEST_F(CountsTest, ColumnsOfATileConflictInItsBanksUnlessPadded) {
  const Counts bad = count("conflicting_columns", {.grid = {1}, .block = {32}}, zeros(32));
  EXPECT_EQ(bad.shared_requests, 64u);
  EXPECT_EQ(bad.least_shared_wavefronts, 64u);
  EXPECT_EQ(bad.shared_wavefronts, 32u + 32 * 32);
  const Counts good = count("padded_columns", {.grid = {1}, .block = {32}}, zeros(32));
  EXPECT_EQ(good.shared_wavefronts, 64u);
}

TEST_F(CountsTest, WideAccessesOfSharedMemoryTakeFourWavefronts) {
  const Counts c = count("wide_shared", {.grid = {1}, .block = {32}}, zeros(128));
  EXPECT_EQ(c.shared_requests, 2u);
  EXPECT_EQ(c.shared_wavefronts, 8u);
  EXPECT_EQ(c.least_shared_wavefronts, 8u);
}

TEST_F(CountsTest, LanesThatLeftAreNotActive) {
  const Counts c = count("divergent", {.grid = {1}, .block = {32}}, zeros(32));
  EXPECT_GE(of(c, Pipe::f32), 1000u);
  EXPECT_NEAR(static_cast<double>(c.lanes) / static_cast<double>(c.issued), 8, 0.5);
}

TEST_F(CountsTest, DivisionsAreTold) {
  const auto ones = device_.upload(std::vector<std::int64_t>(32, 1));
  const Counts c = count("divide", {.grid = {1}, .block = {32}}, ones, zeros(64));
  EXPECT_EQ(c.divisions, 32u);
}

TEST_F(CountsTest, NothingIsCountedBeforeOrAfter) {
  count("broadcast", {.grid = {1}, .block = {32}}, zeros(1), zeros(32));
  EXPECT_TRUE(take_counts().empty());
}

}  // namespace
}  // namespace emulator::test
