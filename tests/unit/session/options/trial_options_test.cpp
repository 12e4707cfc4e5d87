#include "session/options/trial_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kernels/core/status.h"

namespace assay {
namespace {

using Words = std::vector<std::string>;

/// Returns options with no field at its default.
TrialOptions all_set() {
  TrialOptions options;
  options.threads = 2;
  options.sim_devices = 3;
  options.sim_faults = {"low_bit,op=add", "hang"};
  options.strict = true;
  options.batch_invariant = true;
  options.soak = 4;
  options.checks = Checks(Check::soak);
  options.seed = 18446744073709551615ULL;
  return options;
}

TEST(TrialOptions, ReachAWorkerAsTheyWereGiven) {
  CLI::App worker;
  TrialOptions parsed;
  add_worker_options(worker, parsed);
  Words words = worker_words(all_set());
  std::ranges::reverse(words);  // as CLI11 takes them
  worker.parse(words);
  EXPECT_EQ(parsed.threads, 0) << "told by the environment";
  EXPECT_EQ(parsed.sim_devices, 3);
  EXPECT_EQ(parsed.sim_faults, all_set().sim_faults);
  EXPECT_TRUE(parsed.strict);
  EXPECT_EQ(parsed.soak, 4);
  EXPECT_TRUE(parsed.batch_invariant);
  EXPECT_EQ(parsed.checks.off(), Check::soak);
  EXPECT_EQ(parsed.seed, all_set().seed);
}

TEST(TrialOptions, OfAReplayAreThoseThatTheRecordNeeds) {
  EXPECT_EQ(replay_words(all_set(), false),
            (Words{"--threads", "2", "--strict", "--batch-invariant", "--soak", "4"}));
  EXPECT_EQ(replay_words(all_set(), true),
            (Words{"--threads", "2", "--sim-devices", "3", "--sim-fault", "low_bit,op=add",
                   "--sim-fault", "hang", "--strict", "--batch-invariant", "--soak", "4"}));
}

TEST(TrialOptions, DefaultsNeedNoWords) {
  EXPECT_TRUE(worker_words({}).empty());
  EXPECT_TRUE(replay_words({}, true).empty());
}

TEST(TrialOptions, NameTheChecksThatCanBeSwitchedOff) {
  CLI::App worker;
  TrialOptions parsed;
  add_worker_options(worker, parsed);
  EXPECT_THROW(worker.parse(Words{"sok", "--without-check"}), UsageError);
}

}  // namespace
}  // namespace assay
