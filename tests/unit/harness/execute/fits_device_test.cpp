// Cases that are too large for a device are skips with figures.
#include "harness/execute/fits_device.h"

#include <gtest/gtest.h>

#include "harness/plan/case.h"

namespace assay {
namespace {

DeviceInfo small_gpu() {
  DeviceInfo device;
  device.architecture = "sm_86";
  device.compute_units = 16;
  device.clock_max_hz = 1.74e9;
  device.memory_total_bytes = std::int64_t{4} << 30;
  device.memory_peak_bytes_per_s = 192e9;
  return device;
}

std::optional<Misfit> misfit_of(const std::string& id, const DeviceInfo& device,
                                bool is_host = false) {
  return misfit(parse_case_id(id).op, device, is_host);
}

TEST(FitsDevice, ALaunchOfHalfASecondIsTheLongest) {
  const auto slow =
      misfit_of("linear/f64/batch=4096,in=4096,out=4096,bias=0,act=none", small_gpu());
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->category, SkipCategory::not_here);
  EXPECT_EQ(
      slow->why,
      "a launch takes at least 1.2 s by the device's theoretical rate, at most 0.5 s are given");
  EXPECT_FALSE(misfit_of("linear/f64/batch=2048,in=2048,out=2048,bias=0,act=none", small_gpu()));
  EXPECT_FALSE(misfit_of("linear/f32/batch=4096,in=4096,out=4096,bias=0,act=none", small_gpu()));
}

TEST(FitsDevice, ItsMemoryHoldsAllTensors) {
  const std::string large = "tensor_ops/add/f64/n=268435456";  // three tensors of 2 GiB
  const auto misfit = misfit_of(large, small_gpu());
  ASSERT_TRUE(misfit);
  EXPECT_EQ(misfit->category, SkipCategory::too_little_memory);
  EXPECT_EQ(misfit->why, "the tensors take 6.4 GB, the device has 4.3 GB");
  EXPECT_FALSE(misfit_of("tensor_ops/add/f64/n=134217728", small_gpu()));
  EXPECT_FALSE(misfit_of(large, small_gpu(), true)) << "the host's is looked at when it is needed";
}

TEST(FitsDevice, NothingIsRefusedWhereNothingIsKnown) {
  EXPECT_FALSE(misfit_of("linear/f64/batch=16384,in=16384,out=16384,bias=0,act=none", {}));
}

}  // namespace
}  // namespace assay
