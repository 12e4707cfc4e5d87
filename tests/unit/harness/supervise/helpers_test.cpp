// Further workers of a lane that share its checks, on workers that are shell scripts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "harness/supervise/supervisor.h"
#include "tests/unit/shell_worker.h"

namespace assay {
namespace {

using namespace testing_support;

/// A line of the workers' log: a trial that one of them got.
struct Line {
  std::string worker;   // its process id
  std::string role;     // "helper", or "first" for the lane's own worker
  std::string trial;    // "timed" or "check"
  std::string is_free;  // "free", or "taken" while a timed trial is open
  std::string threads;  // of the judge: "one" or "all"
};

class Helpers : public testing::Test {
 protected:
  Helpers()
      : log_(testing::TempDir() + "/assay-helpers-" + std::to_string(getpid()) + "-" +
             testing::UnitTest::GetInstance()->current_test_info()->name()) {
    end_with_nothing();
  }
  ~Helpers() override { end_with_nothing(); }

  void end_with_nothing() const {
    std::filesystem::remove(log_);
    std::filesystem::remove(log_ + ".timed");
    std::filesystem::remove(log_ + ".crashed");
  }
  /// `checks` trials that time nothing, after `timed` ones.
  static std::vector<PlannedTrial> plan_of(int checks, int timed = 0) {
    const std::vector<PlannedTrial> some = trials(3);
    std::vector<PlannedTrial> plan;
    for (int i = 0; i < timed + checks; ++i) {
      plan.push_back(some[static_cast<std::size_t>(i % 3)]);
      if (i >= timed) plan.back().timing.clear();
    }
    return plan;
  }
  /// Runs the plan with workers that log each trial, and run `script` before they answer.
  std::vector<Line> run(const std::vector<PlannedTrial>& plan, int lanes,
                        const std::string& script = "", MemorySpace memory = MemorySpace::host) {
    SupervisorOptions options;
    options.worker = shell(R"(while read -r line; do
        what=check; case $line in *batch*) what=timed;; esac
        free=free; [ -e "$LOG.timed" ] && free=taken
        threads=all; [ -n "$ASSAY_JUDGE_IN_ONE_THREAD" ] && threads=one
        echo "$$ ${ROLE:-first} $what $free $threads" >> "$LOG"; )" +
                           script + R"(
        trial=$line
        if [ $what = timed ]; then
          printf '%s\n' "$READY"; read -r turn
          : > "$LOG.timed"; sleep 0.05; rm -f "$LOG.timed"
        fi
        line=$trial; answer; done)");
    options.worker.environment.emplace_back("READY", protocol::encode(protocol::Ready{}));
    options.worker.environment.emplace_back("LOG", log_);
    options.lanes = lanes;
    options.backends = {{.kind = "cpu", .memory = memory}};
    options.for_checks = [](WorkerCommand& command) {
      command.environment.emplace_back("ROLE", "helper");
    };
    const RunInfo info;
    std::vector<Sink*> sinks{&collect_};
    {
      Supervisor supervisor(std::move(options), info, sinks);
      EXPECT_EQ(supervisor.execute(plan), PlanEnd::completed);
    }
    EXPECT_EQ(collect_.records.size(), plan.size());
    std::ifstream file(log_);
    std::vector<Line> lines;
    for (Line line;
         file >> line.worker >> line.role >> line.trial >> line.is_free >> line.threads;) {
      lines.push_back(line);
    }
    return lines;
  }
  static std::set<std::string> workers_of(const std::vector<Line>& lines, std::string Line::*of,
                                          const std::string& value) {
    std::set<std::string> workers;
    for (const Line& line : lines) {
      if (line.*of == value) workers.insert(line.worker);
    }
    return workers;
  }
  std::ptrdiff_t count(Status status) const {
    return std::ranges::count(collect_.records, status, &Record::status);
  }

  std::string log_;
  Collect collect_;
};

