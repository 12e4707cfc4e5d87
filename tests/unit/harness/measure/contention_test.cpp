#include "harness/measure/contention.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harness/supervise/child_process.h"

namespace assay::measure {
namespace {

TEST(Contention, IsReadFromTheSystemsFiles) {
  EXPECT_DOUBLE_EQ(waited_s("8530000000 1500000000 912\n").value(), 1.5);
  EXPECT_EQ(waited_s(""), std::nullopt) << "a thread that is gone";
  EXPECT_EQ(waited_s("12 x"), std::nullopt);
  EXPECT_DOUBLE_EQ(
      stolen_s("cpu  100 2 30 4000 5 6 7 250 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n", 100).value(), 2.5);
  EXPECT_EQ(stolen_s("cpu  100 2 30 4000 5 6 7\n", 100), std::nullopt) << "old kernels";
  EXPECT_EQ(stolen_s("intr 1 2 3 4 5 6 7 8\n", 100), std::nullopt);
}

TEST(Contention, IsMoreThanAHundredthOfTheTime) {
  const LostTime before{.waited_s = {{"7", 1}}, .stolen_s = 2};
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1.009}}, .stolen_s = 2}, 1), false);
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1.011}}, .stolen_s = 2}, 1), true);
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1}}, .stolen_s = 2.02}, 1), true);
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1.006}}, .stolen_s = 2.006}, 1), true)
      << "together";
}

TEST(Contention, OfOneThreadIsNotHiddenByTheEndOfAnother) {
  const LostTime before{.waited_s = {{"7", 1}, {"8", 20}}};
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1.5}}}, 1), true);
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1}}}, 1), false);
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1}, {"8", 0.5}}}, 1), false)
      << "another thread of the same id";
  EXPECT_EQ(is_contended(before, {.waited_s = {{"7", 1}, {"8", 20}, {"9", 0.5}}}, 1), true)
      << "a thread that began meanwhile";
}

TEST(Contention, IsUnknownWhereNothingIsTold) {
  EXPECT_EQ(is_contended({}, {.waited_s = {{"7", 5}}}, 1), std::nullopt);
  EXPECT_EQ(is_contended({.waited_s = {{"7", 5}}}, {}, 1), std::nullopt);
  EXPECT_EQ(is_contended({.stolen_s = 1}, {.waited_s = {{"7", 5}}, .stolen_s = 1}, 1), false)
      << "nobody knows since when";
  EXPECT_EQ(is_contended({.waited_s = {{"7", 1}}}, {.waited_s = {{"7", 5}}, .stolen_s = 1}, 1),
            true);
}

/// More threads than cores, each always ready: some of them must wait.
TEST(Contention, OfThreadsThatOutnumberTheCoresIsSeen) {
  const LostTime before = lost_time();
  if (before.waited_s.empty()) GTEST_SKIP() << "this kernel has no schedstat";
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  std::atomic<bool> go_on{true};
  std::vector<std::jthread> threads;
  for (long i = 0; i < 3 * cores; ++i) {
    threads.emplace_back([&] {
      while (go_on) {
      }
    });
  }
  // Waits without a limit: a machine that reports contention will report it.
  const double wall_s = 0.05;
  while (is_contended(before, lost_time(), wall_s) != true) std::this_thread::yield();
  go_on = false;
}

TEST(LongestTime, IsThatOfOneThreadWhichBothReadingsHave) {
  const std::map<std::string, double> before{{"1", 5}, {"2", 1}, {"ended", 9}};
  EXPECT_EQ(longest_between_s(before, {{"1", 6}, {"2", 3}, {"new", 50}}), 2);
  EXPECT_EQ(longest_between_s({}, {{"new", 50}}), 0);
}

TEST(LeastTime, IsThatOfTheBusiestThreadAndOfAllOnAllCores) {
  using Worked = std::map<std::string, double>;
  const Worked before{{"1", 5}, {"2", 1}};
  EXPECT_EQ(least_time_s(before, {{"1", 8}, {"2", 2}}, 2), 3);
  EXPECT_EQ(least_time_s(before, {{"1", 8}, {"2", 2}, {"new", 4}}, 2), 4);
  EXPECT_EQ(least_time_s(before, {{"1", 8}, {"2", 4}, {"new", 3}}, 2), 4.5);
  EXPECT_EQ(least_time_s({}, {}, 2), 0);
}

TEST(Worked, CountsWhatChildrenAndTheirsDo) {
  // The shell waits for a shell that works.
  const pid_t child = start_child(
      {.arguments = {"/bin/sh", "-c", "(while :; do :; done) & wait"}, .own_group = true});
  constexpr double least_s = 0.02;
  while (least_time_s({}, worked_s({child}), 1) < least_s) std::this_thread::yield();
  EXPECT_GE(worked_s({child}).size(), 2);
  EXPECT_TRUE(worked_s({}).empty());
  kill(-child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace assay::measure
