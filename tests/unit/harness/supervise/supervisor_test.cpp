// Supervision on workers that are shell scripts: results of trials whose workers misbehave.
#include "harness/supervise/supervisor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/shell_worker.h"

namespace assay {
namespace {

using namespace testing_support;

std::vector<Record> run(const std::string& script, int count, double timeout_s = 20) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor(
      {.worker = shell(script), .backends = test_backends(), .timeout_s = timeout_s}, info, sinks);
  EXPECT_EQ(supervisor.execute(trials(count)), PlanEnd::completed);
  return collect.records;
}

TEST(Supervisor, AWorkerThatAnswersGivesARecordPerTrial) {
  const auto records = run(answer_all, 3);
  ASSERT_EQ(records.size(), 3U);
  for (const Record& record : records) EXPECT_EQ(record.status, Status::pass);
  EXPECT_EQ(records[1].case_id, "tensor_ops/add/f32/n=2");
  EXPECT_EQ(records[1].replay, "assay run --case tensor_ops/add/f32/n=2 --device cpu --seed 1");
}

TEST(Supervisor, WhatWorkersSpentIsSummedAndTellingIsTheParents) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor({.worker = shell(answer_all), .backends = test_backends()}, info, sinks);
  supervisor.execute(trials(3));
  EXPECT_EQ(supervisor.phases().input, 1 + 2 + 3);
  EXPECT_EQ(supervisor.phases().sampling, 3 * 0.5);
  EXPECT_EQ(supervisor.phases().setup, 0);
  EXPECT_GT(supervisor.phases().output, 0);
  EXPECT_EQ(supervisor.phases().other, 0) << "known only to who knows the wall time";
}

TEST(Supervisor, AResultThatTheParentFindsWrongCountsAsWrong) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  const auto fail_second = [](const PlannedTrial& trial, Result& result) {
    if (trial.test.id().ends_with("n=2")) result.record.status = Status::fail;
  };
  Supervisor supervisor({.worker = shell(answer_all),
                         .backends = test_backends(),
                         .retries = 1,
                         .fail_fast = true,
                         .rate = fail_second},
                        info, sinks);
  EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::failed_fast);
  ASSERT_EQ(collect.records.size(), 3U) << "a pass, a failure and its retry";
  EXPECT_EQ(collect.records[0].status, Status::pass);
  EXPECT_EQ(collect.records[1].status, Status::fail);
  EXPECT_EQ(collect.records[2].attempt, 2);
  EXPECT_EQ(collect.records[2].status, Status::fail);
}

TEST(Supervisor, ABreakEndsTheTrialsOfItsLaneWhereAsked) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor({.worker = shell(R"(while read -r line; do case "$line" in
    *n=2*) kill -SEGV $$;;
    *) answer;; esac; done)"),
                         .backends = test_backends(),
                         .break_ends_lane = true},
                        info, sinks);
  EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::completed);
  ASSERT_EQ(collect.records.size(), 2U) << "the third is not tried";
  EXPECT_EQ(collect.records[1].status, Status::crash);
}

TEST(Supervisor, ACrashCostsItsTrialAlone) {
  const auto records = run(R"(while read -r line; do case "$line" in
    *n=2*) echo 'the last words' >&2; kill -SEGV $$;;
    *) answer;; esac; done)",
                           3);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].status, Status::pass);
  EXPECT_EQ(records[1].status, Status::crash);
  EXPECT_EQ(records[1].case_id, "tensor_ops/add/f32/n=2") << "though nobody answered";
  EXPECT_EQ(records[1].op, "add");
  EXPECT_EQ(records[1].device, "cpu");
  EXPECT_EQ(records[1].timing, "batch");
  EXPECT_NE(records[1].reason.find("signal 11"), std::string::npos) << records[1].reason;
  EXPECT_NE(records[1].reason.find("the last words"), std::string::npos) << records[1].reason;
  EXPECT_EQ(records[2].status, Status::pass) << "by a fresh worker";
}

