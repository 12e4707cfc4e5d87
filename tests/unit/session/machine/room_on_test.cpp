// Cases of limits follow the device.
#include "session/machine/room_on.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "harness/measure/least_time.h"
#include "kernels/cuda/traits.h"

namespace assay {
namespace {

std::map<std::string, std::vector<std::string>> ids_by_limit(const DeviceInfo& device) {
  std::map<std::string, std::vector<std::string>> ids;
  for (const LimitCase& one : limit_cases(cuda::traits(), room_on(device))) {
    ids[name(one.limit)].push_back(one.test.id());
  }
  return ids;
}

std::string square(const std::string& dtype, const std::string& extent) {
  return "linear/" + dtype + "/batch=" + extent + ",in=" + extent + ",out=" + extent +
         ",bias=0,act=none";
}

DeviceInfo gpu(const std::string& architecture, int units, double clock_hz, std::int64_t gib,
               double memory_bytes_per_s) {
  DeviceInfo device;
  device.architecture = architecture;
  device.compute_units = units;
  device.clock_max_hz = clock_hz;
  device.memory_total_bytes = gib << 30;
  device.memory_peak_bytes_per_s = memory_bytes_per_s;
  device.last_level_cache_bytes = 2 << 20;
  return device;
}

// Keeps stored limits comparable: the ids of a data-centre GPU are those that the backend declares.
TEST(RoomOnADevice, LimitsAreWhatTheBackendDeclaresWhereTheyFit) {
  const auto ids = ids_by_limit(gpu("sm_90", 132, 1.98e9, 80, 3.35e12));
  const auto declared = ids_by_limit({});
  EXPECT_EQ(ids, declared);
  EXPECT_EQ(ids.at("matrix_f64"),
            (std::vector<std::string>{square("f64", "4096"), square("f64", "8192")}));
}

// An RTX 3050 with 16 multiprocessors multiplies f64 at 111 GFLOPS: 8192 would take 9.9 s.
TEST(RoomOnADevice, LimitsAreSmallerWhereADeviceIsSmall) {
  const DeviceInfo small = gpu("sm_86", 16, 1.74e9, 4, 192e9);
  const auto ids = ids_by_limit(small);
  EXPECT_EQ(ids.at("matrix_f64"), std::vector<std::string>{square("f64", "2048")});
  EXPECT_EQ(ids.at("matrix_f32"),
            (std::vector<std::string>{square("f32", "4096"), square("f32", "8192")}));
  for (const LimitCase& one : limit_cases(cuda::traits(), room_on(small))) {
    EXPECT_LE(measure::least_launch_s(one.test.op, small).value_or(0), 0.5) << one.test.id();
    EXPECT_LE(one.test.op.signature.bytes, 1.0 * (1 << 30)) << one.test.id();
  }
}

}  // namespace
}  // namespace assay
