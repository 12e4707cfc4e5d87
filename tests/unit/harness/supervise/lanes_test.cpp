// Several lanes at once, retries and ends of a plan, on workers that are shell scripts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "harness/supervise/supervisor.h"
#include "tests/unit/shell_worker.h"

namespace assay {
namespace {

using namespace testing_support;

/// Supervises several lanes, and collects results in the order in which the parent hears of them.
class Lanes : public testing::Test {
 protected:
  /// A worker that answers correctly for any device; `$dev` is that device. `script` runs between
  /// the question and the answer.
  static WorkerCommand any_device(const std::string& script) {
    WorkerCommand command = shell(
        R"(while read -r line; do
             dev=${line#*devices\":[\"}; dev=${dev%%\"*}; n=${line##*n=}; n=${n%%[!0-9]*};
             )" +
        script + R"(
             eval "printf '%s\n' \"\$PASS$n\"" | sed "s/\"device\":\"cpu\"/\"device\":\"$dev\"/"
           done)");
    return command;
  }
  static std::vector<PlannedTrial> on(const std::vector<std::string>& devices, int count) {
    std::vector<PlannedTrial> plan;
    for (const std::string& device : devices) {
      for (PlannedTrial trial : trials(count)) {
        trial.lane = {*parse_device_id(device)};
        plan.push_back(trial);
      }
    }
    return plan;
  }
  PlanEnd run(SupervisorOptions options, const std::vector<PlannedTrial>& plan) {
    options.backends = test_backends();
    std::vector<Sink*> sinks{&collect_};
    const RunInfo info;
    Supervisor supervisor(std::move(options), info, sinks);
    return supervisor.execute(plan);
  }

  Collect collect_;
};

const char* const log_and_sleep =
    R"(echo "begin $dev" >> "$LOG"; sleep 0.3; echo "end $dev" >> "$LOG";)";
const char* const ask_for_turn =
    R"(echo '{"type":"ready"}'; read -r turn; echo "begin $dev" >> "$LOG"; sleep 0.1; echo "end $dev" >> "$LOG";)";

std::string log_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string word; file >> word;) text += word + " ";
  return text;
}

TEST_F(Lanes, ChecksRunSideBySideAsFarAsAllowed) {
  for (const int lanes : {1, 2}) {
    const std::filesystem::path log = testing::TempDir() + "/assay-lanes-" +
                                      std::to_string(getpid()) + "-" + std::to_string(lanes);
    WorkerCommand command = any_device(log_and_sleep);
    command.environment.emplace_back("LOG", log);
    auto plan = on({"sim:0", "sim:1"}, 1);
    for (PlannedTrial& trial : plan) trial.timing = "";
    EXPECT_EQ(run({.worker = command, .lanes = lanes}, plan), PlanEnd::completed);
    const std::string text = log_of(log);
    const bool overlapped = text.find("end") > text.rfind("begin");
    EXPECT_EQ(overlapped, lanes == 2) << text;
    std::filesystem::remove(log);
  }
  EXPECT_EQ(collect_.statuses(), std::vector<Status>(4, Status::pass));
}

TEST_F(Lanes, WorkersOfAnEarlierPlanKeepNoOtherLaneFromWork) {
  std::vector<Sink*> sinks{&collect_};
  const RunInfo info;
  const Deadline too_late = after(60);
  Supervisor supervisor(
      {.worker = any_device(""),
       .backends = test_backends(),
       .lanes = 2,
       .interrupted = [&] { return std::chrono::steady_clock::now() >= too_late; }},
      info, sinks);
  const auto plan = on({"cpu", "sim:0", "sim:1"}, 2);
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(supervisor.execute(plan), PlanEnd::completed) << repeat;
  }
  EXPECT_EQ(collect_.statuses(), std::vector<Status>(12, Status::pass));
}

TEST_F(Lanes, TimesAreTakenOneAtATimeUnlessAskedOtherwise) {
  for (const bool overlap : {false, true}) {
    const std::filesystem::path log = testing::TempDir() + "/assay-turns-" +
                                      std::to_string(getpid()) + (overlap ? "-overlap" : "");
    WorkerCommand command = any_device(ask_for_turn);
    command.environment.emplace_back("LOG", log);
    EXPECT_EQ(
        run({.worker = command, .lanes = 2, .overlap_timings = overlap}, on({"sim:0", "sim:1"}, 3)),
        PlanEnd::completed);
    const std::string text = log_of(log);
    const bool overlapped = text.find("begin sim:0 begin") != std::string::npos ||
                            text.find("begin sim:1 begin") != std::string::npos;
    EXPECT_EQ(overlapped, overlap) << text;
    std::filesystem::remove(log);
  }
  EXPECT_EQ(collect_.statuses(), std::vector<Status>(12, Status::pass));
}