TEST(Supervisor, AHangThatIgnoresTermIsKilledAndTheRunGoesOn) {
  const auto records = run(R"(trap '' TERM; while read -r line; do case "$line" in
    *n=1*) while :; do sleep 0.1; done;;
    *) answer;; esac; done)",
                           2, 0.3);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].status, Status::timeout);
  EXPECT_EQ(records[0].caught_by, Check::supervision);
  EXPECT_NE(records[0].reason.find("signal 9"), std::string::npos) << records[0].reason;
  EXPECT_GE(records[0].wall_s, 0.3) << "the time-out at least";
  EXPECT_EQ(records[1].status, Status::pass);
  EXPECT_EQ(records[1].caught_by, std::nullopt);
  EXPECT_GT(records[1].wall_s, 0);
}

TEST(Supervisor, AWorkerThatLeavesWithoutAnAnswerIsACrash) {
  const auto records = run("read -r line; exit 0", 1);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::crash);
  EXPECT_NE(records[0].reason.find("exit code 0"), std::string::npos) << records[0].reason;
}

/// Writes its process id to $CHILD, and keeps the pipes of the worker open.
constexpr const char* leave_a_child = "sleep 1000 & echo $! > \"$CHILD\";";

/// Returns whether a process exists and has not ended. A zombie has ended.
bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.at(name_end + 2) != 'Z';
}

bool ends_soon(pid_t pid) {
  for (int i = 0; i < 100 && is_running(pid); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return !is_running(pid);
}

/// Runs one trial in a worker that leaves a child. Returns the record, and whether the child is
/// gone.
std::pair<Record, bool> run_with_child(const std::string& script) {
  const std::filesystem::path file =
      testing::TempDir() + "/assay-child-" + std::to_string(getpid());
  WorkerCommand command = shell(script);
  command.environment.emplace_back("CHILD", file);
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  const RunInfo info;
  {
    Supervisor supervisor({.worker = command, .backends = test_backends(), .timeout_s = 5}, info,
                          sinks);
    supervisor.execute(trials(1));
  }
  pid_t child = 0;
  std::ifstream(file) >> child;
  std::filesystem::remove(file);
  EXPECT_GT(child, 0);
  const bool is_gone = child > 0 && ends_soon(child);
  if (!is_gone) kill(child, SIGKILL);
  return {collect.records.at(0), is_gone};
}

TEST(Supervisor, AChildThatHoldsThePipesHidesNoCrashAndEndsWithTheWorker) {
  const auto [record, is_gone] =
      run_with_child("read -r line; " + std::string(leave_a_child) + " kill -SEGV $$");
  EXPECT_EQ(record.status, Status::crash) << record.reason;
  EXPECT_NE(record.reason.find("signal 11"), std::string::npos) << record.reason;
  EXPECT_TRUE(is_gone);
}

TEST(Supervisor, AnAnswerBeforeTheEndCountsWhateverChildrenHoldThePipes) {
  const auto [record, is_gone] =
      run_with_child("read -r line; " + std::string(leave_a_child) + " answer; exit 0");
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_TRUE(is_gone);
}

TEST(Supervisor, AWorkerThatIsDismissedTakesItsChildrenAlong) {
  const auto [record, is_gone] = run_with_child(leave_a_child + std::string(answer_all));
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_TRUE(is_gone);
}

TEST(Supervisor, GarbageIsAnErrorAndNeverAPass) {
  const auto records = run("while read -r line; do echo nonsense; done", 2);
  ASSERT_EQ(records.size(), 2U);
  for (const Record& record : records) EXPECT_EQ(record.status, Status::error);
}

TEST(Supervisor, TheAnswerToAnotherQuestionIsNoAnswer) {
  const auto records = run("while read -r line; do printf '%s\\n' \"$PASS1\"; done", 2);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].status, Status::pass);
  EXPECT_EQ(records[1].status, Status::error);
  EXPECT_NE(records[1].reason.find("n=1"), std::string::npos) << records[1].reason;
}

