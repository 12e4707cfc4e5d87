// A comparison of two builds whose workers are shell scripts.
#include "harness/ab/comparison.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "kernels/core/status.h"
#include "tests/unit/shell_worker.h"

namespace assay::ab {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

/// Answers a trial after its turn with a median time of TIME seconds.
std::string timed_pass(int n) {
  protocol::FromWorker message = protocol::decode_from_worker(pass_line(n));
  Result result = std::get<Result>(message);
  result.record.time_median_s = 1234.5;
  result.record.samples = 5;
  std::string line = protocol::encode(result);
  return line.replace(line.find("1234.5"), 6, "TIME");
}

class AbComparison : public testing::Test {
 protected:
  AbComparison() {
    std::signal(SIGPIPE, SIG_IGN);  // every program that drives workers must
    fs::create_directories(folder_);
    // Confirms with 10 rounds, not 40: so many fresh processes would take seconds.
    options_.rule.confirm_rounds = 10;
    options_.commands = {worker("base"), worker("cand")};
    options_.round = [this](const PairedRound& round) { rounds_.push_back(round); };
  }
  ~AbComparison() override { fs::remove_all(folder_); }

  /// Logs its start, runs `before` on a trial, waits for its turn, runs `timed` and answers with
  /// `time_s`, every other time with slightly more, as clocks do.
  WorkerCommand worker(const std::string& side, const std::string& time_s = "0.100",
                       const std::string& before = "", const std::string& timed = "") const {
    const std::string script =
        "echo start >> $DIR/$SIDE.log; echo $$ > $DIR/$SIDE.pid; k=$$; "
        "while read -r line; do n=${line##*n=}; n=${n%%[!0-9]*}; " +
        before + R"( echo '{"type":"ready"}'; read -r turn; k=$((k + 1)); )" + timed +
        R"( eval "pass=\$TIMED$n"; echo "$pass" | sed "s/TIME/)" + time_s +
        R"($((k % 2))$n/"; done)";
    WorkerCommand command = shell(script);
    command.environment.insert(command.environment.end(), {{"DIR", folder_.string()},
                                                           {"SIDE", side},
                                                           {"TIMED1", timed_pass(1)},
                                                           {"TIMED2", timed_pass(2)},
                                                           {"TIMED3", timed_pass(3)}});
    return command;
  }
  std::vector<std::string> log(const std::string& name) const {
    std::vector<std::string> lines;
    std::ifstream file(folder_ / (name + ".log"));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  Outcome compare(int count = 1) {
    const auto plan = trials(count);
    return ab::compare(plan, options_);
  }
  PairedVerdict verdict_of_one() { return compare().cases.at(0).verdict; }

  fs::path folder_ = fs::temp_directory_path() / ("assay-ab-" + std::to_string(getpid()));
  Options options_;
  std::vector<PairedRound> rounds_;
};

TEST_F(AbComparison, EqualBuildsAreEquivalent) {
  const Outcome outcome = compare(2);
  ASSERT_EQ(outcome.cases.size(), 2U);
  for (const PairedCase& one : outcome.cases) {
    EXPECT_EQ(one.verdict, PairedVerdict::equivalent);
    EXPECT_NEAR(*one.ratio, 1, 0.02);
    EXPECT_NEAR(*one.base_median_s, 0.1, 0.01);
  }
  EXPECT_EQ(rounds_.size(), 20U);
}

TEST_F(AbComparison, ASlowerCandidateIsConfirmedByFreshRounds) {
  options_.commands.cand = worker("cand", "0.120");
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.cases.at(0).verdict, PairedVerdict::regressed);
  EXPECT_NEAR(*outcome.cases[0].ratio, 1.2, 0.03);
  EXPECT_EQ(rounds_.size(), 20U);
  EXPECT_EQ(rounds_.back().stage, confirm_stage);
  EXPECT_EQ(outcome.cases[0].rounds, 10) << "those of the screening count no more";
}

