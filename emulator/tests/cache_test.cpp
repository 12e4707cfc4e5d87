#include "emulator/machine/cache.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "emulator/tests/device.h"

namespace emulator {
namespace {

TEST(Caches, HoldWhatWasUsedLast) {
  Cache cache(1024);
  cache.use(0, 512);
  cache.use(4096, 512);
  EXPECT_EQ(cache.present_bytes(0, 8192), 1024U);
  cache.use(0, 256);  // again
  cache.use(8192, 512);
  EXPECT_EQ(cache.present_bytes(0, 256), 256U);
  EXPECT_EQ(cache.present_bytes(256, 256), 0U);
  EXPECT_EQ(cache.present_bytes(4096, 512), 256U);
  cache.use(1 << 20, 4096);
  EXPECT_EQ(cache.present_bytes(0, 16384), 0U);
  EXPECT_EQ(cache.present_bytes(1 << 20, 4096), 1024U) << "the end of it";
}

TEST(Caches, HoldWholeLines) {
  Cache cache(1024);
  cache.use(130, 1);
  EXPECT_EQ(cache.present_bytes(0, 1024), 128U);
  EXPECT_EQ(cache.present_bytes(128, 128), 128U);
}

TEST(Caches, OfGpusHoldWhatKernelsAreGiven) {
  test::Device device(2);
  const auto other = device.allocate(512, 1);
  const auto out = device.allocate(512);
  EXPECT_THROW(device.memory().cached_bytes(out, 512), std::logic_error) << "not followed";
  const std::vector<std::size_t> bytes{1 << 20, 1 << 20};
  device.memory().follow_caches(bytes);
  EXPECT_EQ(device.memory().cached_bytes(out, 512), 0U);
  test::Kernels kernels(device, test::ptx_of("block_races"));
  kernels.run("one_writes_one", {.grid = {1}, .block = {32}}, out);
  EXPECT_EQ(device.memory().cached_bytes(out, 512), 512U);
  EXPECT_EQ(device.memory().cached_bytes(other, 512), 0U);
}

}  // namespace
}  // namespace emulator