TEST(Supervisor, APassThatJudgedTooLittleIsNoPass) {
  WorkerCommand command = shell(answer_all);
  Result result;
  result.record.case_id = "tensor_ops/add/f32/n=1";
  result.record.device = "cpu";
  result.record.status = Status::pass;
  for (const int elements : {0, 1, 3}) {
    result.record.elements = elements;
    command.environment[1].second = protocol::encode(result);
    Collect collect;
    std::vector<Sink*> sinks{&collect};
    RunInfo info;
    Supervisor supervisor({.worker = command, .backends = test_backends()}, info, sinks);
    supervisor.execute(trials(1));
    EXPECT_EQ(collect.records.at(0).status, Status::error) << elements;
  }
}

TEST(Supervisor, AWorkerThatDiesWhileIdleCostsNoTrial) {
  std::signal(SIGPIPE, SIG_IGN);
  // Each worker answers once and leaves. The pauses let it be gone before the next trial is sent.
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor({.worker = shell("read -r line; answer"),
                         .backends = test_backends(),
                         .interrupted =
                             [] {
                               usleep(100000);
                               return false;
                             }},
                        info, sinks);
  EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::completed);
  ASSERT_EQ(collect.records.size(), 3U);
  for (const Record& record : collect.records)
    EXPECT_EQ(record.status, Status::pass) << record.reason;
}

TEST(Supervisor, MuchOnStandardErrorDoesNotBlockTheWorker) {
  const auto records =
      run("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; " + std::string(answer_all), 1);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::pass) << records[0].reason;
}

TEST(Supervisor, APlannedSkipNeedsNoWorker) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  auto plan = trials(1);
  plan[0].skip_reason = "too few devices";
  Supervisor supervisor({.worker = {{"/nowhere/assay"}, {}}, .backends = test_backends()}, info,
                        sinks);
  EXPECT_EQ(supervisor.execute(plan), PlanEnd::completed);
  ASSERT_EQ(collect.records.size(), 1U);
  EXPECT_EQ(collect.records[0].status, Status::skip);
  EXPECT_EQ(collect.records[0].skip_category, SkipCategory::too_few_devices);
  EXPECT_EQ(collect.records[0].caught_by, std::nullopt);
}

TEST(Supervisor, AWorkerThatCannotStartIsAnErrorRow) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor({.worker = {{"/nowhere/assay"}, {}}, .backends = test_backends()}, info,
                        sinks);
  EXPECT_EQ(supervisor.execute(trials(2)), PlanEnd::completed);
  ASSERT_EQ(collect.records.size(), 2U);
  EXPECT_EQ(collect.records[0].status, Status::error);
  EXPECT_NE(collect.records[0].reason.find("/nowhere/assay"), std::string::npos);
}

TEST(Supervisor, AWorkerOfAnotherBuildIsRefused) {
  protocol::Hello stale;
  stale.build_id = "yesterday's";
  WorkerCommand command = shell(answer_all);
  command.environment[0].second = protocol::encode(stale);
  try {
    probe(command);
    FAIL() << "it was taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("yesterday's"), std::string::npos) << error.what();
  }
}

/// Answers trials with times that were disturbed unless the worker saw this case before.
WorkerCommand quieter_later() {
  WorkerCommand worker = shell(R"(while read -r line; do n=${line##*n=}; n=${n%%[!0-9]*}
    eval "seen=\$seen_$n; seen_$n=yes"
    if test -n "$seen"; then eval "printf '%s\n' \"\$QUIET$n\""
    else eval "printf '%s\n' \"\$NOISY$n\""; fi; done)");
  for (const int n : {1, 2, 3}) {
    Result result = std::get<Result>(protocol::decode_from_worker(pass_line(n)));
    Record& record = result.record;
    record.time_median_s = 1;
    record.time_ci_low_s = 1 - 0.01 * n;
    record.time_ci_high_s = 1;
    record.contended = n != 1;
    worker.environment.emplace_back("NOISY" + std::to_string(n), protocol::encode(result));
    record.time_median_s = 0.5;
    record.contended = false;
    worker.environment.emplace_back("QUIET" + std::to_string(n), protocol::encode(result));
  }
  return worker;
}