TEST_F(Helpers, ShareTheChecksOfADeviceOfTheHost) {
  const auto lines = run(plan_of(130), 3);
  EXPECT_EQ(workers_of(lines, &Line::role, "helper").size(), 2U);
  EXPECT_EQ(workers_of(lines, &Line::role, "first").size(), 1U);
  EXPECT_EQ(lines.size(), 130U);
  EXPECT_EQ(count(Status::pass), 130);
}

TEST_F(Helpers, AreNoMoreThanLanesAndThanTheirChecksAreWorth) {
  EXPECT_EQ(workers_of(run(plan_of(130), 1), &Line::trial, "check").size(), 1U);
  end_with_nothing();
  collect_.records.clear();
  EXPECT_EQ(workers_of(run(plan_of(63), 3), &Line::trial, "check").size(), 1U);
}

TEST_F(Helpers, AreNotOnADeviceWithMemoryOfItsOwn) {
  const auto lines = run(plan_of(130), 3, "", MemorySpace::device);
  EXPECT_EQ(workers_of(lines, &Line::trial, "check").size(), 1U);
  EXPECT_EQ(count(Status::pass), 130);
}

TEST_F(Helpers, TakeAllChecksWhereOthersAreTimedAndWaitWhileTheyAre) {
  std::vector<PlannedTrial> plan = plan_of(70, 2);
  for (const PlannedTrial& trial : plan_of(70, 2)) plan.push_back(trial);
  const auto lines = run(plan, 2);
  EXPECT_EQ(workers_of(lines, &Line::role, "helper"), workers_of(lines, &Line::trial, "check"));
  const auto helpers = workers_of(lines, &Line::role, "helper");
  EXPECT_EQ(helpers.size(), 2U);
  for (const std::string& helper : helpers) {
    EXPECT_GE(std::ranges::count(lines, helper, &Line::worker), 20) << "of 140";
  }
  EXPECT_EQ(workers_of(lines, &Line::role, "first"), workers_of(lines, &Line::trial, "timed"));
  EXPECT_TRUE(workers_of(lines, &Line::is_free, "taken").empty());
  EXPECT_EQ(count(Status::pass), 144);
}

TEST_F(Helpers, JudgeInOneThreadWhereEachHasACore) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores < 2 || cores > 8) GTEST_SKIP() << "a lane has no more than 8 workers";
  const auto threads = [&](const std::vector<PlannedTrial>& plan, int lanes) {
    end_with_nothing();
    collect_.records.clear();
    std::set<std::string> of_roles;
    for (const Line& line : run(plan, lanes)) of_roles.insert(line.role + " " + line.threads);
    return of_roles;
  };
  using Threads = std::set<std::string>;
  EXPECT_EQ(threads(plan_of(64 * cores), cores + 1), (Threads{"first one", "helper one"}));
  EXPECT_EQ(threads(plan_of(64 * cores, 1), cores), (Threads{"first all", "helper one"}))
      << "times need all threads";
  EXPECT_TRUE(threads(plan_of(64 * cores), cores - 1).contains("first all")) << "a core is free";
}

TEST_F(Helpers, ThatCrashCostTheirTrialAlone) {
  run(plan_of(130), 2,
      R"([ "$ROLE" = helper ] && [ ! -e "$LOG.crashed" ] && { : > "$LOG.crashed"; exit 3; };)");
  EXPECT_EQ(count(Status::crash), 1);
  EXPECT_EQ(count(Status::pass), 129);
}

TEST_F(Helpers, ThatCannotGoOnLeaveTheOtherChecksToTheLane) {
  run(plan_of(130, 1), 2, R"([ "$ROLE" = helper ] && exit 3;)");
  EXPECT_GE(count(Status::crash), 1) << "never green";
  EXPECT_EQ(count(Status::crash) + count(Status::pass), 131);
}

}  // namespace
}  // namespace assay