TEST_F(AbComparison, AFasterCandidateIsImproved) {
  options_.commands.base = worker("base", "0.120");
  EXPECT_EQ(verdict_of_one(), PairedVerdict::improved);
  EXPECT_EQ(rounds_.size(), 10U);
}

TEST_F(AbComparison, EachRoundStartsBothAfresh) {
  compare(3);
  EXPECT_EQ(log("base").size(), 10U);
  EXPECT_EQ(log("cand").size(), 10U);
}

TEST_F(AbComparison, EitherSideIsTimedFirstEquallyOften) {
  compare(3);
  std::map<std::string, std::map<std::string, int>> first;
  std::set<std::string> of_odd_rounds;
  for (const PairedRound& round : rounds_) {
    ++first[round.case_id][round.first];
    if (round.round % 2 == 1) of_odd_rounds.insert(round.first);
  }
  ASSERT_EQ(first.size(), 3U);
  for (auto& [id, count] : first) EXPECT_EQ(count["base"], count["cand"]) << id;
  EXPECT_EQ(of_odd_rounds.size(), 2U) << "a coin decides";
}

TEST_F(AbComparison, TheSideThatIsNotTimedIsStopped) {
  const auto state_of = [](const char* other) {
    return std::string("read -r _ _ state _ < /proc/$(cat $DIR/") + other +
           ".pid)/stat; echo $state >> $DIR/states.log;";
  };
  options_.commands.base = worker("base", "0.100", "", state_of("cand"));
  options_.commands.cand = worker("cand", "0.100", "", state_of("base"));
  compare();
  const auto states = log("states");
  EXPECT_EQ(states.size(), 20U);
  for (const std::string& state : states) EXPECT_EQ(state, "T");
}

TEST_F(AbComparison, AWrongResultIsWrongAndNotFast) {
  const std::string fail = R"(echo "$PASS1" | sed 's/"pass"/"fail"/'; continue;)";
  options_.commands.cand = worker("cand", "0.010", fail);
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.cases.at(0).verdict, PairedVerdict::wrong);
  EXPECT_FALSE(outcome.cases[0].ratio);
  EXPECT_NE(outcome.cases[0].reason.find("cand: fail"), std::string::npos);
  EXPECT_EQ(rounds_.size(), 1U);  // more rounds would not make it right
}

TEST_F(AbComparison, AWrongBaseIsNoBaseline) {
  const std::string fail = R"(echo "$PASS1" | sed 's/"pass"/"fail"/'; continue;)";
  options_.commands.base = worker("base", "0.010", fail);
  EXPECT_EQ(verdict_of_one(), PairedVerdict::wrong);
}

TEST_F(AbComparison, ACrashIsBroken) {
  options_.commands.base = worker("base", "0.100", "kill -SEGV $$;");
  const Outcome outcome = compare(2);
  EXPECT_EQ(outcome.cases.at(0).verdict, PairedVerdict::broken);
  EXPECT_NE(outcome.cases[0].reason.find("base: crash"), std::string::npos);
  EXPECT_EQ(outcome.cases.at(1).verdict, PairedVerdict::broken);
}

TEST_F(AbComparison, ACrashWhileConfirmingIsBrokenToo) {
  // The eleventh worker is the first of the confirmation.
  options_.commands.cand =
      worker("cand", "0.120", "[ $(wc -l < $DIR/cand.log) -lt 11 ] || kill -SEGV $$;");
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.cases.at(0).verdict, PairedVerdict::broken);
  EXPECT_FALSE(outcome.cases[0].ratio);
  EXPECT_EQ(rounds_.size(), 11U);
}

TEST_F(AbComparison, APassWithoutATimeIsBroken) {
  options_.commands.cand = worker("cand", "0.100", R"(echo "$PASS1"; continue;)");
  EXPECT_EQ(verdict_of_one(), PairedVerdict::broken);
}

