#include "harness/execute/memory.h"

#include <gtest/gtest.h>

#include "harness/plan/case.h"

namespace assay {
namespace {

double on_host(const char* case_id) { return host_bytes(parse_case_id(case_id).op, true); }

TEST(Memory, EveryCopyOfEveryRankIsCounted) {
  EXPECT_EQ(on_host("tensor_ops/add/f32/n=100"), 2 * 3 * 400) << "on the device and beside it";
  EXPECT_EQ(host_bytes(parse_case_id("tensor_ops/add/f32/n=100").op, false), 3 * 400);
  EXPECT_EQ(on_host("allreduce/f32/reduce=sum,ranks=8,count=100"), 8 * 2 * 2 * 400);
  EXPECT_EQ(on_host("allreduce/f32/reduce=sum,ranks=8,count=100,place=in"), 8 * 3 * 400)
      << "in place there is no output on the device";
}

TEST(Memory, GapsBetweenRowsCountOnTheDeviceAlone) {
  EXPECT_EQ(
      on_host("transfers/memcpy_2d/u8/from=host,to=host,rows=2,width=10,pitch=100,threads=one"),
      2 * (20 + 110));
}

TEST(Memory, HugePagesAreTakenAlready) {
  EXPECT_EQ(on_host("transfers/memcpy/u8/from=host,to=host,bytes=4194304,threads=one,pages=huge"),
            2 * 4194304);
}

TEST(Memory, TooLittleIsSaidInFigures) {
  EXPECT_EQ(too_little_memory(8e9, 8e9), std::nullopt);
  EXPECT_EQ(too_little_memory(8e9, std::nullopt), std::nullopt);
  EXPECT_EQ(too_little_memory(8.6e9, 4.2e9),
            "the case and its checks take 8.6 GB of the host's, 4.2 GB are available");
}

TEST(Memory, ThatOthersHoldIsSaidInFigures) {
  const OpInstance add = parse_case_id("tensor_ops/add/f32/n=1000000000").op;  // 12 GB
  DeviceInfo gpu{.device = "cuda:0", .memory_total_bytes = 80'000'000'000};
  EXPECT_EQ(held_by_others(add, gpu), std::nullopt) << "not known";
  gpu.memory_free_bytes = 5'000'000'000;
  EXPECT_EQ(held_by_others(add, gpu),
            "the tensors of the case take 12.0 GB, and of the 80.0 GB of cuda:0 others had left "
            "5.0 GB");
  gpu.memory_free_bytes = 20'000'000'000;
  EXPECT_EQ(held_by_others(add, gpu), std::nullopt) << "it is this process's own fault";
  gpu.memory_total_bytes = gpu.memory_free_bytes = 8'000'000'000;
  EXPECT_EQ(held_by_others(add, gpu), std::nullopt) << "no GPU of this size can hold it";
}

TEST(Memory, ThisMachineTellsWhatIsAvailable) {
  const auto available = available_host_bytes();
  ASSERT_TRUE(available);
  EXPECT_GT(*available, 1e6);
}

}  // namespace
}  // namespace assay
