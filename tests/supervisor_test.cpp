// Supervision, on workers that are shell scripts: what becomes of a trial when its worker
// misbehaves.
#include "harness/run/supervisor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "assay/version.h"

namespace assay {
namespace {

class Collect final : public Sink {
 public:
  void result(const Result& result) override { records.push_back(result.record); }
  std::vector<Record> records;
};

std::string hello_line() {
  protocol::Hello hello;
  hello.build_id = version::build_id;
  for (const char* device : {"cpu", "sim:0", "sim:1"}) {
    DeviceInfo info;
    info.device = device;
    hello.devices.push_back(info);
  }
  return protocol::encode(hello);
}

std::string pass_line(int n) {
  Result result;
  result.record.case_id = "tensor_ops/add/f32/n=" + std::to_string(n);
  result.record.device = "cpu";
  result.record.elements = 2 * n;  // both passes
  result.record.status = Status::pass;
  return protocol::encode(result);
}

/// A worker that says hello and then does as `script` says; `answer` answers the trial of $line, of
/// n = 1 to 3, rightly.
WorkerCommand shell(const std::string& script) {
  const std::string answer =
      R"(answer() { n=${line##*n=}; n=${n%%[!0-9]*}; eval "printf '%s\n' \"\$PASS$n\""; }; )";
  return {{"/bin/sh", "-c", "printf '%s\n' \"$HELLO\"; " + answer + script},
          {{"HELLO", hello_line()},
           {"PASS1", pass_line(1)},
           {"PASS2", pass_line(2)},
           {"PASS3", pass_line(3)}}};
}

const char* const answer_all = "while read -r line; do answer; done";

std::vector<PlannedTrial> trials(int count) {
  std::vector<PlannedTrial> plan;
  for (int n = 1; n <= count; ++n) {
    plan.push_back({.test = parse_case_id("tensor_ops/add/f32/n=" + std::to_string(n)),
                    .lane = {{"cpu", 0}},
                    .timing = "batch"});
  }
  return plan;
}

std::vector<Record> run(const std::string& script, int count, double timeout_s = 20) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor({.worker = shell(script), .timeout_s = timeout_s}, info, sinks);
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

TEST(Supervisor, ACrashCostsItsTrialAlone) {
  const auto records = run(R"(while read -r line; do case "$line" in
    *n=2*) echo 'the last words' >&2; kill -SEGV $$;;
    *) answer;; esac; done)",
                           3);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].status, Status::pass);
  EXPECT_EQ(records[1].status, Status::crash);
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
  EXPECT_NE(records[0].reason.find("signal 9"), std::string::npos) << records[0].reason;
  EXPECT_EQ(records[1].status, Status::pass);
}

TEST(Supervisor, AWorkerThatLeavesWithoutAnAnswerIsACrash) {
  const auto records = run("read -r line; exit 0", 1);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::crash);
  EXPECT_NE(records[0].reason.find("exit code 0"), std::string::npos) << records[0].reason;
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
    Supervisor supervisor({.worker = command}, info, sinks);
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
  Supervisor supervisor({.worker = {{"/nowhere/assay"}, {}}}, info, sinks);
  EXPECT_EQ(supervisor.execute(plan), PlanEnd::completed);
  ASSERT_EQ(collect.records.size(), 1U);
  EXPECT_EQ(collect.records[0].status, Status::skip);
}

TEST(Supervisor, AWorkerThatCannotStartIsAnErrorRow) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  Supervisor supervisor({.worker = {{"/nowhere/assay"}, {}}}, info, sinks);
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

TEST(Supervisor, AnInterruptEndsTheRunWithoutARowForTheOpenTrial) {
  Collect collect;
  std::vector<Sink*> sinks{&collect};
  RunInfo info;
  int asked = 0;
  Supervisor supervisor({.worker = shell("sleep 60"), .interrupted = [&] { return ++asked > 4; }},
                        info, sinks);
  EXPECT_EQ(supervisor.execute(trials(3)), PlanEnd::interrupted);
  EXPECT_TRUE(collect.records.empty());
}

/// A machine for several lanes: what happens, in the order in which the parent hears of it.
class Lanes : public testing::Test {
 protected:
  /// A worker that answers rightly for whatever device it is asked about; `$dev` is that device.
  /// `script` may say what it does between being asked and answering.
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
    std::vector<Sink*> sinks{&collect_};
    const RunInfo info;
    Supervisor supervisor(std::move(options), info, sinks);
    return supervisor.execute(plan);
  }
  std::vector<Status> statuses() const {
    std::vector<Status> all;
    for (const Record& record : collect_.records) all.push_back(record.status);
    return all;
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
  EXPECT_EQ(statuses(), std::vector<Status>(4, Status::pass));
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
  EXPECT_EQ(statuses(), std::vector<Status>(12, Status::pass));
}

TEST_F(Lanes, WaitingForATurnDoesNotCountAsTime) {
  WorkerCommand command = any_device(R"(echo '{"type":"ready"}'; read -r turn; sleep 0.5;)");
  EXPECT_EQ(
      run({.worker = command, .timeout_s = 1.2, .lanes = 4}, on({"cpu", "sim:0", "sim:1"}, 1)),
      PlanEnd::completed);
  EXPECT_EQ(statuses(), std::vector<Status>(3, Status::pass))
      << "the last waits for a second, and then works for half of one";
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
  Result pass = broken;
  pass.record.status = Status::fail;
  for (const auto& [first, is_kept] : {std::pair(broken, false), std::pair(pass, true)}) {
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
  EXPECT_EQ(statuses(), (std::vector{pass, crash, flaky, crash, crash}));
  std::vector<std::int64_t> attempts;
  for (const Record& record : collect_.records) attempts.push_back(record.attempt);
  EXPECT_EQ(attempts, (std::vector<std::int64_t>{1, 1, 2, 1, 2}));
  std::filesystem::remove(mark);
}

TEST_F(Lanes, FailFastEndsAfterTheFirstThatStaysBad) {
  const WorkerCommand command = any_device(R"(case "$line" in *n=2*) exit 3;; esac;)");
  EXPECT_EQ(run({.worker = command, .fail_fast = true}, trials(3)), PlanEnd::failed_fast);
  EXPECT_EQ(statuses(), (std::vector{Status::pass, Status::crash}));
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
  EXPECT_EQ(statuses(), (std::vector{Status::pass, Status::crash, Status::pass}));
  EXPECT_EQ(collect_.records[1].expected_failure, "known");
}

TEST_F(Lanes, EnoughBeginsNoFurtherTrialAndSaysSo) {
  EXPECT_EQ(run({.worker = any_device(""), .enough = [&] { return !collect_.records.empty(); }},
                trials(3)),
            PlanEnd::enough);
  EXPECT_EQ(collect_.records.size(), 1U);
}

TEST_F(Lanes, ReadyWithoutAnythingToBeTimedIsNoAnswer) {
  auto plan = trials(1);
  plan[0].timing = "";
  run({.worker = any_device(ask_for_turn)}, plan);
  EXPECT_EQ(statuses(), std::vector{Status::error});
}

}  // namespace
}  // namespace assay
