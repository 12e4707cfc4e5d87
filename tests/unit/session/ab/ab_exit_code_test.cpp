#include "session/ab/ab_exit_code.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

int code(const std::vector<PairedVerdict>& verdicts, bool fail_on_inconclusive,
         bool interrupted = false) {
  ab::Outcome outcome{.interrupted = interrupted};
  for (const PairedVerdict verdict : verdicts) outcome.cases.push_back({.verdict = verdict});
  return exit_code_of(outcome, fail_on_inconclusive);
}

TEST(AbExitCode, OfSeveralTheFirstOfOneFourFiveSixThree) {
  using enum PairedVerdict;
  const std::vector<PairedVerdict> all{inconclusive, skipped, regressed, broken, wrong};
  EXPECT_EQ(code(all, true), 1);
  EXPECT_EQ(code({inconclusive, skipped, regressed, missing}, true), 1);
  EXPECT_EQ(code({inconclusive, skipped, regressed, broken}, true), 4);
  EXPECT_EQ(code({inconclusive, skipped, regressed}, true, true), 4);
  EXPECT_EQ(code({inconclusive, skipped, regressed}, true), 5);
  EXPECT_EQ(code({inconclusive, skipped, added}, true), 6);
  EXPECT_EQ(code({skipped, added}, true), 3);
  EXPECT_EQ(code({}, true), 3);
}

TEST(AbExitCode, OneDecidedCaseIsEnough) {
  using enum PairedVerdict;
  EXPECT_EQ(code({inconclusive, inconclusive, equivalent}, true), 0);
  EXPECT_EQ(code({inconclusive, improved}, true), 0);
}

TEST(AbExitCode, InconclusiveCasesFailOnlyWhereThatIsAskedFor) {
  using enum PairedVerdict;
  EXPECT_EQ(code({inconclusive, inconclusive}, false), 0);
  EXPECT_EQ(code({inconclusive, inconclusive}, true), 6);
  EXPECT_EQ(code({inconclusive, inconclusive}, true, true), 4) << "interrupted";
}

}  // namespace
}  // namespace assay