TEST_F(AbComparison, WhatOneBuildDoesNotKnowIsMissingOrAdded) {
  const std::string unknown = R"(echo '{"type":"unknown_case","reason":"no such op"}'; continue;)";
  const auto ignorant = [&](const std::string& side) {
    WorkerCommand command = worker(side, "0.100", unknown);
    command.build_id.clear();  // any build
    return command;
  };
  const Both<WorkerCommand> both = options_.commands;
  options_.commands.cand = ignorant("cand");
  EXPECT_EQ(verdict_of_one(), PairedVerdict::missing);
  options_.commands = {ignorant("base"), both.cand};
  EXPECT_EQ(verdict_of_one(), PairedVerdict::added);
  options_.commands.cand = ignorant("cand");
  EXPECT_EQ(verdict_of_one(), PairedVerdict::skipped);
}

/// Answers a trial with a skip of this category if a shell condition holds.
std::string skip(SkipCategory category, const std::string& condition = "true") {
  return "if " + condition + R"(; then echo "$PASS1" | sed 's/"pass"/"skip","skip_category":")" +
         std::string(name(category)) + R"("/'; continue; fi;)";
}

TEST_F(AbComparison, OnlyAnOlderBaseMayLackWhatTheCandidateHas) {
  const Both<WorkerCommand> both = options_.commands;
  options_.commands.cand = worker("cand", "0.100", skip(SkipCategory::unsupported));
  EXPECT_EQ(verdict_of_one(), PairedVerdict::missing);
  options_.commands = {worker("base", "0.100", skip(SkipCategory::unsupported)), both.cand};
  EXPECT_EQ(verdict_of_one(), PairedVerdict::broken);
}

TEST_F(AbComparison, WantOfMemoryIsNoLackOfACase) {
  const Both<WorkerCommand> both = options_.commands;
  options_.commands.cand = worker("cand", "0.100", skip(SkipCategory::too_little_memory));
  EXPECT_EQ(verdict_of_one(), PairedVerdict::broken);
  options_.commands = {worker("base", "0.100", skip(SkipCategory::too_little_memory)), both.cand};
  EXPECT_EQ(verdict_of_one(), PairedVerdict::broken);
}

TEST_F(AbComparison, ASkipAfterTimesIsBrokenOnEitherSide) {
  const Both<WorkerCommand> both = options_.commands;
  for (const char* side : {"base", "cand"}) {
    options_.commands = both;
    options_.commands[side == std::string("base") ? Side::base : Side::cand] = worker(
        side, "0.100",
        skip(SkipCategory::not_built, std::string("[ $(wc -l < $DIR/") + side + ".log) -ge 4 ]"));
    rounds_.clear();
    EXPECT_EQ(verdict_of_one(), PairedVerdict::broken) << side;
    EXPECT_GE(rounds_.size(), 2U);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
}

TEST_F(AbComparison, ALaneThatIsGivenUpIsNotAskedAgain) {
  WorkerCommand mute;
  mute.arguments = {"/bin/sh", "-c", "echo start >> $DIR/mute.log"};
  mute.environment = {{"DIR", folder_.string()}};
  options_.commands.cand = mute;
  const Outcome outcome = compare(3);
  for (const PairedCase& one : outcome.cases) EXPECT_EQ(one.verdict, PairedVerdict::broken);
  EXPECT_EQ(log("mute").size(), 2U) << "each start may take a minute";
}

TEST_F(AbComparison, AnotherDeviceInThePlaceOfTheRightOneIsNotMeasured) {
  DeviceInfo cpu;
  cpu.device = "cpu";
  cpu.uuid = "the one that was probed";
  options_.devices = {cpu};
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.cases.at(0).verdict, PairedVerdict::broken);
  EXPECT_NE(outcome.cases[0].reason.find("another device"), std::string::npos);
}