TEST_F(Lanes, WaitingForATurnDoesNotCountAsTime) {
  WorkerCommand command = any_device(R"(echo '{"type":"ready"}'; read -r turn; sleep 0.8;)");
  EXPECT_EQ(
      run({.worker = command, .timeout_s = 1.2, .lanes = 4}, on({"cpu", "sim:0", "sim:1"}, 1)),
      PlanEnd::completed);
  EXPECT_EQ(collect_.statuses(), std::vector<Status>(3, Status::pass))
      << "the last waits for 1.6 s";
}

TEST_F(Lanes, ACollectiveStartsWhenTheWorkersOfItsMembersHaveLeft) {
  auto plan = on({"sim:0", "sim:1"}, 1);
  PlannedTrial both = plan[0];
  both.lane = {{"sim", 0}, {"sim", 1}};
  plan.push_back(both);
  const std::filesystem::path log = testing::TempDir() + "/assay-both-" + std::to_string(getpid());
  WorkerCommand command = shell(
      R"(trap 'echo "left $$" >> "$LOG"' EXIT; while read -r line; do echo "$$ $line" >> "$LOG"; answer; done)");
  command.environment.emplace_back("LOG", log);
  run({.worker = command, .lanes = 4}, plan);
  std::ifstream file(log);
  int left = 0;
  int left_before_both = -1;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("left")) ++left;
    if (line.find(R"("sim:0","sim:1")") != std::string::npos) left_before_both = left;
  }
  EXPECT_EQ(left_before_both, 2);
  EXPECT_EQ(collect_.records.size(), 3U);
  std::filesystem::remove(log);
}

TEST_F(Lanes, ADeviceThatAFreshWorkerDoesNotSeeIsGivenUpWithAllItsTrials) {
  auto plan = on({"sim:5", "sim:0"}, 2);
  PlannedTrial both = plan[0];
  both.lane = {{"sim", 0}, {"sim", 5}};
  plan.push_back(both);
  EXPECT_EQ(run({.worker = any_device(""), .retries = 3}, plan), PlanEnd::completed);
  ASSERT_EQ(collect_.records.size(), 5U) << "every trial has a row, and none is retried";
  for (const Record& record : collect_.records) {
    const bool lost = record.device.find("sim:5") != std::string::npos;
    EXPECT_EQ(record.status, lost ? Status::device_lost : Status::pass) << record.device;
  }
}

/// A driver that has lost a device may give its number to another one.
TEST_F(Lanes, AnotherDeviceUnderTheSameNumberIsNotTheDevice) {
  protocol::Hello other;
  other.build_id = version::build_id;
  DeviceInfo info;
  info.device = "cpu";
  info.uuid = "GPU-other";
  other.devices.push_back(info);
  const std::filesystem::path marker =
      std::filesystem::temp_directory_path() / ("assay-other-" + std::to_string(getpid()));
  std::filesystem::remove(marker);
  WorkerCommand command = shell("");
  command.arguments.back() = "if [ -e '" + marker.string() +
                             "' ]; then printf '%s\\n' \"$OTHER\"; else touch '" + marker.string() +
                             "'; printf '%s\\n' \"$HELLO\"; fi; read -r line; exit 1";
  command.environment.emplace_back("OTHER", protocol::encode(other));
  EXPECT_EQ(run({.worker = command}, trials(3)), PlanEnd::completed);
  std::filesystem::remove(marker);
  ASSERT_EQ(collect_.records.size(), 3U);
  EXPECT_EQ(collect_.records[0].status, Status::crash);
  EXPECT_EQ(collect_.records[1].status, Status::device_lost);
  EXPECT_EQ(collect_.records[1].reason,
            "cpu is gone: a fresh worker finds another device in its place, GPU-other");
  EXPECT_EQ(collect_.records[2].status, Status::device_lost);
}

TEST_F(Lanes, AWorkerThatCannotBeEndedIsRecordedAndItsDeviceGivenUp) {
  std::vector<pid_t> immortal;
  WorkerCommand command = any_device(R"([ "$dev" = sim:1 ] || while :; do sleep 0.1; done;)");
  command.signal_group = [&](pid_t group, int) { immortal.push_back(group); };
  EXPECT_EQ(run({.worker = command, .timeout_s = 0.3, .lanes = 2}, on({"sim:0", "sim:1"}, 3)),
            PlanEnd::completed);
  ASSERT_EQ(collect_.records.size(), 6U);
  int timeouts = 0;
  for (const Record& record : collect_.records) {
    if (record.device == "sim:1") {
      EXPECT_EQ(record.status, Status::pass) << record.reason;
    } else if (record.status == Status::timeout) {
      ++timeouts;
      EXPECT_NE(record.reason.find("did not end even when sent KILL"), std::string::npos);
    } else {
      EXPECT_EQ(record.status, Status::device_lost);
    }
  }
  EXPECT_EQ(timeouts, 1);
  ASSERT_FALSE(immortal.empty());
  kill(-immortal.front(), SIGKILL);
}

