#include "session/machine/growth_for_devices.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"

namespace assay {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t gib = 1 << 30;

DeviceInfo device(const std::string& backend, std::int64_t cache_bytes, std::int64_t memory_bytes) {
  DeviceInfo info{.device = backend + ":0", .backend = backend};
  info.last_level_cache_bytes = cache_bytes;
  info.memory_total_bytes = memory_bytes;
  return info;
}

Growth growth(const std::vector<DeviceInfo>& devices) {
  const std::vector<BackendTraits> backends{{.kind = "gpu", .memory = MemorySpace::device},
                                            {.kind = "host", .memory = MemorySpace::host}};
  return growth_for(devices, backends);
}

TEST(Growth, FollowsTheLargestCacheAndTheSmallestMemory) {
  const Growth found =
      growth({device("gpu", 50 * mib, 80 * gib), device("gpu", 40 * mib, 16 * gib)});
  EXPECT_EQ(found.min_bytes, 200.0 * mib);
  EXPECT_EQ(found.max_bytes, 2.0 * gib);
}

TEST(Growth, LeavesHostsAndStandInsAsTheyAre) {
  DeviceInfo emulated = device("gpu", 50 * mib, 80 * gib);
  emulated.stand_in = "emulated";
  EXPECT_EQ(growth({device("host", 256 * mib, 64 * gib), emulated}).min_bytes, 0);
}

TEST(Growth, OfADeviceOfUnknownBackendIsAnError) {
  EXPECT_THROW(growth({device("other", 1, 1)}), UsageError);
}

}  // namespace
}  // namespace assay
