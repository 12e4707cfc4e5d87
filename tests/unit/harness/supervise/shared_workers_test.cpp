// Lanes of several devices that hand a worker on, on workers that are shell scripts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "harness/supervise/supervisor.h"
#include "tests/unit/shell_worker.h"

namespace assay {
namespace {

using namespace testing_support;

/// A line of the workers' log: a trial that one of them got, or its end.
struct Line {
  std::string worker;  // its process id
  std::string lane;    // "sim:0>sim:1"; "left" at its end
};

class SharedWorkers : public testing::Test {
 protected:
  SharedWorkers()
      : log_(testing::TempDir() + "/assay-shared-" + std::to_string(getpid()) + "-" +
             testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(log_);
  }
  ~SharedWorkers() override { std::filesystem::remove(log_); }

  /// Logs each trial and its own end; runs `script` before each answer.
  WorkerCommand logging(const std::string& script) const {
    WorkerCommand command = shell(
        R"(trap 'echo "$$ left" >> "$LOG"' EXIT
           while read -r line; do
             dev=${line#*devices\":[\"}; dev=${dev%%\"]*}; dev=$(echo "$dev" | sed 's/","/>/g')
             n=${line##*n=}; n=${n%%[!0-9]*}; echo "$$ $dev" >> "$LOG"; )" +
        script + R"(
             eval "printf '%s\n' \"\$PASS$n\"" | sed "s/\"device\":\"cpu\"/\"device\":\"$dev\"/"
           done)");
    command.environment.emplace_back("LOG", log_);
    return command;
  }
  /// `count` trials on each lane: "0 1" is sim:0>sim:1.
  static std::vector<PlannedTrial> on(const std::vector<std::vector<int>>& lanes, int count = 1) {
    std::vector<PlannedTrial> plan;
    for (const std::vector<int>& lane : lanes) {
      for (PlannedTrial trial : trials(count)) {
        trial.timing.clear();
        trial.lane.clear();
        for (const int index : lane) trial.lane.push_back({"sim", index});
        plan.push_back(trial);
      }
    }
    return plan;
  }
  /// Returns the log, after the end of the supervisor.
  std::vector<Line> run(SupervisorOptions options, const std::vector<PlannedTrial>& plan,
                        int times = 1) {
    options.backends = test_backends();
    std::vector<Sink*> sinks{&collect_};
    const RunInfo info;
    {
      Supervisor supervisor(std::move(options), info, sinks);
      for (int i = 0; i < times; ++i) EXPECT_EQ(supervisor.execute(plan), PlanEnd::completed);
    }
    std::ifstream file(log_);
    std::vector<Line> lines;
    for (Line line; file >> line.worker >> line.lane;) lines.push_back(line);
    return lines;
  }
  static std::set<std::string> workers_of(const std::vector<Line>& lines, const std::string& lane) {
    std::set<std::string> workers;
    for (const Line& line : lines) {
      if (lane.empty() || line.lane == lane) workers.insert(line.worker);
    }
    return workers;
  }
  void expect_all_pass(std::size_t count) const {
    EXPECT_EQ(collect_.records.size(), count);
    for (const Record& record : collect_.records) {
      EXPECT_EQ(record.status, Status::pass) << record.device << ": " << record.reason;
    }
  }

  std::filesystem::path log_;
  Collect collect_;
};

TEST_F(SharedWorkers, ServeOneLaneOfSeveralDevicesAfterTheOther) {
  const auto lines =
      run({.worker = logging("")}, on({{0, 1}, {1, 0}, {0, 2}, {2, 3}, {0, 1, 2, 3}}, 2), 2);
  EXPECT_EQ(workers_of(lines, "").size(), 1U);
  expect_all_pass(20);
}

TEST_F(SharedWorkers, AreNotThoseOfSingleDevices) {
  const auto lines = run({.worker = logging("")}, on({{0}, {1}, {0, 1}, {1, 0}}));
  EXPECT_EQ(workers_of(lines, "").size(), 3U);
  EXPECT_EQ(workers_of(lines, "sim:0>sim:1"), workers_of(lines, "sim:1>sim:0"));
  expect_all_pass(4);
}

TEST_F(SharedWorkers, LeaveBeforeASingleDeviceIsUsedThatTheyEverTouched) {
  const auto lines = run({.worker = logging("")}, on({{0, 1}, {0, 2}, {3}, {1}}));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(workers_of(lines, "").size(), 3U);
  EXPECT_EQ(lines[2].lane, "sim:3") << "which nothing holds";
  EXPECT_EQ(lines[3].lane, "left") << "though its last lane did not have sim:1";
  EXPECT_EQ(lines[3].worker, lines[0].worker);
  EXPECT_EQ(lines[4].lane, "sim:1");
  expect_all_pass(4);
}

TEST_F(SharedWorkers, WorkSideBySideWhereTheyTouchedNothingInCommon) {
  const auto lines = run({.worker = logging("sleep 0.2;"), .lanes = 2},
                         on({{0, 1}, {2, 3}, {3, 2}, {1, 0}, {0, 2}, {1, 3}}));
  const auto first = workers_of(lines, "sim:0>sim:1");
  const auto second = workers_of(lines, "sim:2>sim:3");
  EXPECT_NE(first, second);
  EXPECT_EQ(workers_of(lines, "").size(), 2U);
  EXPECT_EQ(workers_of(lines, "sim:3>sim:2").size(), 1U);
  EXPECT_EQ(workers_of(lines, "sim:0>sim:2"), workers_of(lines, "sim:1>sim:3"));
  // The other one leaves before a device of its is used.
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < lines.size(); ++i) at.emplace(lines[i].lane, i);
  EXPECT_LT(at.at("left"), at.at("sim:0>sim:2"));
  expect_all_pass(6);
}

TEST_F(SharedWorkers, ThatFailAreReplacedByFreshOnes) {
  const auto lines = run({.worker = logging(R"([ "$dev$n" = "sim:0>sim:12" ] && exit 3;)")},
                         on({{0, 1}, {1, 0}}, 3));
  const auto second = workers_of(lines, "sim:1>sim:0");
  EXPECT_EQ(second.size(), 1U);
  const auto first = workers_of(lines, "sim:0>sim:1");
  EXPECT_EQ(first.size(), 2U);
  EXPECT_TRUE(first.contains(*second.begin()));
  ASSERT_EQ(collect_.records.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(collect_.records[i].status, i == 1 ? Status::crash : Status::pass) << i;
  }
}

/// The idle worker of another lane may be as spoilt as the one that failed.
TEST_F(SharedWorkers, DoNotFollowAFailure) {
  const auto lines =
      run({.worker = logging(R"([ "$dev$n" = "sim:2>sim:31" ] && { sleep 0.4; exit 3; };)"),
           .lanes = 2},
          on({{0, 1}, {2, 3}}, 2));
  EXPECT_EQ(workers_of(lines, "").size(), 3U);
  EXPECT_EQ(workers_of(lines, "sim:2>sim:3").size(), 2U);
}

TEST_F(SharedWorkers, ThatDiedIdleCostNoTrial) {
  const auto pause = [] {
    usleep(50000);  // lets the worker leave
    return false;
  };
  const auto lines =
      run({.worker = logging(R"([ "$dev" = "sim:0>sim:1" ] && { eval "printf '%s\n' \"\$PASS$n\"" |
                              sed "s/\"device\":\"cpu\"/\"device\":\"$dev\"/"; exit 0; };)"),
           .interrupted = pause},
          on({{0, 1}, {1, 0}}));
  EXPECT_EQ(workers_of(lines, "").size(), 2U);
  expect_all_pass(2);
}

TEST_F(SharedWorkers, StartByTheSameCommand) {
  const auto lines =
      run({.worker = logging(""),
           .for_lane =
               [](WorkerCommand& command, const std::vector<DeviceId>& lane) {
                 command.environment.emplace_back("SOCKET", lane.front().index < 2 ? "0" : "1");
               }},
          on({{0, 1}, {1, 2}, {2, 3}, {3, 2}}));
  EXPECT_EQ(workers_of(lines, "").size(), 2U);
  EXPECT_EQ(workers_of(lines, "sim:0>sim:1"), workers_of(lines, "sim:1>sim:2"));
  EXPECT_EQ(workers_of(lines, "sim:2>sim:3"), workers_of(lines, "sim:3>sim:2"));
  expect_all_pass(4);
}

/// A lane that is given up takes no other lane's trials with it.
TEST_F(SharedWorkers, LoseOnlyTheLanesOfALostDevice) {
  const auto lines = run({.worker = logging("")}, on({{0, 1}, {1, 5}, {5, 0}, {2, 0}}));
  ASSERT_EQ(collect_.records.size(), 4U);
  using enum Status;
  EXPECT_EQ(collect_.statuses(), (std::vector{pass, device_lost, device_lost, pass}));
}

}  // namespace
}  // namespace assay