TEST_F(Lanes, ABrokenTrialLeavesNoWorkerBehindForTheNext) {
  // An error that the worker reports itself: its device may be poisoned.
  Result broken;
  broken.record.case_id = "tensor_ops/add/f32/n=1";
  broken.record.device = "cpu";
  broken.record.status = Status::error;
  Result wrong = broken;
  wrong.record.status = Status::fail;
  for (const auto& [first, is_kept] : {std::pair(broken, false), std::pair(wrong, true)}) {
    WorkerCommand command = shell(R"(count=0; while read -r line; do count=$((count + 1));
        case "$line" in *n=1*) printf '%s\n' "$FIRST";; *) [ $count = 2 ] && echo garbage || answer;; esac; done)");
    command.environment.emplace_back("FIRST", protocol::encode(first));
    collect_.records.clear();
    run({.worker = command}, trials(2));
    ASSERT_EQ(collect_.records.size(), 2U);
    EXPECT_EQ(collect_.records[1].status, is_kept ? Status::error : Status::pass)
        << "the second trial of one worker is answered by garbage";
  }
}

TEST_F(Lanes, RetriesAreRowsAndAPassOnRetryIsFlaky) {
  const std::filesystem::path mark = testing::TempDir() + "/assay-mark-" + std::to_string(getpid());
  std::filesystem::remove(mark);
  WorkerCommand command = any_device(
      R"(case "$line" in *n=2*) [ -e "$MARK" ] || { : > "$MARK"; exit 3; };; *n=3*) exit 4;; esac;)");
  command.environment.emplace_back("MARK", mark);
  EXPECT_EQ(run({.worker = command, .retries = 1}, trials(3)), PlanEnd::completed);
  using enum Status;
  EXPECT_EQ(collect_.statuses(), (std::vector{pass, crash, flaky, crash, crash}));
  std::vector<std::int64_t> attempts;
  for (const Record& record : collect_.records) attempts.push_back(record.attempt);
  EXPECT_EQ(attempts, (std::vector<std::int64_t>{1, 1, 2, 1, 2}));
  std::filesystem::remove(mark);
}

TEST_F(Lanes, FailFastEndsAfterTheFirstThatStaysBad) {
  const WorkerCommand command = any_device(R"(case "$line" in *n=2*) exit 3;; esac;)");
  EXPECT_EQ(run({.worker = command, .fail_fast = true}, trials(3)), PlanEnd::failed_fast);
  EXPECT_EQ(collect_.statuses(), (std::vector{Status::pass, Status::crash}));
}

TEST_F(Lanes, AKnownFailureIsNeitherRetriedNorDoesItEndTheRun) {
  const WorkerCommand command = any_device(R"(case "$line" in *n=2*) exit 3;; esac;)");
  EXPECT_EQ(
      run({.worker = command,
           .retries = 2,
           .fail_fast = true,
           .expected_failure =
               [](const Record& record) { return record.status == Status::crash ? "known" : ""; }},
          trials(3)),
      PlanEnd::completed);
  EXPECT_EQ(collect_.statuses(), (std::vector{Status::pass, Status::crash, Status::pass}));
  EXPECT_EQ(collect_.records[1].expected_failure, "known");
}

TEST_F(Lanes, EnoughBeginsNoFurtherTrialAndSaysSo) {
  EXPECT_EQ(run({.worker = any_device(""), .enough = [&] { return !collect_.records.empty(); }},
                trials(3)),
            PlanEnd::enough);
  EXPECT_EQ(collect_.records.size(), 1U);
}

TEST_F(Lanes, ALineThatNobodyAskedForIsNotTheNextAnswer) {
  const auto pause = [] {
    usleep(50000);  // lets the noise arrive
    return false;
  };
  run({.worker = shell("while read -r line; do answer; echo noise; done"), .interrupted = pause},
      trials(2));
  EXPECT_EQ(collect_.statuses(), std::vector<Status>(2, Status::pass))
      << "the second by a fresh worker";
}

TEST_F(Lanes, ReadyWithoutAnythingToBeTimedIsNoAnswer) {
  auto plan = trials(1);
  plan[0].timing = "";
  run({.worker = any_device(ask_for_turn)}, plan);
  EXPECT_EQ(collect_.statuses(), std::vector{Status::error});
}

}  // namespace
}  // namespace assay