Collect run_with_second_takes(double share) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor(
      {.worker = quieter_later(), .backends = test_backends(), .second_takes_share = share}, info,
      sinks);
  EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::completed);
  EXPECT_EQ(supervisor.phases().input, share > 1 ? 1 + 2 * (2 + 3) : 1 + 2 + 3);
  return collect;
}

TEST(Supervisor, TakesDisturbedTrialsAgainAtTheEndWidestIntervalFirst) {
  const auto [records, held] = run_with_second_takes(1e6);
  EXPECT_EQ(held, std::vector<std::string>({"tensor_ops/add/f32/n=2", "tensor_ops/add/f32/n=3"}));
  ASSERT_EQ(records.size(), 3U) << "one row each";
  EXPECT_EQ(records[0].case_id, "tensor_ops/add/f32/n=1");
  EXPECT_EQ(records[0].second_take, false);
  EXPECT_EQ(records[1].case_id, "tensor_ops/add/f32/n=3");
  EXPECT_EQ(records[2].case_id, "tensor_ops/add/f32/n=2");
  for (const int second : {1, 2}) {
    EXPECT_EQ(records[second].second_take, true);
    EXPECT_EQ(records[second].contended, false);
    EXPECT_EQ(records[second].time_median_s, 0.5);
  }
}

TEST(Supervisor, KeepsDisturbedTimesThatItHasNoTimeToTakeAgain) {
  const auto records = run_with_second_takes(1e-9).records;
  ASSERT_EQ(records.size(), 3U);
  for (const Record& record : records) {
    EXPECT_EQ(record.second_take, false);
    EXPECT_EQ(record.time_median_s, 1.0);
  }
}

TEST(Supervisor, EndsSecondTakesOnAMachineThatIsNoQuieter) {
  WorkerCommand worker = quieter_later();
  std::erase_if(worker.environment,
                [](const auto& variable) { return variable.first.starts_with("QUIET"); });
  for (const auto& [name, value] : std::vector(worker.environment)) {
    if (name.starts_with("NOISY")) worker.environment.emplace_back("QUIET" + name.substr(5), value);
  }
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor({.worker = worker, .backends = test_backends(), .second_takes_share = 1e6},
                        info, sinks);
  std::vector<PlannedTrial> plan;
  for (std::int64_t repeat = 1; repeat <= 3; ++repeat) {
    for (PlannedTrial& trial : trials(3)) {
      trial.repeat = repeat;
      plan.push_back(std::move(trial));
    }
  }
  EXPECT_EQ(supervisor.execute(plan), PlanEnd::completed);
  ASSERT_EQ(collect.records.size(), 9U);
  EXPECT_EQ(std::ranges::count(collect.records, std::optional<bool>(true), &Record::second_take), 4)
      << "of six disturbed ones";
}

TEST(Supervisor, ASecondTakeThatFailsIsTheResult) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  WorkerCommand worker = quieter_later();
  Result wrong = std::get<Result>(protocol::decode_from_worker(pass_line(2)));
  wrong.record.status = Status::fail;
  worker.environment.emplace_back("QUIET2", protocol::encode(wrong));
  Supervisor supervisor({.worker = worker, .backends = test_backends(), .second_takes_share = 1e6},
                        info, sinks);
  EXPECT_EQ(supervisor.execute(trials(2)), PlanEnd::completed);
  ASSERT_EQ(collect.records.size(), 2U);
  EXPECT_EQ(collect.records[1].status, Status::fail);
}

