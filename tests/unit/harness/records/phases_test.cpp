#include "harness/records/phases.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

double test_now_s = 0;
double test_clock() { return test_now_s; }

class Phases : public testing::Test {
 protected:
  Phases() : clock_(test_clock) { test_now_s = 100; }
  static void pass_s(double seconds) { test_now_s += seconds; }
  PhaseClock clock_;
};

TEST_F(Phases, EachSecondCountsForThePhaseItWasSpentIn) {
  pass_s(64);  // before any phase
  clock_.enter(&PhaseSeconds::input);
  pass_s(1);
  clock_.enter(&PhaseSeconds::sampling);
  pass_s(2);
  clock_.enter(&PhaseSeconds::input);
  pass_s(4);
  clock_.pause();
  pass_s(32);
  clock_.enter(&PhaseSeconds::comparison);
  pass_s(8);
  const PhaseSeconds seconds = clock_.take();
  EXPECT_EQ(seconds.input, 5);
  EXPECT_EQ(seconds.sampling, 2);
  EXPECT_EQ(seconds.comparison, 8);
  EXPECT_EQ(seconds.total(), 15);
}

TEST_F(Phases, AShareIsTakenFromThePhaseThatIsOpen) {
  clock_.enter(&PhaseSeconds::comparison);
  pass_s(8);
  clock_.give(&PhaseSeconds::reference, 0.25);
  pass_s(1);
  const PhaseSeconds seconds = clock_.take();
  EXPECT_EQ(seconds.reference, 2);
  EXPECT_EQ(seconds.comparison, 7);
  EXPECT_EQ(seconds.total(), 9);
}

TEST_F(Phases, WhatWasTakenIsNotCountedAgain) {
  clock_.enter(&PhaseSeconds::setup);
  pass_s(1);
  EXPECT_EQ(clock_.take().setup, 1);
  pass_s(2);  // between two trials
  clock_.give(&PhaseSeconds::reference, 1);
  EXPECT_EQ(clock_.take().total(), 0);
}

TEST_F(Phases, SumsKnowEveryPhase) {
  PhaseSeconds sum, ones;
  int count = 0;
  visit_fields(ones, [&](const char*, double& seconds) {
    seconds = 1;
    ++count;
  });
  sum += ones;
  sum += ones;
  EXPECT_EQ(count, sizeof(PhaseSeconds) / sizeof(double)) << "a phase is missing in all_phases";
  visit_fields(sum, [](const char* name, double& seconds) { EXPECT_EQ(seconds, 2) << name; });
  EXPECT_EQ(sum.total(), 2 * count);
}

}  // namespace
}  // namespace assay
