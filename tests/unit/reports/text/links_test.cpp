#include "reports/text/links.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reports/text/overview.h"

namespace assay {
namespace {

Record transfer(const std::string& device, int from, int to, double bytes_per_s) {
  Record record;
  record.suite = "collectives";
  record.op = "send_recv_pair";
  record.dtype = "f32";
  record.params = fmt::format("ranks=4;count=1048576;from={};to={}", from, to);
  record.case_id = fmt::format("{}-{}", from, to);
  record.device = device;
  record.timing = "batch";
  record.status = Status::pass;
  record.bytes = 4194304;
  record.flops = 0;
  record.time_median_s = 4194304 / bytes_per_s;
  record.algbw_bytes_per_s = record.busbw_bytes_per_s = bytes_per_s;
  return record;
}

TEST(Links, NameTheSlowPair) {
  std::vector<Record> trials;
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from == to) continue;
      const double speed = from == 2 && to == 1 ? 1e9 : 4e9;
      trials.push_back(transfer("cuda:0+cuda:1+cuda:3+cuda:7", from, to, speed));
    }
  }
  const auto links = links_of(trials);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].all.size(), 12U);
  EXPECT_EQ(links[0].slowest().name(), "cuda:3>cuda:1");
  EXPECT_EQ(links[0].median_bytes_per_s, 4e9);
  EXPECT_NE(overview(trials).find("slowest of 12 links, collectives/send_recv_pair/f32 "
                                  "ranks=4;count=1048576 batch: cuda:3>cuda:1, 1.00 GB/s, 0.25 of "
                                  "the median"),
            std::string::npos)
      << overview(trials);
}

TEST(Links, OfRanksThatShareADeviceHaveNumbers) {
  const std::vector<Record> trials{transfer("cpu", 0, 1, 2e9), transfer("cpu", 1, 0, 3e9),
                                   transfer("cpu", 1, 2, 4e9)};
  ASSERT_EQ(links_of(trials).size(), 1U);
  EXPECT_EQ(links_of(trials)[0].slowest().name(), "rank 0>rank 1");
}

TEST(Links, OfOnePairHaveNoUsualSpeed) {
  EXPECT_TRUE(
      links_of(std::vector{transfer("cpu", 0, 1, 2e9), transfer("cpu", 1, 0, 3e9)}).empty());
}

TEST(Links, AreCopiesBetweenDevicesToo) {
  std::vector<Record> trials;
  for (const char* lane : {"cuda:0>cuda:1", "cuda:1>cuda:0", "cuda:1>cuda:2"}) {
    Record copy = transfer(lane, 0, 1, trials.empty() ? 5e9 : 50e9);
    copy.suite = "transfers";
    copy.op = "peer_memcpy";
    copy.params = "bytes=4194304;by=engine;access=direct";
    copy.algbw_bytes_per_s = copy.busbw_bytes_per_s = std::nullopt;
    copy.bandwidth_bytes_per_s = trials.empty() ? 5e9 : 50e9;
    trials.push_back(copy);
  }
  ASSERT_EQ(links_of(trials).size(), 1U);
  EXPECT_EQ(links_of(trials)[0].slowest().name(), "cuda:0>cuda:1");
}

TEST(Links, ThatFailedAreNoSpeeds) {
  std::vector<Record> trials{transfer("cpu", 0, 1, 2e9), transfer("cpu", 1, 0, 3e9),
                             transfer("cpu", 1, 2, 4e9)};
  trials.back().status = Status::fail;
  EXPECT_TRUE(links_of(trials).empty());
}

}  // namespace
}  // namespace assay