TEST(Supervisor, DisturbedTimesAreRowsWhenTheRunEndsBeforeTheirSecondTake) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  int begun = 0;
  Supervisor supervisor({.worker = quieter_later(),
                         .backends = test_backends(),
                         .second_takes_share = 1e6,
                         .enough = [&] { return ++begun > 3; }},
                        info, sinks);
  EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::completed) << "nothing is left out";
  ASSERT_EQ(collect.records.size(), 3U);
  for (const Record& record : collect.records) EXPECT_EQ(record.time_median_s, 1.0);
}

TEST(Supervisor, AnInterruptEndsTheRunWithoutARowForTheOpenTrial) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  int asked = 0;
  Supervisor supervisor({.worker = shell("sleep 60"),
                         .backends = test_backends(),
                         .interrupted = [&] { return ++asked > 4; }},
                        info, sinks);
  EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::interrupted);
  EXPECT_TRUE(collect.records.empty());
}

/// A run whose devices all depend on one worker, as the ranks of a job do.
class OneDriver : public testing::Test {
 protected:
  OneDriver() {
    DeviceInfo cpu;
    cpu.device = "cpu";
    info_.devices = {cpu};
  }
  PlanEnd run(SupervisorOptions options, int count) {
    options.backends = {{.kind = "cpu", .single_worker = true}};
    std::vector<Sink*> sinks{&collect_};
    Supervisor supervisor(std::move(options), info_, sinks);
    const PlanEnd end = supervisor.execute(trials(count));
    EXPECT_TRUE(supervisor.drove_job());
    return end;
  }
  Collect collect_;
  RunInfo info_;
};

TEST_F(OneDriver, IsNotReplacedWhenItCrashes) {
  EXPECT_EQ(run({.worker = shell("read -r line; answer; read -r line; kill -SEGV $$")}, 3),
            PlanEnd::completed);
  EXPECT_EQ(collect_.statuses(), (std::vector{Status::pass, Status::crash, Status::device_lost}));
  EXPECT_NE(collect_.records[2].reason.find("the job is over"), std::string::npos);
}

TEST_F(OneDriver, IsNotReplacedWhenItLeavesBetweenTrials) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto slowly = [] {
    usleep(100000);
    return false;
  };
  run({.worker = shell("read -r line; answer; exit 3"), .interrupted = slowly}, 3);
  EXPECT_EQ(collect_.statuses(),
            (std::vector{Status::pass, Status::device_lost, Status::device_lost}));
  EXPECT_NE(collect_.records[1].reason.find("exit code 3"), std::string::npos)
      << collect_.records[1].reason;
}

TEST_F(OneDriver, IsKeptAfterAnErrorThatItTellsOfItself) {
  Result result;
  result.record.case_id = "tensor_ops/add/f32/n=1";
  result.record.device = "cpu";
  result.record.status = Status::error;
  WorkerCommand worker =
      shell("read -r line; printf '%s\\n' \"$ERROR\"; while read -r line; do answer; done");
  worker.environment.emplace_back("ERROR", protocol::encode(result));
  run({.worker = worker}, 3);
  EXPECT_EQ(collect_.statuses(), (std::vector{Status::error, Status::pass, Status::pass}));
}

TEST_F(OneDriver, LeavesARowForEveryTrialWhenItsLauncherEndsIt) {
  int asked = 0;
  EXPECT_EQ(run({.worker = shell("read -r line; answer; sleep 60"),
                 .is_launched = true,
                 .interrupted = [&] { return ++asked > 2 && !collect_.records.empty(); }},
                3),
            PlanEnd::interrupted);
  EXPECT_EQ(collect_.statuses(),
            (std::vector{Status::pass, Status::device_lost, Status::device_lost}));
  EXPECT_EQ(collect_.records[1].reason, "the launcher ended the job");
}

}  // namespace
}  // namespace assay
