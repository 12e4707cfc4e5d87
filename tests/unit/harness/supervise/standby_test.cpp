// The worker that lists the devices goes on as that of the first lane of its command.
#include "harness/supervise/standby.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/shell_worker.h"

namespace assay {
namespace {

using namespace testing_support;

class StandbyTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(log_); }

  /// A worker that notes its start, and what it is told.
  WorkerCommand noting() const {
    const std::string log = "'" + log_.string() + "'";
    return shell("echo started >>" + log + "; while read -r line; do echo \"$line\" >>" + log +
                 "; case $line in *conduct*) ;; *) answer;; esac; done");
  }
  std::vector<std::string> notes() const {
    std::ifstream file(log_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::int64_t starts() const { return std::ranges::count(notes(), "started"); }

  std::vector<Status> run(const WorkerCommand& command, std::shared_ptr<Standby> standby) {
    Collect collect;
    std::vector<Sink*> sinks{&collect};
    RunInfo info;
    Supervisor supervisor(
        {.worker = command, .standby = std::move(standby), .backends = test_backends()}, info,
        sinks);
    EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::completed);
    return collect.statuses();
  }

  const std::vector<Status> all_pass_ = std::vector<Status>(3, Status::pass);
  std::filesystem::path log_ = std::filesystem::path(testing::TempDir()) /
                               testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(StandbyTest, GoesOnAsTheFirstWorkerAndIsToldItsConduct) {
  WorkerCommand command = noting();
  const auto standby = start_standby(command);
  EXPECT_EQ(standby->hello.devices.size(), 5U);
  command.conduct = {.cap_s = 0.5, .references = "there", .choices = "file"};
  EXPECT_EQ(run(command, standby), all_pass_);
  EXPECT_EQ(starts(), 1);
  ASSERT_GE(notes().size(), 2U);
  EXPECT_EQ(notes()[1], protocol::encode(*command.conduct)) << "before the first trial";
  EXPECT_EQ(standby->worker, nullptr);
}

TEST_F(StandbyTest, WaitsWhileALaneOfAnotherCommandHasAWorkerOfItsOwn) {
  const auto standby = start_standby(noting());
  WorkerCommand other = noting();
  other.environment.emplace_back("OTHER", "1");
  EXPECT_EQ(run(other, standby), all_pass_);
  EXPECT_EQ(starts(), 2);
  ASSERT_NE(standby->worker, nullptr);
  standby->worker->receive();
  EXPECT_FALSE(standby->worker->silent()) << "it keeps the drivers loaded";
}

TEST_F(StandbyTest, ThatHasEndedMeanwhileIsReplaced) {
  const auto standby = start_standby(noting());
  kill(standby->worker->pid(), SIGKILL);
  while (!standby->worker->silent()) standby->worker->receive();
  EXPECT_EQ(run(noting(), standby), all_pass_);
}

TEST(Hello, TakesLongerWhereThereAreMoreGpus) {
  EXPECT_EQ(hello_limit_s(8) - hello_limit_s(0), 8 * (hello_limit_s(1) - hello_limit_s(0)));
  EXPECT_GT(hello_limit_s(1), hello_limit_s(0));
  WorkerCommand slow{{"/bin/sh", "-c", "sleep 100"}, {}};
  slow.hello_s = 0.2;
  try {
    probe(slow);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a worker said nothing for 0.2 s");
  }
}

}  // namespace
}  // namespace assay