TEST_F(AbComparison, AWorkerThatDiesWhileItIsHeldCostsItsCaseAlone) {
  // The side that is timed first kills the other, which waits then.
  const auto kill = [](const char* other) {
    return std::string("kill -KILL $(cat $DIR/") + other + ".pid) 2>/dev/null;";
  };
  options_.commands.base = worker("base", "0.100", "", kill("cand"));
  options_.commands.cand = worker("cand", "0.100", "", kill("base"));
  const Outcome outcome = compare(2);
  ASSERT_EQ(outcome.cases.size(), 2U);
  EXPECT_EQ(outcome.cases[0].verdict, PairedVerdict::broken);
  EXPECT_NE(outcome.cases[0].reason.find("crash"), std::string::npos);
}

TEST_F(AbComparison, ATimedSideThatHangsIsATimeOutAndTheHeldOneGoesOn) {
  options_.timeout_s = 0.5;
  options_.commands.cand = worker("cand", "0.100", "", "[ $n -ne 1 ] || sleep 60;");
  const Outcome outcome = compare(2);
  EXPECT_EQ(outcome.cases.at(0).verdict, PairedVerdict::broken);
  EXPECT_NE(outcome.cases[0].reason.find("cand: timeout"), std::string::npos);
  EXPECT_EQ(outcome.cases.at(1).verdict, PairedVerdict::equivalent);
}

TEST_F(AbComparison, AWorkerOfThisBuildKnowsAllThatWasPlanned) {
  options_.commands.cand =
      worker("cand", "0.100", R"(echo '{"type":"unknown_case","reason":"x"}'; continue;)");
  EXPECT_EQ(verdict_of_one(), PairedVerdict::broken);
}

TEST_F(AbComparison, AWorkerOfAThirdBuildIsRefused) {
  options_.commands.cand.build_id = "the one that was probed";
  const Outcome outcome = compare();
  EXPECT_EQ(outcome.cases.at(0).verdict, PairedVerdict::broken);
  EXPECT_NE(outcome.cases[0].reason.find("of another build"), std::string::npos);
}

TEST_F(AbComparison, EndsWhenInterrupted) {
  options_.interrupted = [this] { return rounds_.size() >= 3; };
  const Outcome outcome = compare();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(rounds_.size(), 3U);
}

TEST_F(AbComparison, EndsWhenInterruptedWhileAWorkerIsHeld) {
  options_.commands.cand = worker("cand", "0.100", "", "echo turn >> $DIR/turns.log; sleep 60;");
  options_.interrupted = [this] { return !log("turns").empty(); };
  const Outcome outcome = compare();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_TRUE(rounds_.empty());
}

TEST_F(AbComparison, AnInterruptionForgetsNoWrongResult) {
  const std::string fail =
      R"(if [ $n = 1 ]; then echo "$PASS1" | sed 's/"pass"/"fail"/'; continue; fi;)";
  options_.commands.cand = worker("cand", "0.100", fail);
  options_.interrupted = [this] { return rounds_.size() >= 5; };
  const Outcome outcome = compare(2);
  EXPECT_TRUE(outcome.interrupted);
  ASSERT_EQ(outcome.cases.size(), 1U);
  EXPECT_EQ(outcome.cases[0].verdict, PairedVerdict::wrong);
}

TEST_F(AbComparison, OfSeveralValuesOfAVariableAWorkerHasTheLast) {
  options_.commands.cand.environment.insert(options_.commands.cand.environment.begin(),
                                            {"TIMED1", "nonsense"});
  EXPECT_EQ(verdict_of_one(), PairedVerdict::equivalent);
  options_.commands.cand.environment.emplace_back("TIMED1", "nonsense");
  EXPECT_EQ(verdict_of_one(), PairedVerdict::broken);
}

TEST_F(AbComparison, TooFewRoundsAreAnError) {
  options_.rule.screen_rounds = 3;
  EXPECT_THROW(compare(), UsageError);
  EXPECT_TRUE(rounds_.empty());
}

}  // namespace
}  // namespace assay::ab
