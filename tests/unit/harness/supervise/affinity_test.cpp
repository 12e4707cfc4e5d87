// Processors on which workers run.
#include "harness/supervise/affinity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <vector>

#include "harness/supervise/child_process.h"
#include "harness/supervise/worker_process.h"

namespace assay {
namespace {

std::vector<int> own_processors() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) processors.push_back(i);
  }
  return processors;
}

/// True if a child that is started with these processors has `expected`.
bool child_has(const std::vector<int>& processors, const std::vector<int>& expected) {
  std::string list;
  for (const int processor : expected) {
    list += (list.empty() ? "" : ",") + std::to_string(processor);
  }
  const std::string script =
      "import os, sys; sys.exit(sorted(os.sched_getaffinity(0)) != [" + list + "])";
  const pid_t pid = start_child(
      {.arguments = {"/usr/bin/env", "python3", "-c", script}, .processors = processors});
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

DeviceInfo device_near(const std::string& name, const std::string& processors) {
  DeviceInfo info;
  info.device = name;
  info.local_processors = processors;
  return info;
}

TEST(Processors, AreReadAsTheKernelWritesThem) {
  EXPECT_EQ(parse_processors("0-2,8"), (std::vector{0, 1, 2, 8}));
  EXPECT_EQ(parse_processors("7"), std::vector{7});
  for (const char* malformed : {"", "a", "3-1", "1-", "-1", "1,,2", "1 2", "99999999"}) {
    EXPECT_TRUE(parse_processors(malformed).empty()) << malformed;
  }
}

TEST(Processors, NearestToALaneAreThoseOfAllItsDevices) {
  const std::vector devices{device_near("cpu", ""), device_near("cuda:0", "0-1"),
                            device_near("cuda:1", "4"), device_near("cuda:2", "0-1")};
  const auto nearest = [&](std::vector<DeviceId> lane) {
    return nearest_processors(lane, devices);
  };
  EXPECT_EQ(nearest({{"cuda", 1}}), std::vector{4});
  EXPECT_EQ(nearest({{"cuda", 0}, {"cuda", 1}}), (std::vector{0, 1, 4}));
  EXPECT_EQ(nearest({{"cuda", 1}, {"cuda", 2}, {"cuda", 0}}), (std::vector{0, 1, 4}));
  EXPECT_TRUE(nearest({{"cpu", 0}}).empty());
  EXPECT_TRUE(nearest({{"cuda", 0}, {"cpu", 0}}).empty());
  EXPECT_TRUE(nearest({{"cuda", 7}}).empty());
}

TEST(Processors, OfOtherLanesTakeAnotherWorker) {
  const WorkerCommand one{.arguments = {"assay"}, .processors = {0}};
  WorkerCommand other = one;
  EXPECT_TRUE(one.starts_the_same(other));
  other.processors = {0, 1};
  EXPECT_FALSE(one.starts_the_same(other));
}

TEST(Processors, OfAChildAreThoseOfItsCommand) {
  const std::vector<int> all = own_processors();
  EXPECT_TRUE(child_has({all.back()}, {all.back()}));
  EXPECT_EQ(own_processors(), all) << "of this process";
  EXPECT_TRUE(child_has({}, all));
}

TEST(Processors, ThatThisProcessMayNotUseAreLeftOut) {
  const std::vector<int> all = own_processors();
  EXPECT_TRUE(child_has({all.front(), CPU_SETSIZE - 1}, {all.front()}));
  const Affinity narrow(std::vector{all.front()});
  EXPECT_TRUE(child_has({all.back(), all.front()}, {all.front()}));
  EXPECT_TRUE(child_has({CPU_SETSIZE - 1}, {all.front()})) << "none is left";
}

}  // namespace
}  // namespace assay
